"""The tools of the MCP server, and the types of their results. All of them only read.

``search`` and ``fetch`` have the result types that research connectors expect. Each result is a
passage, whose address opens the page at its exact characters.
"""

from __future__ import annotations

from math import isnan
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, Field

from helix.answering.answer import Answer, CitedBy
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Mode, Question
from helix.domain.citations import place_of, snippet
from helix.domain.conditions import MOST_CONDITIONS, Condition, Operator, conditions_of
from helix.domain.input_text import question_of
from helix.domain.names import company_keys, kind_key
from helix.domain.records import Hit
from helix.domain.scope import Scope, checked_tags
from helix.errors import BadRequest
from helix.library.document_list import DocumentFilter, Page, list_documents
from helix.library.documents import get_chunk, get_document
from helix.protocols.citation_markers import Json, citation_markers
from helix.protocols.mcp_visitor import Visitor, visitor

MOST_CHARS = 100_000
"""The longest part of a document's text that one call returns, in characters."""
_WHOLE = "document:"
_SNIPPET_CHARS = 300
DocumentId = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""An id that the database can have."""
DocumentIds = Annotated[
    list[DocumentId] | None,
    Field(min_length=1, max_length=1000, description="In these documents only"),
]
Tags = Annotated[list[str] | None, Field(description="In documents that have all of these tags")]
_WITHOUT_CONTROLS = r"^[^\x00-\x1f\x7f-\x9f]+$"
Prefix = Annotated[str, Field(max_length=2000, pattern=_WITHOUT_CONTROLS)]
Fact = Annotated[str, Field(max_length=100, pattern=_WITHOUT_CONTROLS)]


class MetadataCondition(BaseModel):
    """A condition on documents' metadata; a document has to fit all that are given."""

    key: Annotated[str, Field(max_length=200)]
    op: Annotated[Operator, Field(description="exists: the value is true or false")] = "="
    value: Annotated[Any, Field(description="A text, number, date as 2026-01-31; of in a list")] = (
        None
    )


Conditions = Annotated[
    list[MetadataCondition] | None,
    Field(max_length=MOST_CONDITIONS, description="In documents whose metadata fits all of these"),
]


def _conditions(given: list[MetadataCondition] | None) -> tuple[Condition, ...]:
    return conditions_of(one.model_dump() for one in given or ())


class SearchResult(BaseModel):
    """A passage: fetch it by its id; its address opens it.

    ``snippet`` is its beginning; ``score`` is 1 for a passage of the query's own meaning, 0 for one
    of another; None where only its words were looked for.
    """

    id: str
    title: str
    url: str
    snippet: str
    score: float | None


class SearchResults(BaseModel):
    """Passages that are about the query, best first; none where nothing is near enough."""

    results: list[SearchResult]


