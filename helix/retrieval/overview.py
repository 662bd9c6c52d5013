"""Passages for questions about a whole document: the first chunk of each of its sections."""

from __future__ import annotations

from dataclasses import replace

from helix.domain.context import sources_of
from helix.domain.gate import GateDecision
from helix.domain.question_analysis import read_question
from helix.domain.records import Hit
from helix.domain.relevance import SourcePlace
from helix.domain.retrieval import Retrieval, Trace
from helix.domain.scope import Scope
from helix.retrieval.gated_retriever import GatedRetriever
from helix.storage.document_parts import documents_by_name, section_leads
from helix.storage.searches import hit_of

_MOST_SECTIONS = 12
_MOST_TITLES = 20
_NAMED = 0.5
"""Share of a topic's words that a document's title, file name or facts have to have."""


async def overview(retriever: GatedRetriever, topic: str, scope: Scope) -> Retrieval | None:
    """The sections of the document that ``topic`` names; '' names the only one of ``scope``.

    Documents of the question's conversation have precedence. None where no document is named so:
    the question is then one like any other.

    Raises:
        UpstreamError, StoreUnavailable, EmbedderMismatch: as GatedRetriever.search does.
    """
    hits = await _leads(retriever, topic, Scope(scope.attached)) if scope.attached else []
    hits = [replace(hit, attached=True) for hit in hits] or await _leads(
        retriever, topic, replace(scope, attached=None)
    )
    if not hits:
        return None
    given = bare_retrieval(retriever)
    return replace(given, hits=hits, sources=sources_of(hits, apart=len(hits)))


async def _leads(retriever: GatedRetriever, topic: str, scope: Scope) -> list[Hit]:
    """The first chunk of each section of the document that ``topic`` names; [] where none is."""
    document_id = scope.document_ids[0] if scope.document_ids else None
    found: Retrieval | None = None
    if document_id is None or len(scope.document_ids or ()) > 1:
        found = await retriever.search(topic or "introduction", scope)
        document_id = _named(found, topic)
    if document_id is None:
        return []
    store = retriever.store.within(scope)
    rows = await store.read(*section_leads(scope, document_id, _MOST_SECTIONS))
    return [hit_of(row) for row in rows]


def bare_retrieval(retriever: GatedRetriever) -> Retrieval:
    """A retrieval that found nothing and lets the answer pass: nothing was searched for it."""
    return Retrieval([], GateDecision(True, None), Trace(), retriever.space.description)


async def library_reply(retriever: GatedRetriever, scope: Scope) -> str:
    """The documents of ``scope`` as a list in Markdown, the first 20 by name."""
    store = retriever.store.within(scope)
    rows = await store.read(*documents_by_name(scope, _MOST_TITLES))
    if not rows:
        return "There are no documents here yet."
    titles, count = [row["title"] for row in rows], rows[0]["total"]
    head = "There is 1 document:" if count == 1 else f"There are {count} documents:"
    more = [f"- and {count - len(titles)} more"] if count > len(titles) else []
    lines = (f"- {' '.join(title.replace('[', '(').replace(']', ')').split())}" for title in titles)
    return "\n".join([head, "", *lines, *more])


def _named(found: Retrieval, topic: str) -> int | None:
    """The document of the best hit whose title or facts the topic names; of none, the only one."""
    asked = frozenset(read_question(topic).subject)
    if not asked:
        documents = {hit.document_id for hit in found.hits}
        return documents.pop() if len(documents) == 1 else None
    for hit in found.hits:
        about = SourcePlace(f"{hit.title} {hit.source_uri}", (), hit.facts).about
        if len(asked & about) >= _NAMED * len(asked):
            return hit.document_id
    return None
