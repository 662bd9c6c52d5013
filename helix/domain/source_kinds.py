"""The kinds of source, as the command line, the page and a worker know them.

A kind's code is a module of ``pipelines.sources`` that a worker loads when it opens one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Option:
    """One value that a kind takes beside the address. ``secret``: stored encrypted, never shown."""

    name: str
    title: str
    secret: bool = False
    kind: Literal["text", "number", "switch"] = "text"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source. ``address`` says what its address is, ``example`` has one.

    ``module`` is its module, whole for the wheel; ``extra`` names the extra of what that imports;
    an address of one of ``schemes`` is taken to be of this kind.
    """

    title: str
    module: str
    address: str
    example: str
    options: tuple[Option, ...] = ()
    extra: str | None = None
    schemes: tuple[str, ...] = ()

    @property
    def secrets(self) -> frozenset[str]:
        """The names of those options that are stored encrypted."""
        return frozenset(option.name for option in self.options if option.secret)


SECONDS_BETWEEN = 3600
"""Between two syncs of a source, unless it says otherwise."""
COMMON_OPTIONS = (
    Option("keep_files", "Keep the files' bytes too, to show pages as printed", kind="switch"),
)
"""Options that every kind has."""

KINDS: Mapping[str, Kind] = {
    "folder": Kind(
        "A folder",
        "pipelines.sources.folder",
        "a folder of this machine, or a share that is mounted there",
        "/srv/handbook",
        (
            Option("watch", "Sync as soon as something changes", kind="switch"),
            Option("permissions", "Take who may read a file from its rights", kind="switch"),
        ),
    ),
}
"""In the order in which they are offered."""


def kind_of(address: str) -> str | None:
    """The kind that an address is of, as it looks: a path is a folder; None where none is known."""
    scheme = address.partition(":")[0].lower() if ":" in address else ""
    otherwise = None if "://" in address else "folder"
    return next((name for name, kind in KINDS.items() if scheme in kind.schemes), otherwise)
