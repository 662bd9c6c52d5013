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
from helix.domain.wire_json import json_bytes
from helix.protocols.marks import Json, Mark, Utf16, marks_of, source_link

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
        self._called: set[str] = set()

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
        """Whether the text has begun: each further token is then one part."""
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

    def _thought_ended(self) -> Iterator[Json]:
        if self._thinking:
            self._thinking = False
            yield {"type": "reasoning-end", **_THINKING}

    def _tool(self, told: Json) -> Iterator[Json]:
        yield from self._thought_ended()
        call = f"call-{told['call']}"
        about = {"toolCallId": call, "dynamic": True, "providerExecuted": True}
        if call not in self._called:
            self._called.add(call)
            yield {"type": "tool-input-start", **about, "toolName": told["name"]}
            yield {
                "type": "tool-input-available", **about,
                "toolName": told["name"], "input": told["arguments"],
            }  # fmt: skip
        if failure := told.get("failure"):
            yield {"type": "tool-output-error", **about, "errorText": failure}
        elif "milliseconds" in told:
            output = {key: told[key] for key in ("passages", "milliseconds") if key in told}
            yield {"type": "tool-output-available", **about, "output": output}

    def _token(self, text: str) -> Iterator[Json]:
        yield from self._thought_ended()
        if not self._pieces:
            yield {"type": "text-start", **_TEXT}
        self._pieces.append(text)
        yield {"type": "text-delta", **_TEXT, "delta": text}

    def _ending(self, payload: Json) -> Iterator[Json]:
        told = {"answer": "".join(self._pieces), "citations": self._citations, **payload}
        marks, units = marks_of(told), Utf16(told["answer"]).units
        sources = {mark.n: self._source(mark) for mark in reversed(marks)}
        for n in sorted(sources):
            yield {"type": "source-document", **_without(sources[n], "type", "sourceType", "id"),
                   "sourceId": sources[n]["id"]}  # fmt: skip
        yield {
            "type": "text-end",
            **_TEXT,
            "citations": [
                {
                    "source": self._source(mark),
                    "startIndex": units(mark.start),
                    "endIndex": units(mark.end),
                    **({} if mark.quote is None else {"citedText": mark.quote}),
                }
                for mark in marks
            ],
        }
        yield {"type": "data-proof", "id": "proof", "data": self._proof(told, marks)}
        yield {"type": "finish-step"}
        yield {"type": "finish", "finishReason": "stop"}

    def _source(self, mark: Mark) -> Json:
        """The part of a citation's source; the SDK passes on ``providerMetadata`` as it is."""
        own: Json = {
            "n": mark.n, "documentId": mark.document_id, "chunkId": mark.chunk_id,
            "url": source_link(self._base, mark),
        }  # fmt: skip
        if mark.quote is not None:
            own |= {"quote": mark.quote, "start": mark.quote_start, "end": mark.quote_end}
        return {
            "type": "source", "sourceType": "document", "id": f"source-{mark.n}",
            "mediaType": _MEDIA, "title": mark.title, "providerMetadata": {"helix": own},
        }  # fmt: skip

    def _proof(self, told: Json, marks: tuple[Mark, ...]) -> Json:
        units = Utf16(told["answer"]).units
        statements = [
            {**statement, "start": units(statement["start"]), "end": units(statement["end"])}
            for statement in told["support"]["statements"]
        ]
        return {
            **_without(told, "answer", "debug"),
            "support": {**told["support"], "statements": statements},
            "marks": [
                {
                    "n": mark.n,
                    "startIndex": units(mark.start),
                    "endIndex": units(mark.end),
                    "url": source_link(self._base, mark),
                    "quote": mark.quote,
                }
                for mark in marks
            ],
        }


def _without(told: Json, *keys: str) -> Json:
    return {key: value for key, value in told.items() if key not in keys}


def _frame(part: Json) -> bytes:
    return b"data: " + json_bytes(part) + b"\n\n"
