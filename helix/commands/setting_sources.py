"""The source of each setting: the environment, ``.env`` or the user's file. Never a value."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from db.url import env_files, parsed_env_file
from helix.settings import HOW

_OURS = "HELIX_"
_NOTHING = "nothing"
_NEAR = 0.9
"""The likeness from which a name without HELIX_ is taken for a slip: RETRIEVAL_TOPK has 0.97."""


@dataclass(frozen=True)
class SettingSource:
    """One place that settings are read from.

    Args:
        place: ``the environment``, or the full path of a file.
        settings: the names that count from here, in the order of docs/settings.md.
        overridden: names that stand here too, and a place that wins over this one has.
        unknown: names that look like settings and are none.
        slips: names that are nearly those of settings without HELIX_.
        unread: the numbers of lines of the file that are no NAME=value.
    """

    place: str
    settings: tuple[str, ...]
    overridden: tuple[str, ...]
    unknown: tuple[str, ...]
    slips: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()

    def summary(self) -> str:
        """One line for people."""
        parts = [", ".join(self.settings) or _NOTHING]
        parts += [f"{name} is overridden" for name in self.overridden]
        parts += [f"{name} is no setting{_similar(name)}" for name in (*self.unknown, *self.slips)]
        parts += [f"line {line} is no NAME=value and is left out" for line in self.unread]
        return "; ".join(parts)


def setting_sources() -> list[SettingSource]:
    """The places that have settings, the one that wins over all others first.

    Raises:
        DatabaseError: a file cannot be read.
    """
    places: list[tuple[str, Mapping[str, str], list[int]]] = [("the environment", os.environ, [])]
    places += [(str(file.absolute()), *parsed_env_file(file)) for file in reversed(env_files())]
    sources: list[SettingSource] = []
    seen_settings: set[str] = set()
    for place, variables, unread in places:
        names = {name.upper() for name, value in variables.items() if value}
        settings = [name for name in HOW if name in names]
        sources.append(
            SettingSource(
                place,
                settings=tuple(name for name in settings if name not in seen_settings),
                overridden=tuple(name for name in settings if name in seen_settings),
                unknown=tuple(sorted(n for n in names if n.startswith(_OURS) and n not in HOW)),
                slips=tuple(sorted(filter(_is_slip, names))),
                unread=tuple(unread),
            )
        )
        seen_settings.update(settings)
    return [source for source in sources if source.summary() != _NOTHING]


def missing_files() -> list[Path]:
    """The files that would be read, and are not there."""
    return [file.absolute() for file in reversed(env_files()) if not file.is_file()]


def _is_slip(name: str) -> bool:
    bare = [setting for setting in HOW if not setting.startswith(_OURS)]
    if name in HOW or name.startswith(_OURS):
        return False
    return bool(difflib.get_close_matches(name, bare, n=1, cutoff=_NEAR))


def _similar(name: str) -> str:
    """The setting that may be meant; HELIX_, which most have, makes none alike."""
    settings = {setting.removeprefix(_OURS): setting for setting in HOW}
    close = difflib.get_close_matches(name.removeprefix(_OURS), settings, n=1, cutoff=0.75)
    return f" (is it {settings[close[0]]}?)" if close else ""
