"""search_library, read_document, compare_documents; and the reads that other tools share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

from pydantic import Field, model_validator

from helix.agent.tool import Arguments, Tool, ToolContext, ToolFailure, ToolOutput
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.retrieval import Retrieval
from helix.domain.scope import Scope
from helix.storage.document_parts import Statement, document_of, passages_at, passages_of
from helix.storage.searches import hit_of

Row = dict[str, Any]


def narrowed(context: ToolContext, document_id: int) -> Scope:
    """The asker's scope, restricted to one document; no argument of a tool ever widens it.

    Raises:
        ToolFailure: the document is not in the scope's own list.
    """
    allowed_ids = context.scope.document_ids
    if allowed_ids is not None and document_id not in allowed_ids:
        raise no_document(document_id)
    return replace(context.scope, document_ids=(document_id,))


def no_document(document_id: int) -> ToolFailure:
    """The failure for an id that no document of the scope has."""
    return ToolFailure(f"There is no document {document_id} here: list_documents has the ids.")


async def fetch(context: ToolContext, statement: Statement) -> list[Row]:
    """The rows of a read as the asker's tenant."""
    store = context.retriever.store.within(context.scope)
    return await store.fetch(*statement)


async def find_document(context: ToolContext, document_id: int) -> Row:
    """A document of the scope with its text, outline and facts.

    Raises:
        ToolFailure: there is none of this id.
    """
    rows = await fetch(context, document_of(narrowed(context, document_id), document_id))
    if not rows:
        raise no_document(document_id)
    return rows[0]


async def passages(context: ToolContext, statement: Statement) -> list[Hit]:
    """The passages of a read, in its order, each once."""
    hits = [hit_of(row) for row in await fetch(context, statement)]
    return list({hit.chunk_id: hit for hit in hits}.values())


async def passages_holding(
    context: ToolContext, places: Sequence[tuple[int, int, int]]
) -> list[Hit]:
    """The passages that hold these places (document, start, end), each passage once."""
    return await passages(context, passages_at(context.scope, list(places))) if places else []


_MOST = 12


class ReadArguments(Arguments):
    """The document to read, and the part of it; without a part its beginning."""

    document_id: int
    page: int | None = Field(None, ge=1, description="A page, from 1.")
    heading: str | None = Field(None, min_length=1, max_length=200, description="Words of it.")
    start: int | None = Field(None, ge=0, description="The first character of a range.")
    end: int | None = Field(None, ge=1, description="The character behind the range.")

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError("start must be less than end")
        return self


async def read(arguments: ReadArguments, context: ToolContext) -> ToolOutput:
    """The passages of the part, in the order of the document, twelve at most."""
    row = await find_document(context, arguments.document_id)
    part = arguments.model_dump(include={"page", "heading", "start", "end"})
    scope = narrowed(context, arguments.document_id)
    passages_found = await passages(
        context, passages_of(scope, arguments.document_id, _MOST + 1, **part)
    )
    if not passages_found:
        return ToolOutput((f"{row['title']} has no such part: outline lists what it has.",))
    more = passages_found[_MOST:]
    rest = f"There is more, from character {more[0].start_char} on." if more else ""
    return ToolOutput(tuple(filter(None, (f"From {row['title']}:", *passages_found[:_MOST], rest))))


READ_DOCUMENT = Tool("read_document", ReadArguments, read)


TOP_K = 7


class SearchArguments(Arguments):
    """The query to search for, and the document if only one is searched."""

    query: str = Field(min_length=1, max_length=20_000, description="A question or key words.")
    document_id: int | None = Field(None, description="Search this document alone.")


async def search(arguments: SearchArguments, context: ToolContext) -> ToolOutput:
    """The seven best passages; a search below the gate says so, for the answer's gate to decide."""
    scope = context.scope
    if arguments.document_id is not None:
        scope = narrowed(context, arguments.document_id)
    follow_up = context.search_of(arguments.query)
    retrieval = await context.retriever.search(arguments.query, scope, TOP_K, follow_up=follow_up)
    if not retrieval.hits:
        return ToolOutput(("Nothing was found.",), decision=retrieval.decision)
    head = (
        ""
        if retrieval.decision.passed
        else "Nothing fits the query well; the nearest passages are:"
    )
    return ToolOutput(tuple(filter(None, (head, *retrieval.hits))), decision=retrieval.decision)


SEARCH_LIBRARY = Tool("search_library", SearchArguments, search)


_EACH = 3


class CompareArguments(Arguments):
    """The question, and the documents that it is put to."""

    question: str = Field(min_length=1, max_length=500)
    document_ids: list[int] = Field(min_length=2, max_length=8)


async def compare(arguments: CompareArguments, context: ToolContext) -> ToolOutput:
    """The best passages of each document under its title; a document without any is named."""
    ids = list(dict.fromkeys(arguments.document_ids))
    rows = await asyncio.gather(*(find_document(context, one) for one in ids))
    retrievals = await asyncio.gather(
        *(
            context.retriever.search(arguments.question, narrowed(context, one), _EACH)
            for one in ids
        )
    )
    parts: list[str | Hit] = []
    for row, one in zip(rows, retrievals, strict=True):
        parts.append(f"{row['title']}:")
        parts.extend(one.hits or ("It has nothing on this.",))
    return ToolOutput(tuple(parts), decision=_nearest(retrievals))


def _nearest(retrievals: list[Retrieval]) -> GateDecision:
    """The decision of the search that came nearest: one document that answers is enough."""
    return min(
        (one.decision for one in retrievals),
        key=lambda decision: (not decision.passed, 2.0 if decision.best is None else decision.best),
    )


COMPARE_DOCUMENTS = Tool("compare_documents", CompareArguments, compare)
