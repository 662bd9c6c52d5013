"""Documents and runs with types (docs/http.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

from helix.client.answers import Json, dataclass_of
from helix.client.errors import InvalidResponse
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
    metadata: Json = field(default_factory=dict)
    text: str | None = None
    json: Json = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Edited:
    """The number of documents that an edit was of, and of those that are other than before."""

    matched: int
    changed: int


@dataclass(frozen=True)
class SearchResult:
    """A passage that was found; ``start`` and ``end`` are its best sentence in the document.

    ``marks`` are the places in ``snippet`` that were hit, ``score`` is what results are ordered by.
    """

    chunk_id: int
    document_id: int
    title: str
    source_uri: str
    snippet: str
    score: float
    start: int | None = None
    end: int | None = None
    marks: tuple[tuple[int, int], ...] = ()
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    label: str = ""


@dataclass(frozen=True)
class SearchResults:
    """The hits of a search; ``near_enough``: a question would be answered from them.

    ``json`` is the server's whole JSON.
    """

    results: tuple[SearchResult, ...]
    near_enough: bool
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
        """True if the run has ended."""
        return self.status in ENDED


def document_of(payload: Json) -> Document:
    """The typed form of a document's JSON."""
    chunks = payload.get("chunks")
    return dataclass_of(
        Document,
        payload,
        tags=tuple(payload.get("tags", ())),
        metadata=dict(payload.get("metadata", {})),
        chunks=len(chunks) if isinstance(chunks, list) else chunks,
        json=payload,
    )


def page_of(payload: Json) -> tuple[list[Document], str | None]:
    """The typed form of a page of GET /v1/documents, and where the next begins."""
    return [document_of(row) for row in payload["documents"]], payload["next"]


def edited_of(payload: Json) -> Edited:
    """The typed form of what POST /v1/documents/metadata gives."""
    return dataclass_of(Edited, payload)


def search_results_of(payload: Json) -> SearchResults:
    """The typed form of what GET /v1/search gives.

    Raises:
        InvalidResponse: the JSON is no result of a search.
    """
    results = tuple(
        dataclass_of(
            SearchResult,
            each,
            heading_path=tuple(each.get("heading_path", ())),
            marks=tuple((start, end) for start, end in each.get("marks", ())),
        )
        for each in payload.get("results", ())
    )
    return dataclass_of(SearchResults, payload, results=results, json=payload)


def upload_of(payload: Json) -> Upload:
    """The typed form of what POST /v1/documents gives.

    Raises:
        InvalidResponse: the JSON is no result of an upload.
    """
    return dataclass_of(Upload, payload, documents=tuple(payload.get("documents", ())))


def change_of(frame: Frame) -> Run | RunFile | None:
    """The typed form of an event of GET /v1/runs/{id}/events; None for an event of another kind."""
    payload = frame.json()
    try:
        if frame.event == "run":
            return dataclass_of(Run, payload)
        if frame.event == "file":
            return dataclass_of(RunFile, payload, warnings=tuple(payload.get("warnings", ())))
    except (TypeError, AttributeError):
        raise InvalidResponse("the server sent a malformed event of a run") from None
    return None
