"""Documents and runs with types (docs/http.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from helix.client.answers import Json, read_as
from helix.client.errors import NoHelix
from helix.client.frames import Frame

ENDED = ("done", "failed", "cancelled")
"""The statuses of a run that has ended."""


@dataclass(frozen=True)
class Document:
    """A document of the library; ``json`` is the server's whole JSON of it."""

    id: int
    title: str
    source_uri: str
    status: str
    chunks: int | None = None
    tags: tuple[str, ...] = ()
    text: str | None = None
    json: Json = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Upload:
    """The result of an upload; ``run_id`` is None where no file has to be read."""

    run_id: int | None
    documents: tuple[Json, ...]

    @property
    def document_ids(self) -> tuple[int, ...]:
        """The document of each file, in order; for a duplicate the one that was stored before."""
        return tuple(int(each["id"]) for each in self.documents)


@dataclass(frozen=True)
class RunFile:
    """The state of one file of a run; ``reason`` is that of its failure."""

    source_uri: str
    status: str
    n: int = 0
    document_id: int | None = None
    stage: str = ""
    done: int = 0
    total: int = 0
    chunks: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """The state of a run; ``counts`` are its numbers of files by status."""

    id: int
    status: str
    counts: Json = field(default_factory=dict)
    stage: str = ""
    error: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended."""
        return self.status in ENDED


def document_of(told: Json) -> Document:
    """The typed form of a document's JSON."""
    chunks = told.get("chunks")
    return read_as(
        Document,
        told,
        tags=tuple(told.get("tags", ())),
        chunks=len(chunks) if isinstance(chunks, list) else chunks,
        json=told,
    )


def upload_of(told: Json) -> Upload:
    """The typed form of what POST /v1/documents gives.

    Raises:
        NoHelix: the JSON is no result of an upload.
    """
    return read_as(Upload, told, documents=tuple(told.get("documents", ())))


def change_of(frame: Frame) -> Run | RunFile | None:
    """The typed form of an event of GET /v1/runs/{id}/events; None for an event of another kind."""
    told = frame.json()
    if not isinstance(told, dict):
        raise NoHelix("the server sent an event of a run that is no object")
    if frame.event == "run":
        return read_as(Run, told)
    if frame.event == "file":
        return read_as(RunFile, told, warnings=tuple(told.get("warnings", ())))
    return None
