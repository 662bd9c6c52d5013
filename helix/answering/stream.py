"""The stream of an answer: its deltas, and before them the events of gathering its sources."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import reduce
from operator import add
from typing import Protocol

from helix.answering.gatherer import Event
from helix.answering.guardrails import Hygiene
from helix.answering.numbering import KnownMarkers
from helix.answering.reading_right import ReadingRight
from helix.answering.statement_filter import StatementFilter
from helix.domain.citations import attribute_citations, cite, is_refusal, may_be_refusal
from helix.domain.contract import Citation
from helix.domain.history import Turn
from helix.domain.records import Hit
from helix.domain.retrieval import Reason, Retrieval
from helix.domain.usage import Usage
from helix.providers.base import LanguageModel
from helix.settings.prompts import Prompts


class AnswerStream:
    """One answer as a stream: iterate over its deltas, then read ``citations``.

    Closing it, or leaving an ``async with aclosing(stream)``, closes the model's stream.

    ``hygiene`` is the filter that the ``deltas`` pass through. ``prompt`` is the user turn that the
    model got; None where no model was called. ``turn`` is the question's place in its conversation;
    ``asked`` is the wording for the model, where it differs from the question. ``markers`` removes
    numbers that no source has; None leaves them as the model wrote them. ``prompts`` are the
    prompts of the answer, with a record of those used. ``used`` gets what the call of the model
    took, once the deltas have ended. ``llm`` is the model that was chosen for it.
    ``statements`` is the filter that holds it back by the statement, where one does. ``right`` is
    what it is written by: where that is lost, the deltas end with RightLost.
    """

    def __init__(
        self,
        deltas: AsyncGenerator[str, None],
        retrieval: Retrieval,
        hygiene: Hygiene | None = None,
        prompt: str | None = None,
        turn: Turn | None = None,
        asked: str | None = None,
        markers: KnownMarkers | None = None,
        used: list[Usage] | None = None,
    ) -> None:
        self.retrieval = retrieval
        self.turn = turn
        self.asked = asked
        self.prompt = prompt
        self.prompts = Prompts()
        self.llm: LanguageModel | None = None
        self.statements: StatementFilter | None = None
        self.right: ReadingRight | None = None
        self._hygiene = hygiene
        self._markers = markers
        self._used = [] if used is None else used
        self._deltas = deltas
        self._parts: list[str] = []
        self._first: str | None = None
        self._ended = False

    async def prime(self) -> None:
        """Wait for the first delta, so that a failure before it is still an error, not a stream."""
        try:
            self._first = await self._next()
        except BaseException:
            await self.aclose()
            raise

    async def refuses(self) -> bool:
        """True where the answer is the refusal alone; to be asked before any delta was read.

        It is read on for as long as that may be so, and what was read comes as the first delta.
        """
        while self._first is not None and may_be_refusal(self._first):
            if (delta := await self._next()) is None:
                return is_refusal(self._first)
            self._first += delta
        return False

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        if self._first is not None:
            self._parts.append(self._first)
            yield self._first
            while (delta := await self._next()) is not None:
                self._parts.append(delta)
                yield delta
        self._ended = True

    async def _next(self) -> str | None:
        # the model's time alone, without the time that the reader of the stream takes
        with self.retrieval.trace.stage("model"):
            delta = await anext(self._deltas, None)
        await self.require_right()
        return delta

    async def require_right(self) -> None:
        """Return where the right to read what it is written from holds; raises RightLost."""
        if self.right:
            hits = (hit for source in self.retrieval.sources for hit in source.hits)
            library = {hit.document_id for hit in hits if not hit.tool and not hit.attached}
            await self.right.require(library)

    async def aclose(self) -> None:
        """Close the model's stream, whether or not it has ended."""
        await self._deltas.aclose()

    @property
    def answer(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    @property
    def usages(self) -> tuple[Usage, ...]:
        """Usage of each call of the model, a gathering's first; the answer's once it has ended.

        Empty where no model was called, or where its service does not tell.
        """
        return (*self.retrieval.usages, *self._used)

    @property
    def usage(self) -> Usage | None:
        """``usages`` together; None where there is none."""
        return reduce(add, self.usages) if self.usages else None

    @property
    def removed(self) -> int:
        """The number of links and images that hygiene has removed so far."""
        return self._hygiene.removed if self._hygiene else 0

    @property
    def dropped(self) -> int:
        """The number of markers without a source that were removed so far."""
        return self._markers.dropped if self._markers else 0

    @property
    def left_out(self) -> int | None:
        """The number of statements that were left out so far; None where none would be."""
        return self.statements.left_out if self.statements and self.statements.withholds else None

    @property
    def renumbered(self) -> int:
        """The number of sources with new numbers for readers.

        0 where events had them already, and where code is written: its `[1]` is no marker.
        """
        keeps = self.retrieval.gathered or self.retrieval.writing
        return 0 if keeps else len(self.retrieval.sources)

    async def events(self) -> AsyncGenerator[Event, None]:
        """The events before the answer's first delta; none where one search found the sources."""
        return
        yield

    @property
    def citations(self) -> list[Citation]:
        """The citations of the whole answer; may only be read when the stream has ended."""
        assert self._ended, "an answer has its citations when it has ended"
        return cite(self.answer, self.cited)

    @property
    def cited(self) -> list[Hit]:
        """The hit that a citation of source n names, at index n - 1."""
        return attribute_citations(self.answer, self.retrieval.sources)

    @property
    def reason(self) -> Reason | None:
        """The reason of a refusal; None for an answer. Known when the stream has ended."""
        if self.retrieval.reason:
            return self.retrieval.reason
        if self.statements and self.statements.refused:
            return "ungrounded"
        return "model_refused" if is_refusal(self.answer) else None


class GatheringStream(AnswerStream):
    """An answer whose sources are still being gathered: first its ``events``, then its deltas.

    ``found`` yields events, and last the retrieval, from which ``write`` makes the answer's stream;
    ``nothing`` is its retrieval until then. Closing it ends the gathering too.
    """

    def __init__(
        self,
        found: AsyncGenerator[Event | Retrieval, None],
        write: Callable[[Retrieval], AnswerStream],
        nothing: Retrieval,
        turn: Turn | None,
        asked: str,
    ) -> None:
        super().__init__(self._text(), nothing, turn=turn, asked=asked)
        self._found = found
        self._write = write
        self._event: Event | None = None
        self._gathered = False

    async def prime(self) -> None:
        """Wait for the first event, so that a failure before it is still an error, not a stream."""
        try:
            self._event = await self._next_event()
        except BaseException:
            await self.aclose()
            raise

    async def events(self) -> AsyncGenerator[Event, None]:
        """The gatherer's events as they happen; once they end, the first delta has arrived.

        Raises:
            UpstreamError: the model failed before the first delta.
        """
        while self._event is not None:
            yield self._event
            self._event = await self._next_event()
        if self._first is None:
            await super().prime()

    async def __aiter__(self) -> AsyncGenerator[str, None]:
        async with aclosing(self.events()) as events:
            async for _ in events:
                continue
        async for delta in super().__aiter__():
            yield delta

    async def aclose(self) -> None:
        """End the gathering, or close the model's stream."""
        await self._found.aclose()
        await super().aclose()

    async def _next_event(self) -> Event | None:
        """The next event; None once all is gathered."""
        found = await anext(self._found)
        await self.require_right()
        if not isinstance(found, Retrieval):
            return found
        self.retrieval = found
        return None

    async def _text(self) -> AsyncGenerator[str, None]:
        written = self._write(self.retrieval)
        self.statements = written.statements
        self.prompt, self._hygiene, self._markers, self._used = (
            written.prompt,
            written._hygiene,
            written._markers,
            written._used,
        )
        async with aclosing(written._deltas) as deltas:
            async for delta in deltas:
                yield delta


class DeltaFilter(Protocol):
    """Is fed an answer's deltas, and gives what may be sent."""

    def feed(self, delta: str) -> str:
        """The text that can be sent now."""
        ...

    def end(self) -> str:
        """The text that was held back, now that nothing follows."""
        ...


async def filtered(
    deltas: AsyncGenerator[str, None], through: DeltaFilter
) -> AsyncGenerator[str, None]:
    """The text of ``deltas`` that the filter gives, in non-empty deltas; closes them too."""
    async with aclosing(deltas):
        async for delta in deltas:
            if passed := through.feed(delta):
                yield passed
        if passed := through.end():
            yield passed
