"""A source as a sync sees it: a listing of entries, the bytes of one, and whether one is there.

Each kind is a module of this package with ``open_source``, named in helix/domain/source_kinds.py:

    def open_source(
        address: str, options: Mapping[str, Any], secrets: dict[str, str]
    ) -> Connector: ...

It raises SourceError where the source cannot be opened, and puts into ``secrets`` what it is to be
given next time, such as a token that it was lent. All of it is blocking code, called in a
thread, by one sync at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar, runtime_checkable

from helix.errors import HelixError

MOST_ENTRIES = 500_000
"""Entries of one listing: they are in memory, and a server may list without an end."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file at a source, as its listing tells it.

    ``key`` is its stable name within the source: a relative path, the id of a message or page.
    ``etag`` changes whenever the bytes do: of an object store, a commit, an IMAP UID. Where it is
    empty, ``size`` and ``modified`` are compared; where all three are missing, the bytes are read
    by every sync. ``name`` is the file name shown, whose suffix chooses the reader; empty: the last
    part of the key. ``url`` is where a person opens it. ``metadata`` is what the source says of it
    (labels, mail headers), by keys of helix/domain/metadata.py. ``readers`` names the groups and
    persons of the source that may read it; None where the source does not tell.
    """

    key: str
    size: int | None = None
    modified: datetime | None = None
    etag: str = ""
    name: str = ""
    url: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    readers: tuple[str, ...] | None = None


class SourceError(HelixError):
    """The source, or one entry of it, cannot be read now: a line for people, without a secret."""

    status = 502


class SourceBusy(SourceError):
    """The source asks to be asked later: after ``seconds``, where it says so."""

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class EntryGone(SourceError):
    """The entry is not there any more, though the listing had it."""


class Connector(Protocol):
    """One opened source."""

    def entries(self) -> Iterator[Entry]:
        """Every entry, each key once, in any order.

        What cannot be listed whole still yields what it can, and raises SourceError then: what was
        yielded is synced, and nothing is moved or removed.
        """
        ...

    def read(self, entry: Entry) -> bytes:
        """The bytes of an entry; raises EntryGone where it went meanwhile, else SourceError."""
        ...

    def is_there(self, key: str) -> bool:
        """False where the source itself says that there is no such entry any more.

        Asked before a document is removed, of each that the listing does not have. Raises
        SourceError where the source does not tell.
        """
        ...

    def close(self) -> None:
        """Let go of connections and temporary files."""
        ...


class Known(Protocol):
    """An entry as a former sync wrote it."""

    @property
    def key(self) -> str:
        """Its name within the source."""

    @property
    def size(self) -> int | None:
        """The bytes that it had."""

    @property
    def modified(self) -> datetime | None:
        """Its time then."""

    @property
    def etag(self) -> str:
        """Its etag as its connector gave it; empty where its bytes could not be had."""


@runtime_checkable
class Recalling(Protocol):
    """A connector that asks for what changed alone: its notes of an entry are in ``etag``."""

    def recall(self, known: Mapping[str, Known]) -> None:
        """Take what is known of the source, before ``entries`` is asked for."""
        ...


def bounded(listed: Iterable[Item]) -> Iterator[Item]:
    """Each of ``listed``; raises SourceError where there are more than MOST_ENTRIES."""
    for number, each in enumerate(listed):
        if number >= MOST_ENTRIES:
            raise SourceError(
                f"it lists more than {MOST_ENTRIES:,} entries: make it several sources"
            )
        yield each
