"""Receipts: what proving an answer and keeping its receipt add to it.

Two applications over one database, with receipts and without, are asked the same questions in turn
over ASGI, in this process and with the offline models. What both of them do, looking whether the
sources still hold, proving, screening and the debug block, is timed by itself on the same answers.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import httpx
import psycopg
from fastapi import FastAPI

from benchmarks import corpus
from benchmarks.corpus import fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, percentiles
from helix.answering.guardrails import screen
from helix.answering.pipeline import AnswerRequest
from helix.answering.proof import prove
from helix.answering.question import Question
from helix.app import create_app
from helix.conversations.receipts.receipt import receipt_of
from helix.domain.input_text import storable_json
from helix.domain.retrieval import debug_block
from helix.services import Services, open_services
from helix.settings import Settings, load_settings

ADDED_MS = 5
TEXTS, QUICK_TEXTS = 1000, 200
QUESTIONS, QUICK_QUESTIONS = 400, 60
_JUDGED = ("sources still hold", "proof", "debug block")
_PARTS = (*_JUDGED, "screen", "receipt as JSON")
Took = tuple[float, float]
"""Seconds by the clock, and of this process's processor time."""
_WITHOUT, _WITH = "HELIX_RECEIPT_DAYS=0", "HELIX_RECEIPT_DAYS=30"


async def run(options: Options, report: Report) -> None:
    """Fill, ask in turn, then the parts by themselves."""
    texts = corpus.load_or_generate(options.data, QUICK_TEXTS if options.quick else TEXTS).texts
    asked = [
        question_about(text) for text in texts[: QUICK_QUESTIONS if options.quick else QUESTIONS]
    ]
    with server() as postgres, postgres.database() as url:
        await fill_embedded(url, texts)
        taken = await _in_turn(url, asked)
        added = _added(taken)
        async with open_services(_settings(url, 30)) as services:
            parts = await _parts(services, asked)
        size = _size(url)
    _report(report, taken, added, parts, size)


def _settings(url: str, days: int) -> Settings:
    return load_settings(
        database_url=url, llm="offline", embedder="offline", workers=0, receipt_days=days,
        log_level="error",
    )  # fmt: skip


def question_about(text: str) -> str:
    """A question of the first words of a text."""
    return f"What is known of {' '.join(text.split()[:12])}?"


@asynccontextmanager
async def asgi_client(application: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Of the application with its lifespan, whose state each request is to find."""
    async with application.router.lifespan_context(application) as state:

        async def with_state(scope: Any, receive: Any, send: Any) -> None:
            await application(scope | {"state": dict(state or {})}, receive, send)

        transport = httpx.ASGITransport(with_state)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


async def _in_turn(url: str, asked: Sequence[str]) -> dict[str, list[Took]]:
    """Seconds of each question with each application, the order changing."""
    async with AsyncExitStack() as stack:
        clients = {}
        for name, days in ((_WITHOUT, 0), (_WITH, 30)):
            application = create_app(_settings(url, days))
            clients[name] = await stack.enter_async_context(asgi_client(application))
        for client in clients.values():
            for question in asked[:20]:
                await _ask(client, question, [])
        taken: dict[str, list[Took]] = {name: [] for name in clients}
        for number, question in enumerate(asked):
            order = list(clients.items())
            for name, client in order if number % 2 else reversed(order):
                await _ask(client, question, taken[name])
    return taken


async def _ask(client: httpx.AsyncClient, question: str, taken: list[Took]) -> None:
    with _clock(taken):
        response = await client.post("/v1/query", json={"question": question})
    response.raise_for_status()


@contextmanager
def _clock(taken: list[Took]) -> Iterator[None]:
    started, cpu = time.perf_counter(), time.process_time()
    yield
    taken.append((time.perf_counter() - started, time.process_time() - cpu))


def _added(taken: dict[str, list[Took]]) -> list[Took]:
    pairs = zip(taken[_WITHOUT], taken[_WITH], strict=True)
    return [(with_[0] - without[0], with_[1] - without[1]) for without, with_ in pairs]


async def _parts(services: Services, asked: Sequence[str]) -> dict[str, list[Took]]:
    """Seconds of what an answer's end does in this process, for each answered question."""
    parts: dict[str, list[Took]] = {name: [] for name in _PARTS}
    for question in asked:
        request = AnswerRequest(services.answering, Question(question), recorded=False)
        done = await request.run()
        if done.abstained:
            continue
        with _clock(parts["sources still hold"]):
            await services.answering.engine.still_holds(done.retrieval, done.question.scope)
        with _clock(parts["proof"]):
            prove(done.text, done.retrieval.sources)
        with _clock(parts["debug block"]):
            debug_block(done.retrieval, done.text, 1.0)
        with _clock(parts["screen"]):
            screen(done.retrieval.sources)
        with _clock(parts["receipt as JSON"]):
            storable_json(receipt_of(done, services.configuration))
    return parts


def _size(url: str) -> float:
    """KiB of the table and its indexes for each receipt."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT pg_total_relation_size('answers')::float8 / count(*) / 1024 FROM answers"
        ).fetchone()
    assert row is not None
    return float(row[0])


def _report(
    report: Report,
    taken: dict[str, list[Took]],
    added: list[Took],
    parts: dict[str, list[Took]],
    size: float,
) -> None:
    answered, asked = len(parts["proof"]), len(added)
    rows = [[f"POST /v1/query, {name}", *_cells(seconds)] for name, seconds in taken.items()]
    rows.append(["added by the receipt, question by question", *_cells(added)])
    rows += [[f"{name}, in this process", *_cells(seconds)] for name, seconds in parts.items()]
    report.table(
        f"receipts: {asked} questions, {answered} answered; {size:.1f} KiB a receipt in Postgres",
        ["what", "p50 ms", "p99 ms", "this process's CPU p50 ms"],
        rows,
    )
    verification = sum(p50([wall for wall, _ in parts[name]]) for name in _JUDGED)
    total = (p50([wall for wall, _ in added]) + verification) * 1000
    report.at_most("verification, debug block and receipt at p50, ms", total, ADDED_MS)


def _cells(taken: Sequence[Took]) -> list[str]:
    wall, cpu = zip(*taken, strict=True)
    return [*percentiles(wall), ms(p50(cpu))]


if __name__ == "__main__":
    main({"receipts": run})
