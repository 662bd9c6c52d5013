"""Every regular expression of the code takes time in proportion to its text, whatever that is."""

from __future__ import annotations

import pkgutil

import pytest

import helix
from tests.support.fillers import processor_seconds
from tests.support.patterns import Attack, Used, attacks, run, used_patterns, ways

ROOMS = sorted(f"helix.{room.name}" for room in pkgutil.iter_modules(helix.__path__) if room.ispkg)
_SHORTER, _LONGER = 4_000, 40_000  # characters
_SHORT = {"pipelines.readers.table_heads._NUMBER": 40}
"""Patterns whose callers give them at most so many characters."""
_TENFOLD = 30.0
"""Most that the work may grow by; 100 is quadratic."""
_FLOOR = 0.0005  # seconds: work that grows faster takes milliseconds on the shorter text
_MOST = 4  # attacks beside the fillers


def _takes_too_long(used: Used, method: str, attack: Attack) -> bool:
    """True where the work grows faster than the text, three times out of three."""
    shorter = attack.text(_SHORTER)

    def grows() -> bool:
        took = processor_seconds(run, used.pattern, method, shorter)
        if took <= _FLOOR:
            return False
        longer = attack.text(_LONGER)
        return processor_seconds(run, used.pattern, method, longer) > _TENFOLD * took

    return grows() and grows() and grows()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("root", [*ROOMS, "pipelines", "db"])
def test_patterns_are_linear(root: str) -> None:
    slow = [
        f"{used.place}.{method}: {attack.before[:40]!r} {attack.unit[:20]!r} {attack.after!r}"
        for used in used_patterns(root)
        if used.place not in _SHORT
        for method in ways(used)
        for attack in attacks(used.pattern, _MOST)
        if _takes_too_long(used, method, attack)
    ]
    assert not slow, "\n".join(slow)


def test_every_pattern_is_found() -> None:
    found = [used for root in (*ROOMS, "pipelines", "db") for used in used_patterns(root)]
    assert len(found) > 500
    places = {used.place for used in found}
    assert {"helix.domain.history._POSING", "helix.language.words._WORD"} <= places
