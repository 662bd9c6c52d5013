"""One new or changed entry of a source: its bytes had, and what they are told apart by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from helix.library.source_entries import KnownEntry, PutEntry, uri_of
from pipelines.runs.planned_files import FileLimits, PlannedFile, planned
from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.retries import with_retries
from pipelines.sources.selection import name_of

_CLOCK = timedelta(seconds=2)
"""A time younger than this says nothing: a second write may have the same."""


class SourceAway(SourceError):
    """The source itself does not answer any more: the rest is not tried."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of an entry. ``put``: it is written so; ``file``: it is one of the run's.

    ``moved_from`` is the entry whose document it is, under another name.
    """

    entry: Entry
    put: PutEntry | None = None
    file: PlannedFile | None = None
    moved_from: KnownEntry | None = None


class EntryReader:
    """Reads entries of a source. ``gone`` are those that a new one may be, by another name.

    ``unlisted`` are those that a listing that is not whole leaves out: what has their bytes may be
    one of them too, and waits for the next sync. With ``again`` what failed, or was deleted here,
    is read as what is new.
    """

    def __init__(
        self,
        source_id: int,
        connector: Connector,
        limits: FileLimits,
        known: Mapping[str, KnownEntry],
        gone: Mapping[str, KnownEntry],
        unlisted: Mapping[str, KnownEntry],
        *,
        again: bool = False,
    ) -> None:
        self._source_id = source_id
        self._connector = connector
        self._limits = limits
        self._known = known
        self._again = again
        self._deleted = {entry.content_hash for entry in gone.values() if was_deleted(entry)}
        self._by_hash: dict[str, list[KnownEntry]] = {}
        for entry in gone.values():
            if entry.document_id is not None and entry.content_hash:
                self._by_hash.setdefault(entry.content_hash, []).append(entry)
        self._unlisted = {
            entry.content_hash
            for entry in unlisted.values()
            if entry.document_id is not None or was_deleted(entry)
        }

    def read(self, entry: Entry) -> Outcome:
        """Have the bytes of an entry, and tell what they are.

        Raises:
            SourceAway: the source does not answer any more.
        """
        if entry.size is not None and (too_large := self._limits.problem_of(entry.size)):
            return self._failed(entry, too_large, settled=True)
        try:
            data = with_retries(lambda: self._connector.read(entry))
        except EntryGone:
            return Outcome(entry)
        except SourceError as error:
            return self._unread(entry, error)
        if too_large := self._limits.problem_of(len(data)):
            return self._failed(entry, too_large, settled=True)
        return self._told(entry, data, hashlib.sha256(data).hexdigest())

    def _told(self, entry: Entry, data: bytes, digest: str) -> Outcome:
        before = self._known.get(entry.key)
        if before is not None and self._is_settled(before, digest):
            reason = "" if before.is_current else before.reason  # it may be as it was once more
            return Outcome(entry, put=put_of(entry, digest, reason=reason))
        if before is None or before.document_id is None:
            if digest in self._unlisted:
                return Outcome(entry)
            if moved_from := self._moved_from(entry, digest):
                return Outcome(entry, put=put_of(entry, digest), moved_from=moved_from)
            if digest in self._deleted and not self._again:
                return Outcome(entry, put=put_of(entry, digest))
        file = planned(uri_of(self._source_id, entry.key), data, name_of(entry), None)
        if file.reason:
            return self._failed(entry, file.reason, settled=True, digest=digest)
        return Outcome(entry, put=put_of(entry, digest, coming=True), file=file)

    def _is_settled(self, before: KnownEntry, digest: str) -> bool:
        """True where the same bytes were dealt with: stored, not to be read, or deleted here."""
        if before.coming or before.content_hash != digest:
            return False
        if before.reason or before.document_id is None:
            return not self._again and (before.tried or not before.reason)
        return before.is_current

    def _moved_from(self, entry: Entry, digest: str) -> KnownEntry | None:
        """The entry that is gone and had these bytes: of several, one of this name."""
        candidates = self._by_hash.get(digest)
        if not candidates:
            return None
        name = entry.key.rpartition("/")[2]
        chosen = next((c for c in candidates if c.key.rpartition("/")[2] == name), candidates[0])
        candidates.remove(chosen)
        return chosen

    def _unread(self, entry: Entry, error: SourceError) -> Outcome:
        """The entry alone failed, or is gone; raises SourceAway where it is the source."""
        try:
            is_there = self._connector.is_there(entry.key)
        except SourceError as away:
            raise SourceAway(str(away)) from None
        return self._failed(entry, str(error), settled=False) if is_there else Outcome(entry)

    def _failed(self, entry: Entry, reason: str, *, settled: bool, digest: str = "") -> Outcome:
        """A failure; one that is ``settled`` is not tried again for a day, unless it changes."""
        before = self._known.get(entry.key)
        digest = digest or (before.content_hash if before else "")
        put = put_of(entry, digest, reason=reason, seen=settled)
        return Outcome(
            entry, put=put, file=PlannedFile(uri_of(self._source_id, entry.key), reason=reason)
        )


def waiting(entry: Entry, before: KnownEntry | None, reason: str) -> Outcome:
    """The outcome of an entry that there is no room for: the next sync tries it again."""
    digest, coming = (before.content_hash, before.coming) if before else ("", False)
    told = put_of(entry, digest, reason=f"waits for room: {reason}", seen=False)
    return Outcome(entry, put=replace(told, coming=coming))


def was_deleted(entry: KnownEntry) -> bool:
    """True where the document was deleted here: it stays away, by whichever name its file has."""
    settled = bool(entry.content_hash) and not entry.coming
    return settled and entry.document_id is None and not entry.reason


def put_of(
    entry: Entry, digest: str, *, coming: bool = False, reason: str = "", seen: bool = True
) -> PutEntry:
    """The entry as it is written; not ``seen``: the next sync tries it again."""
    is_settled = entry.modified is None or entry.modified < datetime.now(UTC) - _CLOCK
    return PutEntry(
        entry.key,
        size=entry.size if seen else None,
        modified=entry.modified if seen and is_settled else None,
        etag=entry.etag if seen else "",
        content_hash=digest,
        url=entry.url,
        readers=entry.readers,
        coming=coming,
        reason=reason,
    )
