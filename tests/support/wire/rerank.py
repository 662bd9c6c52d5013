"""Cohere's and Voyage's rerank endpoints on loopback, and the ways in which they fail.

    with RerankWire() as wire:             # a thread of its own
        wire.script(Failure(429), Scores((0.1, 0.9)))
        ...                                # base_url=wire.base_url, or CO_API_URL with Cohere

Replies are used up in order, one a request. Unscripted, a text's score is the share of the
question's words that it has. As with the real ones, results come best first and cut at ``top_n``
(Cohere) or ``top_k`` (Voyage).
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, Self

from tests.support.scripted_server import LoopbackServer

Json = dict[str, Any]


@dataclass(frozen=True)
class Scores:
    """These scores for the texts in their order; ``repeat`` sends the first result twice."""

    values: Sequence[float | str | None]
    repeat: bool = False


@dataclass(frozen=True)
class Failure:
    """An error status, with what the vendors say about it; ``retry_after`` is in seconds."""

    status: int
    retry_after: int | None = None


@dataclass(frozen=True)
class Hang:
    """No byte of a response until the wire is let go."""


@dataclass(frozen=True)
class Text:
    """Status 200 and this body."""

    body: str


Reply = Scores | Failure | Hang | Text


@dataclass(frozen=True)
class Received:
    """One request; ``vendor`` is told by its path."""

    path: str
    key: str
    body: Json

    @property
    def vendor(self) -> str:
        return "cohere" if self.path == "/v2/rerank" else "voyage"

    @property
    def texts(self) -> list[str]:
        return list(self.body["documents"])


class RerankWire:
    """The server. ``requests`` is what came in; ``most_at_once`` of it were under way together."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.under_way = 0
        self.most_at_once = 0
        self.released = threading.Event()
        self._script: list[Reply] = []
        self._lock = threading.Lock()
        self._server = _Server(self)
        # 5 ms: the default half second is how long a test would wait for the server's end
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    def script(self, *replies: Reply) -> None:
        """Give these replies, in order, to the next requests."""
        self._script += replies

    def began(self, request: Received) -> Reply | None:
        with self._lock:
            self.requests.append(request)
            self.under_way += 1
            self.most_at_once = max(self.most_at_once, self.under_way)
            return self._script.pop(0) if self._script else None

    def ended(self) -> None:
        with self._lock:
            self.under_way -= 1


def word_share(question: str, text: str) -> float:
    """The share of the question's words that the text has, 0 to 1."""
    asked = set(re.findall(r"\w+", question.lower()))
    return len(asked & set(re.findall(r"\w+", text.lower()))) / max(len(asked), 1)


class _Server(LoopbackServer):
    daemon_threads = True

    def __init__(self, wire: RerankWire) -> None:
        self.wire = wire
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        length = int(self.headers["content-length"])
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        request = Received(self.path, key, json.loads(self.rfile.read(length)))
        reply = self.server.wire.began(request)
        if isinstance(reply, Hang):
            self.server.wire.released.wait(30)
            self.close_connection = True
        self.server.wire.ended()
        if not isinstance(reply, Hang):
            self._answer(request, reply)

    def _answer(self, request: Received, reply: Reply | None) -> None:
        if request.path not in ("/v2/rerank", "/rerank"):
            reply = Failure(404)
        if isinstance(reply, Failure):
            about = "detail" if request.vendor == "voyage" else "message"
            self._send(reply.status, json.dumps({about: "told to fail"}), reply.retry_after)
        elif isinstance(reply, Text):
            self._send(200, reply.body)
        else:
            self._send(200, json.dumps(_results(request, reply)))

    def _send(self, status: int, body: str, retry_after: int | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if retry_after is not None:
            self.send_header("retry-after", str(retry_after))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def _results(request: Received, reply: Reply | None) -> Json:
    values: Sequence[Any] = [word_share(request.body["query"], text) for text in request.texts]
    if isinstance(reply, Scores):
        values = reply.values
    best = sorted(enumerate(values), key=lambda pair: -_rank(pair[1]))
    limit = request.body.get("top_n" if request.vendor == "cohere" else "top_k")
    rows = [{"index": place, "relevance_score": value} for place, value in best[:limit]]
    if isinstance(reply, Scores) and reply.repeat:
        rows[-1] = rows[0]
    if request.vendor == "cohere":
        billed = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
        return {"id": "07734bd2-2473-4f07-94e1-0d9f0e6843cf", "results": rows, "meta": billed}
    usage = {"total_tokens": 26}
    return {"object": "list", "data": rows, "model": request.body["model"], "usage": usage}


def _rank(value: object) -> float:
    return value if isinstance(value, float) and value == value else 0.0
