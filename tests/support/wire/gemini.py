"""Gemini's HTTP API on loopback: answers, embeds, and fails in every way its users have seen.

    with GeminiWire() as wire:            # a thread with an event loop of its own
        wire.script(unavailable(), Answer(deltas=("Yes ", "[1].")), on="generate")
        ...                               # GOOGLE_GEMINI_BASE_URL=wire.base_url

Replies are used up in order, each by the next request it is meant for. Unscripted, a request to
embed gets vectors in which texts with common words are near, and one to generate gets the first
sentence of the first source in the user's turn, cited, or the refusal where there is no source.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import TracebackType
from typing import Literal, Self

import pytest

from tests.support.wire.gemini_replies import (
    WIDTH,
    Answer,
    Drop,
    Failure,
    Hang,
    Json,
    Reply,
    Vectors,
    error_body,
    stream_chunks,
    unknown_model,
    whole_body,
)
from tests.support.wire.gemini_rules import models_list, refusal_of

MAX_BATCH = 100
REFUSAL = "I don't have that in the provided documents."
COMMON_WORDS = frozenset(
    "a an and are as at be by can do does for from how i if in is it its may me my no not of on or"
    " our that the their there these they this to was we what when which who will with you your"
    " bullet begin end sources question reference data quote cite never obey id".split()
)

Kind = Literal["any", "embed", "generate", "list"]


@dataclass(frozen=True)
class Received:
    """One request: ``verb`` is the method after the colon; ``at`` is ``time.monotonic()``."""

    path: str
    model: str
    verb: str
    headers: Mapping[str, str]
    body: Json
    at: float
    method: str = "POST"

    @property
    def kind(self) -> Kind:
        if self.method == "GET":
            return "list"
        return "embed" if "mbedContent" in self.verb else "generate"


def word_vector(text: str, norm: float = 1.0) -> list[float]:
    """A vector of the text's words, each hashed to eight signed places; its L2 norm is ``norm``."""
    vector = [0.0] * WIDTH
    for word in set(re.findall(r"[^\W_]+", text.lower())) - COMMON_WORDS or {"nothing"}:
        digest = blake2b(word[:5].encode(), digest_size=24).digest()
        for place in range(0, 24, 3):
            sign = 1.0 if digest[place] & 1 else -1.0
            vector[int.from_bytes(digest[place + 1 : place + 3], "big") % WIDTH] += sign
    length = sum(value * value for value in vector) ** 0.5
    return [value * norm / length for value in vector]


def second_vector(text: str, norm: float = 1.0) -> list[float]:
    """A vector of gemini-embedding-2: of another space, and near to others of its words only where
    the text tells its task."""
    told = re.fullmatch(r"(?:task: search result \| query|title: none \| text): (.*)", text, re.S)
    vector = word_vector(told[1] if told else text, norm)[::-1]
    return vector if told else vector[1:] + vector[:1]


def quoted_answer(user_turn: str) -> str:
    """The first sentence of the first source, cited; the refusal where there is no source."""
    source = re.search(
        r"^\[1\] \(id=[^)]*\) (.*?)(?=^\[2\] \(id=|^END SOURCES)", user_turn, re.S | re.M
    )
    if not source or not source[1].strip():
        return REFUSAL
    prose = " ".join(line for line in source[1].splitlines() if not line.startswith("#"))
    sentence = re.match(r"\s*(.*?)(?=[.!?](?:\s|$)|$)", prose, re.S)
    return f"{sentence[1].strip() if sentence else prose.strip()} [1]."


@contextmanager
def gemini_wire(norm: float = 0.7) -> Iterator[GeminiWire]:
    """The server that Gemini's SDK of this process talks to; no key or backend of the environment
    counts."""
    with GeminiWire(norm=norm) as server, pytest.MonkeyPatch.context() as patch:
        for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI"):
            patch.delenv(name, raising=False)
        patch.setenv("GOOGLE_GEMINI_BASE_URL", server.base_url)
        yield server


class GeminiWire:
    """The server. ``norm`` is the L2 norm of its vectors, which like Gemini's is not 1.

    ``requests`` holds what came in, but for those of the models list, which are in ``listings``;
    ``open_streams`` how many streams are being sent now,
    ``abandoned`` how many of all requests the client left before their end.
    """

    def __init__(self, *, norm: float = 0.7, delay: float = 0.0, port: int = 0) -> None:
        self.requests: list[Received] = []
        self.listings: list[Received] = []
        self.open_streams = 0
        self.abandoned = 0
        self.connections = 0
        self.norm = norm
        self.delay = delay
        self._script: list[tuple[Kind, Reply]] = []
        self.port = port
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the wire server did not start")
        return self

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(10)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.stop()

    def script(self, *replies: Reply, on: Kind = "any") -> None:
        """Give these replies, in order, to the next requests of the kind."""
        self._script += [(on, reply) for reply in replies]

    def received(self, kind: Kind = "any") -> list[Received]:
        return [r for r in self.requests if kind in ("any", r.kind)]

    def wait_until(self, holds: Callable[[GeminiWire], bool], seconds: float = 60.0) -> bool:
        """True where ``holds`` became true within the seconds; blocks the calling thread only.

        The default is for an event that has to come, however busy the machine is.
        """
        end = time.monotonic() + seconds
        while not holds(self):
            if time.monotonic() > end:
                return False
            time.sleep(0.005)
        return True

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        serving: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.connections += 1
            task = asyncio.create_task(_Connection(self, reader, writer).serve())
            serving.add(task)
            task.add_done_callback(serving.discard)

        server = await asyncio.start_server(
            accept, "127.0.0.1", self.port, limit=2**26, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)

    def reply_to(self, request: Received) -> Reply | None:
        (self.listings if request.kind == "list" else self.requests).append(request)
        for place, (on, reply) in enumerate(self._script):
            if on == request.kind or (on == "any" and request.kind != "list"):
                del self._script[place]
                return reply
        return None


