"""Entries as a sync knows them once it has written what a connector listed."""

from __future__ import annotations

from collections.abc import Iterable

from pipelines.sources.base import Connector, Entry, Known, Recalling


def known_of(entries: Iterable[Entry]) -> dict[str, Known]:
    """The entries by key, as they are given to ``recall``."""
    return {entry.key: entry for entry in entries}


def synced(source: Connector, before: Iterable[Entry] = ()) -> dict[str, Entry]:
    """The listing of ``source``, which is told of ``before``; each key comes once."""
    if isinstance(source, Recalling):
        source.recall(known_of(before))
    listed = list(source.entries())
    found = {entry.key: entry for entry in listed}
    assert len(found) == len(listed)
    return found


def unchanged(entry: Entry, before: Entry) -> bool:
    """True where a sync would not read the entry again."""
    return (entry.etag, entry.size, entry.modified) == (before.etag, before.size, before.modified)
