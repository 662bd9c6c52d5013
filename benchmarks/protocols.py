"""Protocols: what each adapter adds to GET /ask, to its first frame and to each frame.

One application with the offline embedder and a model of many deltas, in this process; each question
is asked through every route in turn, so all of them bear the same load. MCP tells an answer in one
piece: it is compared with POST /v1/query. Then a thousand calls of its search, whose memory is
looked at after the first hundred and at the end.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any
from urllib.parse import quote

import httpx
import psutil
from fastapi import FastAPI
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ChatResponseAsyncGen
from llama_index.core.llms import MockLLM

from benchmarks import corpus
from benchmarks.corpus import fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, percentiles
from benchmarks.receipts import asgi_client
from helix.app import create_app
from helix.providers.base import LanguageModel
from helix.settings import load_settings

FIRST_MS, FRAME_RATIO, GROWN_MB = 5, 1.1, 16
_DELTAS = 200
_TEXTS, _QUESTIONS, _QUICK_QUESTIONS = 200, 100, 10
_CALLS, _QUICK_CALLS, _WARM = 1000, 50, 100
_ACCEPTED = {"Accept": "application/json, text/event-stream"}
_ASK, _QUERY, _MCP = "GET /ask", "POST /v1/query, in one piece", "POST /mcp, ask"
Sent = tuple[str, str, bytes]
"""Method, path with query, and body."""


class _Words(MockLLM):
    """Says so many words, and cites the first source."""

    async def astream_chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponseAsyncGen:
        async def deltas() -> AsyncGenerator[ChatResponse, None]:
            for delta in [*(f"word{n} " for n in range(_DELTAS - 1)), "[1]"]:
                yield ChatResponse(message=ChatMessage(role="assistant"), delta=delta)

        return deltas()


def _requests(question: str) -> dict[str, Sent]:
    messages = [{"role": "user", "content": question}]
    parts = [{"role": "user", "parts": [{"type": "text", "text": question}]}]
    bodies = {
        "POST /v1/chat/completions": {"model": "helix", "messages": messages, "stream": True},
        "POST /v1/responses": {"model": "helix", "input": question, "stream": True},
        "POST /v1/ui/chat": {"id": "benchmark", "messages": parts},
    }
    requests = {
        name: ("POST", name[5:], json.dumps(body).encode()) for name, body in bodies.items()
    }
    return {_ASK: ("GET", f"/ask?q={quote(question)}", b""), **requests}


async def _streamed(
    application: FastAPI, state: dict[str, Any], sent: Sent
) -> tuple[float, float, int]:
    """Seconds to the first frame, processor seconds from there to the end, and the frames."""
    method, target, body = sent
    path, _, query = target.partition("?")
    times, read = list[float](), False

    async def receive() -> dict[str, Any]:
        nonlocal read
        if read:
            await asyncio.Event().wait()  # the client stays
        read = True
        return {"type": "http.request", "body": body}

    cpu = [0.0]

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body" and message.get("body"):
            if not times:
                cpu[0] = time.process_time()
            times.append(time.perf_counter())

    started = time.perf_counter()
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "scheme": "http",
        "headers": [(b"host", b"localhost"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "state": dict(state),
    }  # fmt: skip
    await application(scope, receive, send)
    return times[0] - started, time.process_time() - cpu[0], len(times)


async def run(options: Options, report: Report) -> None:
    """Fill, ask in turn, call in a row."""
    texts = corpus.load_or_generate(options.data, _TEXTS).texts
    count = _QUICK_QUESTIONS if options.quick else _QUESTIONS
    questions = [f"What is known of {' '.join(text.split()[:12])}?" for text in texts[:count]]
    with server() as postgres, postgres.database() as url:
        await fill_embedded(url, texts)
        settings = load_settings(
            database_url=url, llm="offline", embedder="offline", workers=0, log_level="error"
        )
        model = LanguageModel(_Words(max_tokens=None), "benchmark:words")
        application = create_app(settings, llm=model)
        async with application.router.lifespan_context(application) as state:
            measurements: dict[str, list[tuple[float, float, int]]] = {
                name: [] for name in _requests("")
            }
            for number, question in enumerate([*questions[:5], *questions]):
                order = list(_requests(question).items())
                for name, sent in order if number % 2 else reversed(order):
                    measured = await _streamed(application, dict(state or {}), sent)
                    if number >= 5:  # the first are warm-up
                        measurements[name].append(measured)
        async with asgi_client(create_app(settings, llm=model)) as client:
            whole = await _in_one_piece(client, questions)
            growth = await _calls(client, questions, _QUICK_CALLS if options.quick else _CALLS)
    _report(report, measurements)
    _report_mcp(report, whole, growth)


async def _in_one_piece(
    client: httpx.AsyncClient, questions: Sequence[str]
) -> dict[str, list[float]]:
    """Seconds until an answer is there, by POST /v1/query and by MCP in turn."""
    measurements: dict[str, list[float]] = {_QUERY: [], _MCP: []}
    for number, question in enumerate([*questions[:5], *questions]):
        call = {"name": "ask", "arguments": {"question": question}}
        requests = [
            (_QUERY, "/v1/query", {"question": question}),
            (_MCP, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        ]
        for name, path, body in requests if number % 2 else reversed(requests):
            started = time.perf_counter()
            response = await client.post(path, json=body, headers=_ACCEPTED)
            seconds = time.perf_counter() - started
            if response.status_code != 200 or "word198" not in response.text:
                raise RuntimeError(f"{name} failed: {response.status_code} {response.text[:200]}")
            if number >= 5:  # the first are warm-up
                measurements[name].append(seconds)
    return measurements


async def _calls(client: httpx.AsyncClient, questions: Sequence[str], count: int) -> float:
    """MB by which this process grew from the hundredth call on."""
    process, before = psutil.Process(), 0
    for number in range(count + _WARM):
        if number == _WARM:
            before = process.memory_info().rss
        call = {"name": "search", "arguments": {"query": questions[number % len(questions)]}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
        response = await client.post("/mcp", json=body, headers=_ACCEPTED)
        if response.status_code != 200 or '"results"' not in response.text:
            raise RuntimeError(
                f"a call of MCP failed: {response.status_code} {response.text[:200]}"
            )
    return float((process.memory_info().rss - before) / 2**20)


def _report(report: Report, measurements: dict[str, list[tuple[float, float, int]]]) -> None:
    first = {name: [one[0] for one in found] for name, found in measurements.items()}
    # of the same answer: an adapter may use more frames for it, and pays for them
    frame = {name: [one[1] / _DELTAS for one in found] for name, found in measurements.items()}
    report.table(
        "protocols: to the first frame, and processor time for each delta behind it",
        ["route", "first frame p50 ms", "p99 ms", "processor time a delta, p50 ms"],
        [[name, *percentiles(first[name]), ms(p50(frame[name]))] for name in measurements],
    )
    for name in measurements:
        if name == _ASK:
            continue
        added = [b - a for a, b in zip(first[_ASK], first[name], strict=True)]
        report.at_most(f"{name}, added to the first frame at p50, ms", p50(added) * 1000, FIRST_MS)
        ratios = [b / a for a, b in zip(frame[_ASK], frame[name], strict=True)]
        report.at_most(f"{name}, processor time a delta / {_ASK}", p50(ratios), FRAME_RATIO)


def _report_mcp(report: Report, whole: dict[str, list[float]], growth: float) -> None:
    report.table(
        "protocols: to an answer in one piece",
        ["route", "p50 ms", "p99 ms"],
        [[name, *percentiles(seconds)] for name, seconds in whole.items()],
    )
    added = [b - a for a, b in zip(whole[_QUERY], whole[_MCP], strict=True)]
    report.at_most(f"{_MCP}, added to {_QUERY} at p50, ms", p50(added) * 1000, FIRST_MS)
    report.at_most("memory after the hundredth call of MCP, MB", growth, GROWN_MB)


if __name__ == "__main__":
    main({"protocols": run})
