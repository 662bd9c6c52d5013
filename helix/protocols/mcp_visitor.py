"""The caller of a tool of the MCP server: set by the server, never an argument of the tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from helix.answering.answer import Answer
from helix.answering.engine import CitationQueryEngine
from helix.answering.pipeline import AnswerPipeline
from helix.answering.reading_right import ReadingRight
from helix.library.access import Library
from helix.library.keys import KEY_SCOPES, KeyScope
from helix.protocols.citation_markers import Json

Work = Callable[[], Awaitable[Answer]]


async def _at_once(work: Work) -> Answer:
    return await work()


@dataclass(frozen=True)
class Visitor:
    """The tenant whose documents a call is about, and what it may do with them.

    Args:
        base: the server's address, in front of links; empty where none is known.
        scopes: the scopes of its key.
        admit: begins an answer when there is a place for it.
        right: to read what an answer is written from; None: nobody's to take away.
    """

    library: Library
    answering: AnswerPipeline
    base: str
    max_question_chars: int
    scopes: frozenset[str] = frozenset(KEY_SCOPES)
    admit: Callable[[Work], Awaitable[Answer]] = _at_once
    right: ReadingRight | None = None

    @property
    def engine(self) -> CitationQueryEngine:
        """The engine that searches the documents and answers from them."""
        return self.answering.engine

    def link(self, document_id: int, span: Json | None = None) -> str:
        """The page's reader at a document, or at a span of it (``start``, ``end``).

        Where no server is known it is the document's address among the resources.
        """
        if not self.base:
            return f"helix://documents/{document_id}"
        place = f"{self.base}/#/source/{document_id}"
        if span is None or span.get("start") is None:
            return place
        return f"{place}?start={span['start']}&end={span['end']}"

    def may(self, scope: KeyScope) -> bool:
        """True if the visitor's key has ``scope``."""
        return scope in self.scopes


visitor: ContextVar[Visitor] = ContextVar("visitor")
"""The caller in this context; set by the code that accepted the request."""
