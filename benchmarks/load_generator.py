"""The load generator, in a process of its own: ``python -m benchmarks.load_generator``.

Each line on stdin is a round as JSON, with the keys of Round; each line on stdout its result,
``{"cpu": seconds, "streams": [Stream...]}``. A stream is read as bare bytes with two looks at the
clock, and taken apart only when the whole round has ended, so that the generator is not what is
measured.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict, cast

import uvloop

from benchmarks.known_models import deltas


@dataclass(frozen=True)
class Stream:
    """One stream: seconds from before its connection to first frame and to its end.

    ``spent`` is what the server says its embedding, search and model took of ``first``;
    ``problem`` is what is wrong with the stream, empty if nothing.
    """

    first: float
    total: float
    spent: float
    problem: str


class Round(TypedDict):
    """What to do: ``streams`` in all, ``concurrent`` at a time.

    With a ``rate`` so many begin a second, however many are under way.
    """

    port: int
    concurrent: int
    streams: int
    first_tag: int
    rate: NotRequired[float]


class _Client(asyncio.Protocol):
    """Sends one request and keeps the bytes that come back."""

    def __init__(self, request: bytes, ended: asyncio.Future[None]) -> None:
        self.received = bytearray()
        self.first_at = 0.0
        self._request = request
        self._ended = ended

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transport is no subclass of asyncio.Transport
        cast(asyncio.Transport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        self.received += data
        if not self.first_at and b"data: " in self.received:
            self.first_at = time.perf_counter()

    def connection_lost(self, _: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


async def _one(port: int, tag: str) -> tuple[_Client, float, float]:
    loop = asyncio.get_running_loop()
    request = (
        f"GET /ask?q={tag}%20what%20is%20known%20of%20it%3F HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    )
    ended = loop.create_future()
    started = time.perf_counter()
    _, client = await loop.create_connection(
        lambda: _Client(request.encode(), ended), "127.0.0.1", port
    )
    await asyncio.wait_for(ended, timeout=60)
    return client, started, time.perf_counter()


async def play(wanted: Round) -> dict[str, Any]:
    """Play one round: ``concurrent`` workers that each ask one question after another."""
    tags = [f"tag{wanted['first_tag'] + number}" for number in range(wanted["streams"])]
    waiting = iter(tags)
    played: list[tuple[str, _Client, float, float]] = []

    async def ask(tag: str) -> None:
        one = await _one(wanted["port"], tag)
        played.append((tag, *one))

    async def work() -> None:
        for tag in waiting:
            await ask(tag)

    async def at_rate(rate: float) -> None:
        started = time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number, tag in enumerate(tags):
                await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
                group.create_task(ask(tag))

    cpu = time.process_time()
    if rate := wanted.get("rate"):
        await at_rate(rate)
    else:
        await asyncio.gather(*(work() for _ in range(wanted["concurrent"])))
    cpu = time.process_time() - cpu
    return {"cpu": cpu, "streams": [asdict(_judged(*one)) for one in played]}


def _judged(tag: str, client: _Client, started: float, ended: float) -> Stream:
    head, _, body = bytes(client.received).partition(b"\r\n\r\n")
    total = ended - started
    if not head.startswith(b"HTTP/1.1 200"):
        return Stream(total, total, 0.0, f"status {head[:40]!r}")
    answer, problem = _read(_dechunked(body).decode())
    told = re.match(r"(tag\d+) (\d+) ([\d.]+)\n", answer)
    problem = problem or _mixed(tag, answer, told)
    if not problem and told and f'"n":1,"chunk_id":{told[2]},'.encode() not in client.received:
        problem = "the citation is not of this stream's source"
    return Stream(client.first_at - started, total, float(told[3]) if told else 0.0, problem)


def _dechunked(body: bytes) -> bytes:
    parts = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size or b"0", 16)
        parts.append(body[:length])
        body = body[length + 2 :]
    return b"".join(parts)


def _read(text: str) -> tuple[str, str]:
    """The answer of a stream, and what is wrong with its frames."""
    frames = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    if not frames or not frames[-1].startswith("event: citations\ndata: ["):
        return "", "does not end with its citations frame"
    tokens = frames[:-1]
    if not all(frame.startswith('data: {"t":') for frame in tokens):
        return "", "has a frame that is no token"
    return "".join(json.loads(frame[6:])["t"] for frame in tokens), ""


def _mixed(tag: str, answer: str, told: re.Match[str] | None) -> str:
    if told is None or told[1] != tag:
        return f"does not begin with {tag}"
    if answer[told.end() :] != "".join(deltas(tag)):
        return f"is not the answer to {tag}"
    return ""


def main() -> None:
    """Play rounds until stdin ends."""
    for line in sys.stdin:
        print(json.dumps(uvloop.run(play(json.loads(line)))), flush=True)


if __name__ == "__main__":
    main()
