"""Documents and runs as a program reads them (docs/http.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from helix.client.answers import Json, read_as
from helix.client.errors import NoHelix
from helix.client.frames import Frame

ENDED = ("done", "failed", "cancelled")
"""Statuses of a run that nothing more comes of."""


@dataclass(frozen=True)
class Document:
    """A document of the library; ``json`` is all that was told of it."""

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
    """What became of an upload; ``run_id`` is None where there is nothing left to do."""

    run_id: int | None
    documents: tuple[Json, ...]

    @property
    def document_ids(self) -> tuple[int, ...]:
        """The documents that the files are, in their order; a duplicate is the one there was."""
        return tuple(int(each["id"]) for each in self.documents)


@dataclass(frozen=True)
class RunFile:
    """How far one file of a run is; ``reason`` says why it failed."""

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
    """How far a run is; ``counts`` are its files by status."""

    id: int
    status: str
    counts: Json = field(default_factory=dict)
    stage: str = ""
    error: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self.status in ENDED


def document_of(told: Json) -> Document:
    """The typed form of a document; its chunks are counted where they are listed."""
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
        NoHelix: it is nothing of the kind.
    """
    return read_as(Upload, told, documents=tuple(told.get("documents", ())))


def change_of(frame: Frame) -> Run | RunFile | None:
    """What an event of GET /v1/runs/{id}/events tells; None where it is of another kind."""
    told = frame.json()
    if not isinstance(told, dict):
        raise NoHelix("the server sent an event of a run that is no object")
    if frame.event == "run":
        return read_as(Run, told)
    if frame.event == "file":
        return read_as(RunFile, told, warnings=tuple(told.get("warnings", ())))
    return None
