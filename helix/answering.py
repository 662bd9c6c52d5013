"""Answers as POST /v1/query gives them: long citations, a reason, a question back. No HTTP."""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypedDict

from helix.citations import cite
from helix.context import Source
from helix.contract import REFUSAL
from helix.debug import debug_block
from helix.errors import HelixError, Unavailable
from helix.pointing import pointed, spread
from helix.query_engine import AnswerStream, CitationQueryEngine
from helix.records import Hit
from helix.retrieval import Reason, Retrieval
from helix.scope import Scope
from helix.sse import event_frame

NEARLY = 0.08
"""How far above the gate's ceiling, as a distance, a chunk is still worth asking about."""
_NAMED = 2
_NAME_CHARS = 100
_TRIES = 2

_logger = logging.getLogger(__name__)


class SourceChanged(Unavailable):
    """What an answer was made from was replaced or deleted before the answer had ended."""

    def __init__(self) -> None:
        super().__init__("a source was changed while it was answered from; ask again")


class LongCitation(TypedDict):
    """One source that an answer cites.

    ``quote`` is ``documents.text[start:end]``, in characters: the chunk, or all that was joined to
    one source where it is cited for what stands in several chunks of it. All three are None where
    the chunk does not say where it lies.
    """

    n: int
    chunk_id: int
    document_id: int
    title: str
    heading_path: list[str]
    page: int | None
    snippet: str
    quote: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True)
class Inquiry:
    """One question with all that its answer depends on; ``told`` goes into the answer as it is."""

    engine: CitationQueryEngine
    question: str
    scope: Scope
    top_k: int | None = None
    debug: bool = False
    told: dict[str, Any] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)

    async def begin(self) -> AnswerStream:
        """The answer with its first delta in hand.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: as CitationQueryEngine.ask does.
        """
        return await self.engine.ask(self.question, self.scope, self.top_k, deep=self.debug)

    async def answer(self) -> dict[str, Any]:
        """The whole answer; asked again once where a source was changed meanwhile.

        Raises:
            SourceChanged: it was changed again.
            UpstreamError, StoreUnavailable, EmbedderMismatch: as begin, at any time.
        """
        for _ in range(_TRIES):
            async with aclosing(await self.begin()) as stream:
                async for _ in stream:
                    continue
            if await self._holds(stream):
                answer = REFUSAL if stream.reason else stream.answer
                return {"answer": answer, "citations": _citations(stream), **self._end(stream)}
            _logger.info("a source was changed meanwhile")
        raise SourceChanged

    async def frames(self, stream: AnswerStream) -> AsyncGenerator[bytes, None]:
        """``stream`` as token events, then citations and done; or an error, and neither of them."""
        async with aclosing(stream):
            try:
                async for delta in stream:
                    yield event_frame("token", {"t": delta})
                if not await self._holds(stream):
                    raise SourceChanged
            except HelixError as error:
                _logger.warning("stream cut: %s", error)
                yield event_frame("error", {"error": str(error)})
                return
            yield event_frame("citations", _citations(stream))
            yield event_frame("done", self._end(stream))

    async def _holds(self, stream: AnswerStream) -> bool:
        return await self.engine.still_holds(stream.retrieval, self.scope)

    def _end(self, stream: AnswerStream) -> dict[str, Any]:
        """What is known of an answer when it has ended, besides text and citations."""
        ceiling = self.engine.retriever.max_distance
        reason = stream.reason
        end = {
            "abstained": reason is not None,
            "reason": reason,
            "clarifying_question": clarifying_question(stream.retrieval, reason, ceiling),
            **self.told,
        }
        if self.debug:
            total = time.perf_counter() - self.began
            end["debug"] = debug_block(
                stream.retrieval, stream.answer, ceiling=ceiling, total=total
            )
        return end


def _citations(stream: AnswerStream) -> list[LongCitation]:
    return long_citations(stream.answer, stream.retrieval.sources)


def long_citations(answer: str, sources: Sequence[Source]) -> list[LongCitation]:
    """The citations of ``answer``, which cites ``sources`` by their numbers from 1."""
    found: list[LongCitation] = []
    hits, spread_out = pointed(answer, sources), spread(answer, sources)
    for citation in cite(answer, hits):
        place = citation["n"] - 1
        hit = hits[place]
        quoted = sources[place] if spread_out[place] else hit
        marked = _marked(quoted)
        found.append(
            LongCitation(
                n=citation["n"],
                chunk_id=hit.chunk_id,
                document_id=hit.document_id,
                title=hit.title,
                heading_path=list(hit.heading_path),
                page=hit.page,
                snippet=citation["snippet"],
                quote=quoted.content if marked else None,
                start=quoted.start_char if marked else None,
                end=quoted.end_char if marked else None,
            )
        )
    return found


def _marked(quoted: Hit | Source) -> bool:
    start, end = quoted.start_char, quoted.end_char
    return start is not None and end is not None and end - start == len(quoted.content)


def clarifying_question(retrieval: Retrieval, reason: Reason | None, ceiling: float) -> str | None:
    """One sentence that names what the question may have meant, at most two documents, or None.

    There is something to name where the gate refused what is within 0.08 of its ``ceiling``, and
    where the model found no answer in its sources.
    """
    names: list[str] = []
    if reason == "below_gate":
        names = _names(sorted(_near(retrieval.hits, ceiling), key=lambda hit: hit.distance))
    elif reason == "model_refused":
        hits = [source.hit for source in retrieval.sources]
        names = _names(_near(hits, ceiling) or hits[:1])
    return f"Do you mean something in {' or '.join(names)}?" if names else None


def _near(hits: Iterable[Hit], ceiling: float) -> list[Hit]:
    return [hit for hit in hits if hit.distance <= ceiling + NEARLY]


def _names(hits: Iterable[Hit]) -> list[str]:
    """The first two documents of ``hits``, each once, with the heading that its hit is under."""
    names: dict[int, str] = {}
    for hit in hits:
        title = one_line(hit.title)
        if title and hit.document_id not in names:
            heading = one_line(hit.heading_path[-1]) if hit.heading_path else ""
            under = f' ("{heading}")' if heading and heading != title else ""
            names[hit.document_id] = f'"{title}"{under}'
    return list(dict.fromkeys(names.values()))[:_NAMED]


def one_line(text: str) -> str:
    """``text`` fit to be quoted: at most 100 characters on one line, none that is not seen.

    Marks that turn the direction of writing are left out with the control characters.
    """
    seen = "".join(" " if c.isspace() else c for c in text.replace('"', "'"))
    seen = "".join(c for c in seen if unicodedata.category(c)[0] != "C")
    line = " ".join(seen.split())
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1].rstrip() + "…"
