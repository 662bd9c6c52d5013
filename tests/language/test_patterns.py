"""Regular expressions match alike in every Python that Helix runs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{+\d*,?\d*\}+)\+")


@pytest.mark.parametrize("room", ["helix", "pipelines", "db", "evals"])
def test_no_group_is_possessive(room: str) -> None:
    """Python 3.11.0 to 3.11.4 match such a group wrongly: an atomic group says the same."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if 'r"' in line or 'rf"' in line
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert not found


def test_a_possessive_group_is_seen() -> None:
    assert _POSSESSIVE_GROUP.search(r"(?:a|b)*+c") and _POSSESSIVE_GROUP.search(r"(a){3,}+")
    assert not _POSSESSIVE_GROUP.search(r"a++[bc]*+(?>(?:a|b)*)c")
