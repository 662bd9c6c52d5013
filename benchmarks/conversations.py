"""Conversations: what the length of one costs to open it, to switch in it, and to ask in it.

A conversation of 10 turns and one of 1,000, among 2,000 others of one turn, are opened, switched
and asked in turn, over ASGI in this process with the offline models; each is asked below its same
leaf, so that neither grows. The tables are analyzed when they are filled, as autovacuum does within
a minute. All are asked before any is opened: after an answer of a long one its summary is made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

import httpx
import psycopg

from benchmarks import corpus
from benchmarks.corpus import fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, p50, percentiles
from benchmarks.receipts import asgi_client, question_about
from helix.app import create_app
from helix.conversations import conversation_rows, tree
from helix.conversations.tree import NewMessage
from helix.library.access import Connected
from helix.settings import load_settings

SHORT, LONG, QUICK_LONG = 10, 1000, 200
ROUNDS, QUICK_ROUNDS = 60, 10
OTHERS, QUICK_OTHERS = 2000, 200
TEXTS = 200
MOST_RATIO = 1.2
SETTLED_SECONDS = 2.0
Steps = dict[str, list[float]]


async def run(options: Options, report: Report) -> None:
    """Fill, then one step of each conversation after the other."""
    texts = corpus.load_or_generate(options.data, TEXTS).texts
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    lengths = (SHORT, QUICK_LONG if options.quick else LONG)
    with server() as postgres, postgres.database() as url:
        await fill_embedded(url, texts)
        settings = load_settings(
            database_url=url, llm="offline", embedder="offline", workers=0, log_level="error"
        )
        application = create_app(settings)
        async with asgi_client(application) as client:
            _fill_others(url, QUICK_OTHERS if options.quick else OTHERS, texts)
            leaves = {length: _fill(url, length, texts) for length in lengths}
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("ANALYZE conversations, messages")
            taken: dict[int, Steps] = {length: {} for length in lengths}
            for step in (_ask, _switch_and_open):  # a summary is made after each answer
                for n in range(rounds):
                    for length in lengths:
                        await step(client, length, leaves[length], texts[n], taken[length])
                await asyncio.sleep(SETTLED_SECONDS)
    _report(report, taken)


def _fill(url: str, turns: int, texts: list[str]) -> int:
    """Make a conversation of so many turns; its leaf."""
    with psycopg.connect(url) as connection:
        return _add(connection, f"c-{turns}", [texts[n % len(texts)] for n in range(turns)])


def _fill_others(url: str, conversations: int, texts: list[str]) -> None:
    """Make conversations of one turn each."""
    with psycopg.connect(url) as connection:
        for n in range(conversations):
            _add(connection, f"other-{n}", [texts[n % len(texts)]])


def _add(connection: Connected, name: str, texts: list[str]) -> int:
    """Make a conversation of a turn for each of ``texts``; its leaf."""
    conversation_rows.create(connection, "default", name, "", {})
    leaf = None
    for text in texts:
        answer = {"answer": text[:300], "citations": [], "abstained": False}
        new = NewMessage(question_about(text), "0" * 32, status="done", response=answer)
        leaf = tree.add_message(connection, "default", name, new, leaf).message_id
    return leaf or 0


async def _ask(client: httpx.AsyncClient, length: int, leaf: int, text: str, taken: Steps) -> None:
    body = {"question": question_about(text), "stream": False, "parent_id": leaf}
    await _timed("ask", client.post(f"{_address(length)}/messages", json=body), taken)


async def _switch_and_open(
    client: httpx.AsyncClient, length: int, leaf: int, _: str, taken: Steps
) -> None:
    await _timed("switch", client.patch(_address(length), json={"active": leaf}), taken)
    await _timed("open", client.get(_address(length)), taken)


def _address(length: int) -> str:
    return f"/v1/conversations/c-{length}"


async def _timed(name: str, request: Awaitable[httpx.Response], taken: Steps) -> None:
    began = time.perf_counter()
    response: Any = await request
    taken.setdefault(name, []).append(time.perf_counter() - began)
    assert response.status_code == 200, response.text


def _report(report: Report, taken: dict[int, Steps]) -> None:
    short, long = taken
    report.table(
        f"conversations: {len(taken[short]['open'])} rounds",
        ["what", "p50 ms", "p99 ms"],
        [[f"{name}, {length} turns", *percentiles(seconds)]
         for length, steps in taken.items() for name, seconds in steps.items()],
    )  # fmt: skip
    for name in taken[short]:
        report.at_most(
            f"{name}: {long} turns by {short}, p50",
            p50(taken[long][name]) / p50(taken[short][name]), MOST_RATIO,
        )  # fmt: skip


if __name__ == "__main__":
    main({"conversations": run})
