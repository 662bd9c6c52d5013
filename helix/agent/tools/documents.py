"""Reads that the tools share: a document within the asker's scope, and its passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from helix.agent.tool import ToolContext, ToolFailure
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.storage.document_parts import Statement, document_of, passages_at
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