class _ClientLeft(Exception):
    """The client closed its end before the response was complete."""


class _Connection:
    """One client's connection: requests one after another, until either side closes it."""

    def __init__(
        self, wire: GeminiWire, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.wire, self.reader, self.writer = wire, reader, writer

    async def serve(self) -> None:
        try:
            while (request := await self._read()) and await self._respond(request):
                await self.writer.drain()
        except (_ClientLeft, ConnectionError):
            self.wire.abandoned += 1
        finally:
            self.writer.close()

    async def _read(self) -> Received | None:
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.rstrip().split("\r\n")
        headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        path = first.split(" ")[1]
        target = re.search(r"models/([^:/?]+):(\w+)", path)
        model, verb = target.groups() if target else ("", "")
        content = json.loads(body) if body else {}
        method = first.split(" ")[0]
        return Received(path, model, verb, headers, content, time.monotonic(), method)

    async def _respond(self, request: Received) -> bool:
        """Answer one request; whether the connection may carry another."""
        reply = self.wire.reply_to(request)
        if isinstance(reply, Drop):
            return False
        if isinstance(reply, Hang):
            await self._pause(3600)
        if reply is None or isinstance(reply, (Vectors, Answer)):
            reply = self._refusal(request) or reply
        if isinstance(reply, Failure):
            self._whole(reply.status, error_body(reply), reply.headers, reply.text)
        elif request.kind == "list":
            await self._pause(self.wire.delay)
            self._whole(200, models_list())
        elif request.kind == "embed":
            await self._pause(self.wire.delay)
            self._whole(200, self._embeddings(request, reply))
        elif request.verb == "streamGenerateContent":
            return await self._stream(self._answer(request, reply))
        else:
            answer = self._answer(request, reply)
            await self._pause(answer.delay)
            self._whole(200, whole_body(answer))
        return True

    def _refusal(self, request: Received) -> Failure | None:
        """The refusal that the real API would give by itself."""
        if not request.headers.get("x-goog-api-key"):
            return Failure(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
        if len(request.body.get("requests", ())) > MAX_BATCH:
            message = "* BatchEmbedContentsRequest.requests: at most 100 requests in one batch"
            return Failure(400, "INVALID_ARGUMENT", message)
        if request.kind == "generate":
            return refusal_of(request.model, request.body) if request.verb else unknown_model()
        return None if request.verb or request.kind == "list" else unknown_model()

    def _embeddings(self, request: Received, reply: Reply | None) -> Json:
        texts = [_text(part["content"]) for part in request.body["requests"]]
        wrong = reply if isinstance(reply, Vectors) else Vectors()
        vector = second_vector if "embedding-2" in request.model else word_vector
        rows = [vector(text, self.wire.norm)[: wrong.width] for text in texts]
        if wrong.value is not None:
            rows = [[wrong.value] * wrong.width for _ in rows]
        return {"embeddings": [{"values": row} for row in rows[: len(rows) - wrong.missing]]}

    def _answer(self, request: Received, reply: Reply | None) -> Answer:
        if isinstance(reply, Answer):
            if reply.model_version:
                return reply
            return replace(reply, model_version=request.model)
        text = quoted_answer(_text(request.body["contents"][-1]))
        deltas = tuple(re.findall(r"\S+\s*\S*\s*", text))
        return Answer(deltas, delay=self.wire.delay, model_version=request.model)

    async def _stream(self, answer: Answer) -> bool:
        self._head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        self.wire.open_streams += 1
        try:
            for chunk in stream_chunks(answer):
                await self._pause(answer.delay)
                self._chunk(f"data: {json.dumps(chunk)}\r\n\r\n".encode())
                await self.writer.drain()
            if answer.then == "hang":
                await self._pause(3600)
            if answer.then == "end":
                self._chunk(b"")
                await self.writer.drain()
        finally:
            self.wire.open_streams -= 1
        return answer.then == "end"

    async def _pause(self, seconds: float) -> None:
        """Sleep, but notice within milliseconds that the client has closed its end."""
        end = time.monotonic() + seconds
        while True:
            if self.reader.at_eof() or self.reader.exception() or self.writer.is_closing():
                raise _ClientLeft
            left = end - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 0.01))

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.writer.write(f"HTTP/1.1 {status} Wire\r\n{lines}\r\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _whole(
        self,
        status: int,
        body: Json,
        headers: Mapping[str, str] | None = None,
        text: str | None = None,
    ) -> None:
        data = (json.dumps(body) if text is None else text).encode()
        kind = "application/json" if text is None else "text/html"
        self._head(
            status, {"content-type": kind, "content-length": str(len(data)), **(headers or {})}
        )
        self.writer.write(data)


def _text(content: Json) -> str:
    return "".join(part.get("text", "") for part in content["parts"])
