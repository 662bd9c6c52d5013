"""A model that calls tools, on loopback: ``python -m benchmarks.agent_model``.

It speaks as much of Gemini's API as streams with tools take, and prints its port first. The
question says what it does: `tag7 steps3` searches three times, a turn each, and then answers;
`silent2` falls silent in its second turn until the client leaves. Each thought is the time at which
it was sent. ``GET /turns`` tells the turns that are over, and forgets them. All times are seconds
of the machine's monotonic clock, which its processes share.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

_TAG = re.compile(r"\btag\d+\b")
_TOLD = re.compile(r"(?P<tag>tag\d+) steps(?P<steps>\d+)(?: silent(?P<silent>\d+))?")


@dataclass(frozen=True)
class Turn:
    """One request: its question's tag, its number from 1, and when it came and was answered.

    ``answers``: it is the one that writes the answer. ``left``: the client closed the stream.
    ``mixed``: it has the tag of another question.
    """

    tag: str
    number: int
    received: float
    ended: float
    answers: bool
    left: bool
    mixed: bool


class Model:
    """Replies by the question alone, and keeps its turns."""

    def __init__(self) -> None:
        self._turns: list[Turn] = []

    async def turns(self, _: Request) -> JSONResponse:
        """The turns since this was asked last."""
        answered, self._turns = self._turns, []
        return JSONResponse([asdict(turn) for turn in answered])

    async def generate(self, request: Request) -> StreamingResponse:
        """A stream of streamGenerateContent."""
        received = time.monotonic()
        body = await request.json()
        return StreamingResponse(self._reply(body, received), media_type="text/event-stream")

    async def _reply(self, body: dict[str, Any], received: float) -> AsyncIterator[str]:
        contents = json.dumps(body["contents"])
        tags = _TOLD.search(contents)
        assert tags, "the question has no tag"
        results = contents.count('"functionResponse"')
        answers = "tools" not in body
        number = int(tags["steps"]) + 2 if answers else results + 1
        left = True
        try:
            for part in _parts(body, tags, results, answers):
                yield _chunk(part)
                if tags["silent"] == str(number):
                    await asyncio.Event().wait()
            yield _chunk(None, "STOP")
            left = False
        finally:
            mixed = set(_TAG.findall(contents)) != {tags["tag"]}
            ended = time.monotonic()
            self._turns.append(Turn(tags["tag"], number, received, ended, answers, left, mixed))


def _parts(
    body: dict[str, Any], tags: re.Match[str], results: int, answers: bool
) -> list[dict[str, Any]]:
    if answers:
        return [{"text": f"{tags['tag']} is known [1]."}]
    thinks = "thinkingConfig" in body.get("generationConfig", {})
    thoughts = [{"text": f"{time.monotonic():.6f}", "thought": True}] if thinks else []
    if results >= int(tags["steps"]):
        return [*thoughts, {"text": "DONE"}]
    question = body["contents"][0]["parts"][0]["text"]
    call = {"name": "search_library", "args": {"query": f"{question} {results}"}}
    return [*thoughts, {"functionCall": call}]


def _chunk(part: dict[str, Any] | None, finish: str = "") -> str:
    candidate: dict[str, Any] = {"index": 0}
    if part:
        candidate["content"] = {"role": "model", "parts": [part]}
    if finish:
        candidate["finishReason"] = finish
    payload = {"candidates": [candidate], "modelVersion": "benchmark", "usageMetadata": {}}
    return f"data: {json.dumps(payload)}\r\n\r\n"


async def main() -> None:
    """Serve until stdin ends."""
    model = Model()
    routes = [
        Route("/turns", model.turns),
        Route("/{path:path}", model.generate, methods=["POST"]),
    ]
    # asyncio sends small writes at once only where a socket names its protocol
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    print(listener.getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


if __name__ == "__main__":
    asyncio.run(main())
