"""The source of each setting: the environment, ``.env`` or the user's file. Never a value."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from db.env_files import env_files, read_env_file
from helix.settings import HOW

_OURS = "HELIX_"


@dataclass(frozen=True)
class SettingSource:
    """One place that settings are read from.

    Args:
        place: ``the environment``, or the full path of a file.
        settings: the names that count from here, in the order of docs/settings.md.
        overridden: names that stand here too, and a place that wins over this one has.
        unknown: names that look like settings and are none.
    """

    place: str
    settings: tuple[str, ...]
    overridden: tuple[str, ...]
    unknown: tuple[str, ...]

    def summary(self) -> str:
        """One line for people."""
        parts = [", ".join(self.settings) or "nothing"]
        parts += [f"{name} is overridden" for name in self.overridden]
        parts += [f"{name} is no setting{_similar(name)}" for name in self.unknown]
        return "; ".join(parts)


def setting_sources() -> list[SettingSource]:
    """The places that have settings, the one that wins over all others first.

    Raises:
        DatabaseError: a file cannot be read.
    """
    places: list[tuple[str, Mapping[str, str]]] = [("the environment", os.environ)]
    places += [(str(file.absolute()), read_env_file(file)) for file in reversed(env_files())]
    sources: list[SettingSource] = []
    seen_settings: set[str] = set()
    for place, variables in places:
        names = {name.upper() for name, value in variables.items() if value}
        settings = [name for name in HOW if name in names]
        sources.append(
            SettingSource(
                place,
                settings=tuple(name for name in settings if name not in seen_settings),
                overridden=tuple(name for name in settings if name in seen_settings),
                unknown=tuple(sorted(n for n in names if n.startswith(_OURS) and n not in HOW)),
            )
        )
        seen_settings.update(settings)
    return [source for source in sources if source.settings or source.overridden or source.unknown]


def missing_files() -> list[Path]:
    """The files that would be read, and are not there."""
    return [file.absolute() for file in reversed(env_files()) if not file.is_file()]


def _similar(name: str) -> str:
    close = difflib.get_close_matches(name, HOW, n=1)
    return f" (is it {close[0]}?)" if close else ""
