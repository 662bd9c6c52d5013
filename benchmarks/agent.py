"""The agent: what its loop adds to a model and tools, how soon it is seen, how soon it stops.

Helix with the offline embedder, over HTTP, and in a process of its own a model at Gemini's wire
that calls tools at once (agent_model.py). Its clock is this process's. What passes between a turn's
last byte and the next turn's first, less the tool's own seconds, is the loop's and the model's
client's. The client alone, asked turn after turn without a loop, is the floor.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psutil
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool

from benchmarks import corpus
from benchmarks.corpus import fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, p99
from benchmarks.processes import LineProcess, stopping
from benchmarks.server import in_thread
from helix.agent.tools import TOOLS
from helix.app import create_app
from helix.providers.factories import build_llm
from helix.settings import Settings, load_settings
from helix.settings.prompts import prompt

STEP_MS, FIRST_MS, STOP_MS, GROWTH = 10, 100, 300, 1.05
STEPS, AT_ONCE = 5, 100
QUESTIONS, QUICK_QUESTIONS = 60, 6
ROUNDS, QUICK_ROUNDS = 8, 2
TEXTS = 200
_TAG = re.compile(r"\btag\d+\b")


@dataclass
class ObservedAnswer:
    """A client's record of one answer: its events, and the clock's seconds at the first thought.

    ``sent`` is when the model had sent that thought; ``left`` when the client closed the stream.
    """

    events: list[tuple[str, Any]] = field(default_factory=list)
    seen: float = 0.0
    sent: float = 0.0
    left: float = 0.0

    def named(self, name: str) -> list[Any]:
        """The data of the events of a name."""
        return [data for found, data in self.events if found == name]


@dataclass(frozen=True)
class Clients:
    """A client of Helix, one of the model, and the settings of Helix."""

    helix: httpx.AsyncClient
    model: httpx.AsyncClient
    settings: Settings

    async def ask(self, question: str, leave: bool = False) -> ObservedAnswer:
        """One answer by the agent; ``leave``: the stream is closed once the model falls silent."""
        answer, name = ObservedAnswer(), ""
        body = {"question": question, "mode": "agent", "stream": True}
        silent = int(found[1]) if (found := re.search(r"silent(\d+)", question)) else 0
        async with self.helix.stream("POST", "/v1/query", json=body) as response:
            if response.status_code != 200:
                raise RuntimeError(f"{response.status_code} {await response.aread()!r}")
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    answer.events.append((name, json.loads(line[6:])))
                    if name == "thinking" and not answer.seen:
                        answer.seen = time.monotonic()
                        answer.sent = float(answer.events[-1][1]["t"])
                if leave and len(answer.named("thinking")) + len(answer.named("token")) >= silent:
                    break
            answer.left = time.monotonic()
        return answer

    async def turns(self) -> list[dict[str, Any]]:
        """The model's turns since this was asked last."""
        turns: list[dict[str, Any]] = (await self.model.get("/turns")).json()
        return turns


async def run(options: Options, report: Report) -> None:
    """Fill; the steps of single answers, then stopped ones, then many at once."""
    texts = corpus.load_or_generate(options.data, TEXTS).texts
    with (
        tempfile.TemporaryDirectory(prefix="helix-bench-") as folder,
        server() as postgres,
        postgres.database() as url,
    ):
        await fill_embedded(url, texts)
        child = LineProcess("benchmarks.agent_model", Path(folder) / "model.log")
        with stopping(child.child), _served(url, int(child.hear())) as served:
            helix, model, settings = served
            limits = httpx.Limits(max_connections=2 * AT_ONCE, max_keepalive_connections=0)
            async with (
                httpx.AsyncClient(base_url=helix, timeout=120, limits=limits) as one,
                httpx.AsyncClient(base_url=model, timeout=30) as other,
            ):
                clients = Clients(one, other, settings)
                count = QUICK_QUESTIONS if options.quick else QUESTIONS
                await _steps(clients, texts, count, report)
                await _stopped(clients, texts, count, report)
                await _at_once(clients, texts, QUICK_ROUNDS if options.quick else ROUNDS, report)


@contextmanager
def _served(url: str, port: int) -> Iterator[tuple[str, str, Settings]]:
    """The addresses of Helix and of the model, and the settings of Helix."""
    model = f"http://127.0.0.1:{port}"
    before = os.environ.get("GOOGLE_GEMINI_BASE_URL")
    os.environ["GOOGLE_GEMINI_BASE_URL"] = model
    try:
        settings = load_settings(
            database_url=url, llm="gemini", embedder="offline", gemini_api_key="benchmark",
            workers=0, log_level="error", answers=AT_ONCE, answers_waiting=AT_ONCE,
        )  # fmt: skip
        with in_thread(create_app(settings)) as helix:
            yield helix, model, settings
    finally:
        if before is None:
            del os.environ["GOOGLE_GEMINI_BASE_URL"]
        else:
            os.environ["GOOGLE_GEMINI_BASE_URL"] = before


def _question(tag: int, texts: Sequence[str], steps: int, silent: int = 0) -> str:
    words = " ".join(texts[tag % len(texts)].split()[:12])
    tags = f"tag{tag} steps{steps}{f' silent{silent}' if silent else ''}"
    return f"Compare {tags}: what is known of {words}?"


