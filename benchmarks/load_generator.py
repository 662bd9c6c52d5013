"""The load generator, in a process of its own: ``python -m benchmarks.load_generator``.

Each line on stdin is a round as JSON, with the keys of Round; each line on stdout its result,
``{"cpu": seconds, "streams": [Stream...]}``. A stream is read as bare bytes with two looks at the
clock, by system calls alone, and taken apart only when the whole round has ended: the generator has
the processors of the server, and is not to be what is measured.
"""

from __future__ import annotations

import json
import re
import select
import socket
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, NotRequired, TypedDict

from benchmarks.known_models import deltas

_RECEIVED_BYTES = 65536
_BEGUN_BETWEEN = 8  # what has come back is not to wait for the clock behind a thousand beginnings
_SILENT_SECONDS = 60.0


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
    """An order to the generator: ``streams`` in all, ``concurrent`` at a time.

    With a ``rate`` so many begin a second, however many are under way.
    """

    port: int
    concurrent: int
    streams: int
    first_tag: int
    rate: NotRequired[float]


class _Client:
    """Sends one request on a connection of its own and keeps the bytes that come back."""

    def __init__(self, port: int, tag: str) -> None:
        self.tag = tag
        self.received = bytearray()
        self.first_at = self.ended_at = 0.0
        self._request = (
            f"GET /ask?q={tag}%20what%20is%20known%20of%20it%3F HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        ).encode()
        self._connection = socket.socket()
        self._connection.setblocking(False)
        self.started_at = time.perf_counter()
        self._connection.connect_ex(("127.0.0.1", port))

    def fileno(self) -> int:
        """The descriptor of its connection."""
        return self._connection.fileno()

    def send(self) -> None:
        """Send the request; the connection is there."""
        self._connection.send(self._request)

    def receive(self) -> bool:
        """Take what has come; False once the server has closed the connection, or it broke."""
        try:
            data = self._connection.recv(_RECEIVED_BYTES)
        except OSError:
            data = b""
        if data:
            self.received += data
            if not self.first_at and b"data: " in self.received:
                self.first_at = time.perf_counter()
            return True
        self.ended_at = time.perf_counter()
        self._connection.close()
        return False


class _Player:
    """Plays one round: system calls and two looks at the clock a stream, and nothing else."""

    def __init__(self, wanted: Round) -> None:
        self._port, self._concurrent = wanted["port"], wanted["concurrent"]
        self._rate = wanted.get("rate", 0.0)
        first = wanted["first_tag"]
        self._tags = deque(f"tag{first + number}" for number in range(wanted["streams"]))
        self._poll = select.epoll()
        self._open: dict[int, _Client] = {}
        self._begun = 0
        self.ended: list[_Client] = []

    def play(self) -> None:
        """Begin streams as they are due, a few between two looks at those under way."""
        started = time.perf_counter()
        while self._tags or self._open:
            due = self._due(time.perf_counter() - started)
            for _ in range(min(due, _BEGUN_BETWEEN)):
                self._begin()
            self._look(0.0 if due > _BEGUN_BETWEEN else self._wait(started))

    def _due(self, elapsed: float) -> int:
        """The number of streams to begin now."""
        if self._rate:
            due = int(elapsed * self._rate) + 1 - self._begun
        else:
            due = self._concurrent - len(self._open)
        return min(due, len(self._tags))

    def _wait(self, started: float) -> float:
        """Seconds until the next stream is due by the rate; else as long as one may be silent."""
        if not (self._rate and self._tags):
            return _SILENT_SECONDS
        return max(0.0, started + self._begun / self._rate - time.perf_counter())

    def _begin(self) -> None:
        client = _Client(self._port, self._tags.popleft())
        self._begun += 1
        self._open[client.fileno()] = client
        self._poll.register(client.fileno(), select.EPOLLOUT)

    def _look(self, seconds: float) -> None:
        events = self._poll.poll(seconds)
        if not events and seconds >= _SILENT_SECONDS:
            raise TimeoutError(f"{len(self._open)} streams were silent for {seconds:.0f} s")
        for descriptor, event in events:
            client = self._open[descriptor]
            if event == select.EPOLLOUT:
                client.send()
                self._poll.modify(descriptor, select.EPOLLIN)
            elif not client.receive():  # closed, which the poll has noticed itself
                self.ended.append(self._open.pop(descriptor))


def play(wanted: Round) -> dict[str, Any]:
    """Play one round, and take its streams apart once all have ended."""
    player = _Player(wanted)
    cpu = time.process_time()
    player.play()
    cpu = time.process_time() - cpu
    return {"cpu": cpu, "streams": [asdict(_judged(client)) for client in player.ended]}


def _judged(client: _Client) -> Stream:
    tag, started = client.tag, client.started_at
    head, _, body = bytes(client.received).partition(b"\r\n\r\n")
    total = client.ended_at - started
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
        print(json.dumps(play(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
