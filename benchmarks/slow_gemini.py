"""A slow embedding service on loopback: ``python -m benchmarks.slow_gemini SECONDS``.

It speaks as much of Gemini's API as embedding takes (batchEmbedContents), waits SECONDS before
each answer, for any number of requests side by side, and prints its port first. On stdin's end it
prints how many requests and texts it had, and the most requests at once.
"""

from __future__ import annotations

import asyncio
import json
import sys
import zlib
from dataclasses import asdict, dataclass

import numpy as np

from helix.contract import EMBEDDING_DIMENSIONS

_KINDS = 1_000  # vectors that differ; each is 32 numbers and zeros, so that hardly any time goes by
_NUMBERS = 32


@dataclass
class Counted:
    """What it was asked for."""

    requests: int = 0
    texts: int = 0
    most_at_once: int = 0


class Service:
    """One connection a coroutine; HTTP/1.1 as an HTTP client library speaks it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._under_way = 0
        self.counted = Counted()
        self._vectors = [_vector(number) for number in range(_KINDS)]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the connection's requests until it ends."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(_length(head))
                answer = await self._answer(body)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                    b"%d\r\n\r\n%b" % (len(answer), answer)
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()  # one that is cancelled ends with the process

    async def _answer(self, body: bytes) -> bytes:
        texts = [request["content"]["parts"][0]["text"] for request in json.loads(body)["requests"]]
        self._under_way += 1
        counted = self.counted
        counted.requests, counted.texts = counted.requests + 1, counted.texts + len(texts)
        counted.most_at_once = max(counted.most_at_once, self._under_way)
        await asyncio.sleep(self._seconds)
        self._under_way -= 1
        vectors = (self._vectors[zlib.crc32(text.encode()) % _KINDS] for text in texts)
        return b'{"embeddings":[' + b",".join(vectors) + b"]}"


def _vector(number: int) -> bytes:
    random = np.random.default_rng(number)
    values = [0.0] * EMBEDDING_DIMENSIONS
    for place in random.integers(EMBEDDING_DIMENSIONS, size=_NUMBERS):
        values[place] = round(float(random.standard_normal()), 3)
    return json.dumps({"values": values}, separators=(",", ":")).encode()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ValueError("a request without Content-Length")


async def main() -> None:
    """Serve until stdin ends."""
    service = Service(float(sys.argv[1]))
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(json.dumps(asdict(service.counted)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