async def _steps(clients: Clients, texts: Sequence[str], count: int, report: Report) -> None:
    """Measure the time between the turns of one answer after another, without that of the tools."""
    added, first, before, behind = list[float](), list[float](), list[float](), list[float]()
    for tag in range(-5, count):
        began = time.monotonic()
        answer = await clients.ask(_question(tag + 5, texts, STEPS))
        turns = sorted(await clients.turns(), key=lambda turn: turn["number"])
        calls = answer.named("done")[0]["agent"]["calls"]
        if len(turns) != STEPS + 2 or len(calls) != STEPS:
            raise RuntimeError(f"{len(turns)} turns, {len(calls)} calls")
        if tag < 0:  # the first are warm-up
            continue
        gaps = [later["received"] - turn["ended"] for turn, later in pairwise(turns)]
        added += [gap - call["seconds"] for gap, call in zip(gaps, calls, strict=False)]
        before.append(turns[0]["received"] - began)
        behind.append(gaps[-1])
        first.append(answer.seen - answer.sent)
    client = await _client_alone(clients, _question(0, texts, STEPS), count * STEPS)
    rows = {
        "a step, beside the model's service and the tool": added,
        "of it the model's client, asked without a loop": client,
        "first visible event after the model's first byte": first,
        "from the question to the model's first turn": before,
        "from the last turn to the turn that answers (gate, prompt)": behind,
    }
    report.table(
        f"agent: {count} answers of {STEPS} steps, one after another",
        ["what", "p50 ms", "p99 ms"],
        [[name, ms(p50(seconds)), ms(p99(seconds))] for name, seconds in rows.items()],
    )
    loop = (p50(added) - p50(client)) * 1000
    report.at_most("the loop adds to a step, p50 ms", loop, STEP_MS)
    report.at_most("first visible event, p50 ms", p50(first) * 1000, FIRST_MS)


async def _client_alone(clients: Clients, question: str, count: int) -> list[float]:
    """The seconds between turns that the model's client asks one after another.

    Each is the first turn of an answer: those that follow carry more, so that this is a floor.
    """

    async def uncalled() -> str:
        raise NotImplementedError

    offered = [tool for tool in TOOLS if tool.name != "fetch_page"]
    tools = [
        FunctionTool.from_defaults(
            async_fn=uncalled, name=tool.name, description=prompt(f"tool_{tool.name}"),
            fn_schema=tool.arguments,
        )
        for tool in offered
    ]  # fmt: skip
    history = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt("agent_gathering")),
        ChatMessage(role=MessageRole.USER, content=question),
    ]
    llm = build_llm(clients.settings)
    assert isinstance(llm.model, FunctionCallingLLM)
    for _ in range(count):
        async for _ in await llm.model.astream_chat_with_tools(tools, chat_history=history):
            pass
    await llm.aclose()
    turns = sorted(await clients.turns(), key=lambda turn: float(turn["received"]))
    return [later["received"] - turn["ended"] for turn, later in pairwise(turns)][5:]


async def _stopped(clients: Clients, texts: Sequence[str], count: int, report: Report) -> None:
    """Measure the time from the client's leaving to the end of the model's stream, at each turn."""
    seconds_by_turn: dict[int, list[float]] = {1: [], 2: [], 3: []}
    for number in range(max(count // 3, 2)):
        for silent, seconds in seconds_by_turn.items():
            answer = await clients.ask(_question(number, texts, 1, silent), leave=True)
            turn = await _left(clients)
            seconds.append(turn["ended"] - answer.left)
    names = {1: "calling a tool", 2: "ending the gathering", 3: "writing the answer"}
    report.table(
        "agent: from the client's leaving to the end of the model's stream",
        ["the model is", "p50 ms", "longest ms"],
        [
            [names[at], ms(p50(seconds)), ms(max(seconds))]
            for at, seconds in seconds_by_turn.items()
        ],
    )
    longest = max(max(seconds) for seconds in seconds_by_turn.values())
    report.at_most("cancellation, longest ms", longest * 1000, STOP_MS)


async def _left(clients: Clients) -> dict[str, Any]:
    """The turn that was left, once the model knows of it."""
    for _ in range(1000):
        for turn in await clients.turns():
            if turn["left"]:
                return turn
        await asyncio.sleep(0.01)
    raise RuntimeError("a model's stream was not closed within ten seconds")


async def _at_once(clients: Clients, texts: Sequence[str], rounds: int, report: Report) -> None:
    """Many answers at once, again and again; each sees its own question alone."""
    process, resident, mixed, seconds = psutil.Process(), list[float](), 0, list[float]()
    for number in range(rounds + 1):
        tags = range(number * AT_ONCE, (number + 1) * AT_ONCE)
        began = time.monotonic()
        answers = await asyncio.gather(*(clients.ask(_question(tag, texts, 2)) for tag in tags))
        seconds.append(time.monotonic() - began)
        mixed += sum(not _is_own(tag, answer) for tag, answer in zip(tags, answers, strict=True))
        mixed += sum(turn["mixed"] for turn in await clients.turns())
        resident.append(process.memory_info().rss / 2**20)
    growth = resident[-1] / resident[0]
    report.table(
        f"agent: {AT_ONCE} at once, {rounds} rounds after a warm-up",
        ["answers a second", "mixed or cut", "MiB after the first", "MiB at the end"],
        [[f"{AT_ONCE / p50(seconds[1:]):.1f}", mixed, f"{resident[0]:.0f}", f"{resident[-1]:.0f}"]],
    )
    report.at_most("agents mixed or cut", mixed, 0)
    report.at_most("memory after / before", growth, GROWTH)


def _is_own(tag: int, answer: ObservedAnswer) -> bool:
    """True where an answer is whole, and every call and word of it is of its question."""
    text = "".join(token["t"] for token in answer.named("token"))
    calls = json.dumps([call["arguments"] for call in answer.named("tool")])
    is_whole = answer.events[-1][0] == "done" and text == f"tag{tag} is known [1]."
    return is_whole and set(_TAG.findall(calls)) == {f"tag{tag}"}


if __name__ == "__main__":
    main({"agent": run})
