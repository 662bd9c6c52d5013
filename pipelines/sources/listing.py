"""The listing of a source: what of it is taken, and whether it is whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pipelines.files.metadata_sheet import NAME as SHEET_NAME
from pipelines.sources.base import Connector, Entry, SourceBusy, SourceError
from pipelines.sources.comparison import Listing
from pipelines.sources.retries import with_retries
from pipelines.sources.selection import Selection, name_of

_LONGEST_KEY = 1000
Spaces = tuple[int, ...]


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
            for entry in connector.entries():
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
