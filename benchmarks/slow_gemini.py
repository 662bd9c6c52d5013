"""A slow embedding service on loopback: ``python -m benchmarks.slow_gemini SECONDS``.

It speaks as much of Gemini's API as embedding takes (batchEmbedContents), waits SECONDS before
each answer, for any number of requests side by side, and prints its port first. On stdin's end it
prints how many requests and texts it had, and the most requests at once.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import zlib
from dataclasses import asdict, dataclass

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from helix.domain.contract import EMBEDDING_DIMENSIONS

_KINDS = 1_000  # vectors that differ; each is 32 numbers and zeros, so that hardly any time goes by
_NUMBERS = 32


@dataclass
class Counted:
    """The requests that it was sent."""

    requests: int = 0
    texts: int = 0
    most_at_once: int = 0


class Service:
    """Answers batchEmbedContents after ``seconds``, and counts what it was asked."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._under_way = 0
        self.counted = Counted()
        self._vectors = [_vector(number) for number in range(_KINDS)]

    async def embed(self, request: Request) -> Response:
        """A vector a text, in order."""
        requests = (await request.json())["requests"]
        texts = [each["content"]["parts"][0]["text"] for each in requests]
        self._under_way += 1
        counted = self.counted
        counted.requests, counted.texts = counted.requests + 1, counted.texts + len(texts)
        counted.most_at_once = max(counted.most_at_once, self._under_way)
        await asyncio.sleep(self._seconds)
        self._under_way -= 1
        vectors = (self._vectors[zlib.crc32(text.encode()) % _KINDS] for text in texts)
        body = b'{"embeddings":[' + b",".join(vectors) + b"]}"
        return Response(body, media_type="application/json")


def _vector(number: int) -> bytes:
    random = np.random.default_rng(number)
    values = [0.0] * EMBEDDING_DIMENSIONS
    for place in random.integers(EMBEDDING_DIMENSIONS, size=_NUMBERS):
        values[place] = round(float(random.standard_normal()), 3)
    return json.dumps({"values": values}, separators=(",", ":")).encode()


async def main() -> None:
    """Serve until stdin ends."""
    service = Service(float(sys.argv[1]))
    routes = [Route("/{path:path}", service.embed, methods=["POST"])]
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    print(listener.getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(asdict(service.counted)), flush=True)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(main())