class FetchResult(BaseModel):
    """A passage or a document, and where it lies."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


class CitedSpan(BaseModel):
    """One marker of an answer, or a source found for a statement without one (``by`` helix).

    ``quote`` is ``text[start:end]`` of the document, exactly; ``source_url`` is the page of the web
    that it is.
    """

    n: int
    title: str
    url: str
    document_id: int
    chunk_id: int
    quote: str | None
    start: int | None
    end: int | None
    by: CitedBy
    source_url: str | None


class AnswerResult(BaseModel):
    """An answer from the documents, or the refusal, with the proof of each statement."""

    answer: str
    abstained: bool
    reason: str | None
    clarifying_question: str | None
    citations: list[CitedSpan]
    support: dict[str, Any]
    model: dict[str, Any] | None
    answer_id: str


class ListedDocument(BaseModel):
    """A document; ``id`` is what ask, read_passage and fetch (as document:ID) take."""

    id: int
    title: str
    url: str
    source_uri: str
    pages: int | None
    tags: list[str]
    metadata: dict[str, Any]
    updated_at: str


class Documents(BaseModel):
    """A page of the documents; ``next`` is passed on as ``after``."""

    documents: list[ListedDocument]
    total: int
    next: str | None


class Passage(BaseModel):
    """Characters ``start`` to ``end`` of a document, of which there are ``of`` in all."""

    document_id: int
    title: str
    url: str
    text: str
    start: int
    end: int
    of: int


async def search(
    query: Annotated[str, Field(description="What to look for, in plain words")],
    limit: Annotated[int | None, Field(ge=1, le=50, description="Passages at most")] = None,
    document_ids: DocumentIds = None,
    tags: Tags = None,
    source_prefix: Annotated[
        Prefix | None, Field(description="What a document's source_uri begins with")
    ] = None,
    company: Annotated[Fact | None, Field(description="Whose documents, by their facts")] = None,
    kind: Annotated[Fact | None, Field(description="Of which kind, by their facts: 10-Q")] = None,
    since: Annotated[
        AwareDatetime | None, Field(description="Stored then or later: 2026-01-31T09:00:00Z")
    ] = None,
    until: Annotated[AwareDatetime | None, Field(description="Stored then or before")] = None,
    metadata: Conditions = None,
) -> SearchResults:
    """Search the documents; gives the passages that are about the query, each with its address."""
    caller = visitor.get()
    scope = Scope(
        caller.library.tenant,
        tuple(document_ids) if document_ids else None,
        source_prefix,
        checked_tags(tags) if tags else None,
        since,
        until,
        tuple(company_keys(company)) if company else None,
        kind_key(kind) if kind else None,
        metadata=_conditions(metadata),
        spaces=caller.library.reach.spaces,
    )
    text = question_of(query, caller.max_question_chars, "query")
    retrieval = await caller.engine.retriever.search(text, scope, limit)
    hits = [] if retrieval.reason else retrieval.hits
    return SearchResults(results=[_result(caller, hit) for hit in hits])


def _result(caller: Visitor, hit: Hit) -> SearchResult:
    span = {"start": hit.start_char, "end": hit.end_char}
    title = place_of(hit.title, hit.heading_path, hit.label)
    return SearchResult(
        id=str(hit.chunk_id), title=title, url=caller.link(hit.document_id, span),
        snippet=snippet(hit.content, _SNIPPET_CHARS),
        score=None if isnan(hit.distance) else round(1 - hit.distance, 4),
    )  # fmt: skip


async def fetch(
    id: Annotated[  # noqa: A002  connectors send this name
        str, Field(description="Of a search result; or document:ID for a whole document")
    ],
) -> FetchResult:
    """Read a passage that was found, or a whole document."""
    caller = visitor.get()
    if id.startswith(_WHOLE):
        passage = await read_passage(_number(id.removeprefix(_WHOLE)), 0, MOST_CHARS)
        metadata = {
            "document_id": passage.document_id,
            "start": 0,
            "end": passage.end,
            "of": passage.of,
        }
        return FetchResult(
            id=id, title=passage.title, text=passage.text, url=passage.url, metadata=metadata
        )
    chunk = await get_chunk(caller.library, _number(id))
    keys = ("document_id", "source_uri", "start", "end", "page", "label", "previous", "next")
    return FetchResult(
        id=id,
        title=place_of(chunk["title"], chunk["heading_path"], chunk["label"]),
        text=chunk["content"],
        url=caller.link(chunk["document_id"], chunk),
        metadata={key: chunk[key] for key in keys},
    )


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise BadRequest("id is that of a search result, or document: and a document's id")
    return int(text)


async def ask(
    question: Annotated[str, Field(description="A question that the documents may answer")],
    document_ids: Annotated[
        list[DocumentId] | None,
        Field(max_length=1000, description="Answer from these documents only"),
    ] = None,
    tags: Annotated[
        list[str] | None, Field(description="Answer from documents that have all of these tags")
    ] = None,
    mode: Annotated[
        Mode, Field(description="agent: several searches and calculations, which take longer")
    ] = "answer",
    model: Annotated[
        str | None, Field(description="The model that answers, by a name that the server allows")
    ] = None,
    metadata: Conditions = None,
) -> AnswerResult:
    """Answer a question from the documents, with citations; refuses where they do not say."""
    caller = visitor.get()
    scope = Scope(
        caller.library.tenant,
        tuple(document_ids) if document_ids else None,
        tags=checked_tags(tags) if tags else None,
        metadata=_conditions(metadata),
        spaces=caller.library.reach.spaces,
    )
    text = question_of(question, caller.max_question_chars)
    asked = Question(text, scope, mode=mode, model=model)
    answering = AnswerRequest(caller.answering, asked, right=caller.right)

    async def whole() -> Answer:
        with answering.outcome:
            return await answering.run()

    answer = await caller.admit(whole)
    return _answer_result(caller, answering.response(answer, with_verdict=False))


def _answer_result(caller: Visitor, answer: Json) -> AnswerResult:
    spans = [
        CitedSpan(
            n=marker.n, title=marker.title,
            document_id=marker.document_id, chunk_id=marker.chunk_id,
            url=caller.link(
                marker.document_id, {"start": marker.quote_start, "end": marker.quote_end}
            ),
            quote=marker.quote, start=marker.quote_start, end=marker.quote_end, by=marker.by,
            source_url=marker.source_url,
        )
        for marker in citation_markers(answer)
    ]  # fmt: skip
    return AnswerResult(
        answer=answer["answer"],
        abstained=answer["abstained"],
        reason=answer["reason"],
        clarifying_question=answer["clarifying_question"],
        citations=spans,
        support=answer["support"],
        model=answer["model"],
        answer_id=answer["answer_id"],
    )


async def list_documents_tool(
    search_for: Annotated[str, Field(description="A part of the title or file name")] = "",
    limit: Annotated[int, Field(ge=1, le=200)] = 50,
    after: Annotated[str | None, Field(description="next of the page before")] = None,
    metadata: Conditions = None,
) -> Documents:
    """List the documents there are, those changed last first."""
    caller = visitor.get()
    page = await list_documents(
        caller.library,
        DocumentFilter(search_for[:200], where=_conditions(metadata)),
        Page(limit, after),
    )
    return Documents(
        documents=[
            ListedDocument(
                id=row["id"], title=row["title"], url=caller.link(row["id"]),
                source_uri=row["source_uri"], pages=row["pages"], tags=row["tags"],
                metadata=row["metadata"],
                updated_at=row["updated_at"],
            )
            for row in page["documents"]
        ],
        total=page["total"],
        next=page["next"],
    )  # fmt: skip


async def read_passage(
    document_id: Annotated[DocumentId, Field(description="Of list_documents, or of a passage")],
    start: Annotated[int, Field(ge=0, description="First character, from 0")] = 0,
    end: Annotated[int | None, Field(ge=0, description="The character after the last")] = None,
) -> Passage:
    """Read the characters start to end of a document, such as those around a citation."""
    caller = visitor.get()
    if end is not None and end < start:
        raise BadRequest(f"end, {end}, lies before start, {start}")
    document = await get_document(caller.library, document_id)
    text: str = document["text"] or ""
    start = min(start, len(text))
    end = min(len(text) if end is None else end, len(text), start + MOST_CHARS)
    return Passage(
        document_id=document_id, title=document["title"],
        url=caller.link(document_id, {"start": start, "end": end}),
        text=text[start:end], start=start, end=end, of=len(text),
    )  # fmt: skip
