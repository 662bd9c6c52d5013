"""The entries of a source that are taken, by their names, globs, size and age, as listed."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from helix.domain.file_kinds import supported_name
from helix.library.sources import Source
from pipelines.files.metadata_sheet import NAME as SHEET_NAME
from pipelines.sources.base import Connector, Entry, SourceBusy, SourceError, bounded
from pipelines.sources.comparison import Listing
from pipelines.sources.retries import with_retries

_LONGEST_KEY = 1000
Spaces = tuple[int, ...]


@dataclass(frozen=True)
class Selection:
    """The choice of a source's owner. ``largest`` is in bytes; ``since``: what is older is left."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    largest: int | None = None
    since: datetime | None = None

    @classmethod
    def of(cls, source: Source) -> Selection:
        """The choice of ``source`` as of now."""
        days = source.max_age_days
        since = datetime.now(UTC) - timedelta(days=days) if days else None
        return cls(source.include, source.exclude, source.max_bytes, since)

    def takes(self, entry: Entry) -> bool:
        """True if the entry is to be a document: of a kind that is read, and chosen.

        A glob without a slash is about the name, whatever the folder; ``**`` stands for folders.
        """
        if not supported_name(name_of(entry)):
            return False
        if self._included and not any(glob.matches(entry.key) for glob in self._included):
            return False
        if any(glob.matches(entry.key) for glob in self._excluded):
            return False
        if self.largest is not None and (entry.size or 0) > self.largest:
            return False
        return self.since is None or entry.modified is None or entry.modified >= self.since

    @cached_property
    def _included(self) -> list[Glob]:
        return [Glob(glob) for glob in self.include]

    @cached_property
    def _excluded(self) -> list[Glob]:
        return [Glob(glob) for glob in self.exclude]


def name_of(entry: Entry) -> str:
    """The file name that an entry is shown by, and its reader chosen."""
    return entry.name or entry.key.rpartition("/")[2]


class Glob:
    """A pattern of keys with stars; ``drafts/`` matches all that is in that folder.

    It goes through a key once for each part of the glob. A pattern of ``re`` tries every way in
    which several stars share a name, and a stranger's glob would keep a worker for years.
    """

    def __init__(self, glob: str) -> None:
        glob = glob.removeprefix("./").removeprefix("/")
        if "/" not in glob.rstrip("/"):
            glob = f"**/{glob}"
        if glob.endswith("/"):
            glob += "**"
        self._parts: list[str] = re.findall(r"\*\*/?|\*|\?|[^*?]+", glob)

    def matches(self, key: str) -> bool:
        """True if the glob matches the whole key."""
        ends = {0}
        for part in self._parts:
            ends = _ends(part, key, ends)
        return len(key) in ends


def _ends(part: str, key: str, starts: set[int]) -> set[int]:
    """The places in ``key`` where ``part`` may end, of the places where it may begin."""
    if part == "?":
        return {at + 1 for at in starts if key[at : at + 1] not in ("", "/")}
    if part not in ("*", "**", "**/"):
        return {at + len(part) for at in starts if key.startswith(part, at)}
    found, in_folder = set(starts), False
    for at in range(min(starts, default=len(key)), len(key)):
        is_slash, begins = key[at] == "/", at in found
        if part == "**" or (in_folder and is_slash) or (part == "*" and begins and not is_slash):
            found.add(at + 1)
        in_folder = part == "**/" and (in_folder or begins) and not is_slash
    return found


class ReaderMap:
    """The spaces of what the readers of a source may read; ``mapped`` by reader, ids of spaces.

    Where nothing is mapped, or the source does not tell, all stands in ``otherwise``.
    """

    def __init__(
        self, mapped: Mapping[str, Sequence[int]], otherwise: Sequence[int], there: Collection[int]
    ) -> None:
        self._mapped = {reader: set(spaces) & {0, *there} for reader, spaces in mapped.items()}
        self._otherwise = tuple(otherwise)

    def spaces_of(self, readers: Sequence[str] | None) -> Spaces:
        """The spaces, in order; empty where nobody who is mapped may read it."""
        if not self._mapped or readers is None:
            return self._otherwise
        found = set[int]().union(*(self._mapped.get(reader, ()) for reader in readers))
        return tuple(sorted(found))


def list_source(connector: Connector, selection: Selection, readers: ReaderMap) -> Listing:
    """The listing of a source that has been opened; a failure is in it, and is not raised."""

    def whole() -> Listing:  # from the beginning, where the source was busy in the midst of it
        listing = Listing()
        try:
            for entry in bounded(connector.entries()):
                _take(listing, entry, selection, readers)
        except SourceBusy:
            raise
        except SourceError as error:
            listing.error = str(error)
        return listing

    try:
        return with_retries(whole)
    except SourceBusy as busy:
        return Listing(error=str(busy))


def _take(listing: Listing, entry: Entry, selection: Selection, readers: ReaderMap) -> None:
    if "\x00" in entry.key or not 0 < len(entry.key) <= _LONGEST_KEY:
        return
    listing.listed.add(entry.key)
    if not selection.takes(entry):
        return
    if not readers.spaces_of(entry.readers):
        listing.barred.add(entry.key)
    elif name_of(entry).lower() == SHEET_NAME:
        listing.sheets[entry.key] = entry
    else:
        listing.taken[entry.key] = entry
