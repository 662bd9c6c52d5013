"""The AI SDK's UI message stream, version 1: what ``useChat`` reads.

    start, start-step, reasoning-*, tool-*, text-start, text-delta…, source-document…, text-end,
    data-proof, finish-step, finish, [DONE]

Offsets into the answer count UTF-16 code units, as JavaScript does; offsets into a document count
code points, as everywhere. ``text-end`` carries the citations, which version 7 of the SDK reads;
``data-proof`` has them for 5 and 6, with all else that is known of the answer. A cut answer ends
with ``error``, a stopped one with ``abort``, neither with ``finish``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

from helix.answering.events import Event
from helix.domain.contract import json_bytes
from helix.protocols.citation_markers import (
    CitationMarker,
    Json,
    Utf16,
    citation_markers,
    source_link,
)

HEADERS = {"x-vercel-ai-ui-message-stream": "v1"}
_DONE = b"data: [DONE]\n\n"
_TEXT, _THINKING = {"id": "text"}, {"id": "thinking"}
_BEFORE_DELTA = b'data: {"type":"text-delta","id":"text","delta":'
_MEDIA = "text/plain"  # of a source: what is cited of a document is its text


async def ui_frames(
    events: AsyncGenerator[Event, None], base: str, message_id: str
) -> AsyncGenerator[bytes, None]:
    """The frames of the answer of ``events``; ``base`` is the server's address in links."""
    parts = _Parts(base)
    async with aclosing(events):
        yield _frame({"type": "start", "messageId": message_id}) + _frame({"type": "start-step"})
        async for name, payload in events:
            if name == "token" and parts.in_text:
                yield parts.delta(payload["t"])
                continue
            frames = b"".join(map(_frame, parts.of(name, payload)))
            if name == "done":
                frames += _DONE
            if frames:  # in one piece: each piece costs a write
                yield frames


class _Parts:
    """The stream's parts for each event of an answer; it keeps which parts are open."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._pieces: list[str] = []
        self._citations: list[Json] = []
        self._thinking = False
        self._call_ids: set[str] = set()

    def of(self, name: str, payload: Any) -> Iterator[Json]:
        """The parts for an event; none for an event that this protocol has no part for."""
        if name == "thinking":
            yield from self._thought(payload["t"])
        elif name == "tool":
            yield from self._tool(payload)
        elif name == "token":
            yield from self._token(payload["t"])
        elif name == "citations":
            self._citations = list(payload)
        elif name == "done":
            yield from self._ending(payload)
        elif name in ("error", "interrupted"):
            yield {"type": "error", "errorText": payload["error"]}
        elif name == "stopped":
            yield {"type": "abort"}

    @property
    def in_text(self) -> bool:
        """True if the text has begun: each further token is then one part."""
        return bool(self._pieces) and not self._thinking

    def delta(self, text: str) -> bytes:
        """The frame of a further piece of the text."""
        self._pieces.append(text)
        return _BEFORE_DELTA + json_bytes(text) + b"}\n\n"

    def _thought(self, text: str) -> Iterator[Json]:
        if not self._thinking:
            self._thinking = True
            yield {"type": "reasoning-start", **_THINKING}
        yield {"type": "reasoning-delta", **_THINKING, "delta": text}

    def _end_thought(self) -> Iterator[Json]:
        if self._thinking:
            self._thinking = False
            yield {"type": "reasoning-end", **_THINKING}

    def _tool(self, event: Json) -> Iterator[Json]:
        yield from self._end_thought()
        call = f"call-{event['call']}"
        about = {"toolCallId": call, "dynamic": True, "providerExecuted": True}
        if call not in self._call_ids:
            self._call_ids.add(call)
            yield {"type": "tool-input-start", **about, "toolName": event["name"]}
            yield {
                "type": "tool-input-available", **about,
                "toolName": event["name"], "input": event["arguments"],
            }  # fmt: skip
        if failure := event.get("failure"):
            yield {"type": "tool-output-error", **about, "errorText": failure}
        elif "milliseconds" in event:
            output = {key: event[key] for key in ("passages", "milliseconds") if key in event}
            yield {"type": "tool-output-available", **about, "output": output}

    def _token(self, text: str) -> Iterator[Json]:
        yield from self._end_thought()
        if not self._pieces:
            yield {"type": "text-start", **_TEXT}
        self._pieces.append(text)
        yield {"type": "text-delta", **_TEXT, "delta": text}

    def _ending(self, payload: Json) -> Iterator[Json]:
        answer = {"answer": "".join(self._pieces), "citations": self._citations, **payload}
        markers, units = citation_markers(answer), Utf16(answer["answer"]).units
        sources = {marker.n: self._source(marker) for marker in reversed(markers)}
        for n in sorted(sources):
            yield {"type": "source-document", **_without(sources[n], "type", "sourceType", "id"),
                   "sourceId": sources[n]["id"]}  # fmt: skip
        yield {
            "type": "text-end",
            **_TEXT,
            "citations": [
                {
                    "source": self._source(marker),
                    "startIndex": units(marker.start),
                    "endIndex": units(marker.end),
                    **({} if marker.quote is None else {"citedText": marker.quote}),
                }
                for marker in markers
            ],
        }
        yield {"type": "data-proof", "id": "proof", "data": self._proof(answer, markers)}
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": "stop"}

    def _source(self, marker: CitationMarker) -> Json:
        """The part of a citation's source; the SDK passes on ``providerMetadata`` as it is."""
        own: Json = {
            "n": marker.n, "documentId": marker.document_id, "chunkId": marker.chunk_id,
            "url": source_link(self._base, marker), "by": marker.by,
        }  # fmt: skip
        if marker.source_url is not None:
            own["sourceUrl"] = marker.source_url
        if marker.quote is not None:
            own |= {"quote": marker.quote, "start": marker.quote_start, "end": marker.quote_end}
        return {
            "type": "source", "sourceType": "document", "id": f"source-{marker.n}",
            "mediaType": _MEDIA, "title": marker.title, "providerMetadata": {"helix": own},
        }  # fmt: skip

    def _proof(self, answer: Json, markers: tuple[CitationMarker, ...]) -> Json:
        units = Utf16(answer["answer"]).units
        statements = [
            {**statement, "start": units(statement["start"]), "end": units(statement["end"])}
            for statement in answer["support"]["statements"]
        ]
        return {
            **_without(answer, "answer", "debug"),
            "support": {**answer["support"], "statements": statements},
            "marks": [
                {
                    "n": marker.n,
                    "startIndex": units(marker.start),
                    "endIndex": units(marker.end),
                    "url": source_link(self._base, marker),
                    "quote": marker.quote,
                    "by": marker.by,
                }
                for marker in markers
            ],
        }


def _without(fields: Json, *keys: str) -> Json:
    return {key: value for key, value in fields.items() if key not in keys}


def _frame(part: Json) -> bytes:
    return b"data: " + json_bytes(part) + b"\n\n"
