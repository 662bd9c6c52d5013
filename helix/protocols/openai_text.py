"""The parts that both of OpenAI's wire formats share: text, annotations, usage and errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from helix.answering.events import Event
from helix.answering.numbering import Renumbering
from helix.answering.structured_output import FilledForm
from helix.domain.context import Source, count_tokens
from helix.protocols.citation_markers import (
    CitationMarker,
    Json,
    Link,
    answer_link,
    citation_markers,
    linked,
    source_link,
)
from helix.protocols.messages import UNPROVEN
from helix.protocols.stop_sequences import Stops, truncated

Sources = Callable[[], Sequence[Source]]
"""Returns the sources of an answer that are known so far: an agent finds them step by step."""
OMITTED_KEYS = ("answer", "debug")
"""Keys of an answer's JSON that the key ``helix`` leaves out: the response has them already, or
they are not meant for clients."""


@dataclass(frozen=True, slots=True)
class ResponseOptions:
    """The client's request, as far as it shapes the form of the answer.

    Args:
        model: the name in the request.
        base: the server's address as the client knows it, in front of links.
        answer_id: the answer's.
        created: seconds since 1970.
        stops: sequences that end the text.
        links: whether markers are links.
        usage: whether a stream tells how many tokens there were.
        marks_unproven: whether the text says so where no statement of it is borne out.
    """

    model: str
    base: str
    answer_id: str
    created: int
    stops: tuple[str, ...] = ()
    links: bool = False
    usage: bool = False
    marks_unproven: bool = False

    def note(self, answer: Json) -> str:
        """The line at the end of the text of the answer whose JSON is ``answer``; mostly none."""
        return f"\n\n{UNPROVEN}" if self.marks_unproven and answer["support"]["ratio"] == 0 else ""


@dataclass(frozen=True, slots=True)
class ResponseText:
    """The text that the client gets, its citation markers, and the answer's JSON.

    ``refuses``: it is the refusal in place of the form that the client asked for.
    """

    text: str
    markers: tuple[CitationMarker, ...]
    answer: Json
    refuses: bool = False


@dataclass
class StreamedText:
    """The text of a streamed answer, with its links; ``sources`` are those of the prompt.

    A streamed link leads to the answer's receipt: the span of a statement is known only when the
    answer has ended.
    """

    options: ResponseOptions
    sources: Sources
    plain: str = ""
    _stops: Stops = field(init=False)
    _whole_markers: Renumbering = field(default_factory=lambda: Renumbering(0))

    def __post_init__(self) -> None:
        self._stops = Stops(self.options.stops)

    def feed(self, delta: str) -> str:
        """The further text that can be sent now."""
        return self._linked(self._stops.feed(delta))

    def end(self) -> str:
        """The text that was held back."""
        return self._linked(self._stops.end(), last=True)

    def complete(self, answer: Json) -> ResponseText:
        """The whole text, with the citation markers of the answer whose JSON is ``answer``."""
        markers = citation_markers(answer, self.plain)
        if not self.options.links:
            return ResponseText(self.plain, markers, answer)
        return ResponseText(*linked(self.plain, self._link, markers), answer)

    def _linked(self, text: str, *, last: bool = False) -> str:
        if not self.options.links:
            self.plain += text
            return text
        text = self._whole_markers.feed(text) + (self._whole_markers.end() if last else "")
        self.plain += text
        return linked(text, self._link)[0]

    def _link(self, n: int, _: int) -> str | None:
        if not 1 <= n <= len(self.sources()):
            return None
        return answer_link(self.options.base, self.options.answer_id)


@dataclass(frozen=True, slots=True)
class Thought:
    """Thinking of an agent, before the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The error that ended the answer; the last part of a truncated stream."""

    message: str


Part = str | Thought | Failed | ResponseText
"""A piece of the text; a piece of thinking; or how it ended."""


async def parts_of(
    events: AsyncGenerator[Event, None], options: ResponseOptions, sources: Sources
) -> AsyncGenerator[Part, None]:
    """The answer of ``events``, part by part.

    The last part is Failed or the ResponseText; a stream without either is truncated.
    """
    text, pieces, citations = StreamedText(options, sources), list[str](), list[Json]()
    async with aclosing(events):
        async for name, payload in events:
            if name == "token":
                pieces.append(payload["t"])
                if piece := text.feed(payload["t"]):
                    yield piece
            elif name == "thinking":
                yield Thought(payload["t"])
            elif name == "citations":
                citations = payload
            elif name == "error":
                yield Failed(payload["error"])
            elif name == "done":
                if piece := text.end():
                    yield piece
                answer = {"answer": "".join(pieces), "citations": citations, **payload}
                told = text.complete(answer)
                if note := options.note(answer):
                    yield note
                yield replace(told, text=told.text + note)


def whole_text(options: ResponseOptions, answer: Json) -> ResponseText:
    """The text of a whole answer; its links lead to the exact span of each statement."""
    text = truncated(answer["answer"], options.stops)
    markers = citation_markers(answer, text)
    if options.links:
        text, markers = linked(text, exact_link(options.base, markers), markers)
    return ResponseText(text + options.note(answer), markers, answer)


def form_text(answer: Json, form: FilledForm) -> ResponseText:
    """The text of an answer in the form that its client asked for; its prose goes beside it."""
    if form.text is None:
        return ResponseText(answer["answer"], (), answer, refuses=True)
    told = answer | {"prose": answer["answer"], "values": list(form.values)}
    return ResponseText(form.text, (), told)


def exact_link(base: str, markers: tuple[CitationMarker, ...]) -> Link:
    """A Link to the spans of ``markers``, by number and place of the marker."""
    addresses = {(marker.n, marker.start): source_link(base, marker) for marker in markers}
    return lambda n, offset: addresses.get((n, offset))


def url_citations(text: ResponseText, base: str) -> list[Json]:
    """One annotation for each citation marker, which is ``text[start_index:end_index]``.

    A source that Helix found, which has none, is ``by`` it, at the end of its statement.
    """
    return [
        {
            "start_index": marker.start,
            "end_index": marker.end,
            "title": marker.title,
            "url": source_link(base, marker),
            **({} if marker.by == "model" else {"by": marker.by}),
            **marker.address,
        }
        for marker in text.markers
    ]


def link_lists(text: ResponseText, base: str) -> Json:
    """``citations`` and ``search_results``, in which source n stands at n - 1.

    Where an answer cites 1 and 3 alone, as an agent's may, the link of 2 leads to the answer.
    """
    first = {marker.n: marker for marker in reversed(text.markers)}
    urls = [
        source_link(base, first[n]) if n in first else answer_link(base, text.answer["answer_id"])
        for n in range(1, max(first, default=0) + 1)
    ]
    results = [
        {
            "title": marker.title,
            "url": source_link(base, marker),
            "snippet": marker.quote or "",
            **marker.address,
        }
        for _, marker in sorted(first.items())
    ]
    return {"citations": urls, "search_results": results}


def helix_extension(text: ResponseText) -> Json:
    """The value of the key ``helix``: the JSON of POST /v1/query without OMITTED_KEYS."""
    return {key: value for key, value in text.answer.items() if key not in OMITTED_KEYS}


def token_counts(sources: Sequence[Source], text: ResponseText) -> tuple[int, int]:
    """Tokens of what an answer is made from, and of the answer, as POST /v1/query counts them."""
    return sum(source.tokens for source in sources), count_tokens(text.answer["answer"])


_ERRORS: dict[int, tuple[str, str | None]] = {
    400: ("invalid_request_error", None),
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_permissions"),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
}


def error_json(message: str, status: int, param: str | None = None, code: str = "") -> Json:
    """A failure as OpenAI's clients read it: ``{"error": {message, type, param, code}}``."""
    kind, usual = _ERRORS.get(status, ("server_error" if status >= 500 else _ERRORS[400][0], None))
    error: dict[str, Any] = {
        "message": message,
        "type": kind,
        "param": param,
        "code": code or usual,
    }
    return {"error": error}
