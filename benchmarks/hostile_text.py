"""Hostile text: eight requests full of filler under way at any moment, and what others wait.

The real application with the offline provider, so that all that reads a question by patterns and
by the model of evidence runs. Every kind of filler comes through a query, through an earlier turn
of a conversation in OpenAI's form, and through an import that is asked about.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from benchmarks.database import server
from benchmarks.harness import Options, Report, main, ms, p50, p99, seconds_of
from benchmarks.processes import LineProcess, stopping

AT_ONCE = 8
SECONDS, QUICK_SECONDS = 60, 5
HEALTH_MS, QUESTION_SECONDS = 100, 1.0
FILLERS = (" ", "\n", "\t", '"', "7", "1 ", "a", "a ", ",", ".", "(", "-")
LONGEST = {"query": 3_900, "turn": 100_000}
"""Characters of filler: of a question at most what a server takes, of an earlier turn anything."""
SAMPLES = Path(__file__).parents[1] / "samples"
OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
ASKED = "How long do I have to request a refund?"


@dataclass
class Waits:
    """Seconds that others waited, and what a hostile request was answered with, by status."""

    health: list[float] = field(default_factory=list)
    question: list[float] = field(default_factory=list)
    hostile: dict[int, int] = field(default_factory=dict)


def _post(port: int, path: str, body: dict[str, Any]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


def _query(port: int, filler: str) -> int:
    return _post(port, "/v1/query", {"question": f"x{_repeated(filler, 'query')}y"})


def _earlier_turn(port: int, filler: str) -> int:
    said = ("What is refunded?", f"x{_repeated(filler, 'turn')}y", "And for gift cards?")
    roles = ("user", "assistant", "user")
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]
    return _post(port, "/v1/chat/completions", {"model": "helix", "messages": messages})


def _repeated(filler: str, place: str) -> str:
    return filler * (LONGEST[place] // len(filler))


async def run(options: Options, report: Report) -> None:
    """Ask hostile questions without a pause, and time what others ask meanwhile."""
    seconds = QUICK_SECONDS if options.quick else SECONDS
    with _served() as port:
        _asked(port)  # what is loaded by a first question
        calm, waits = Waits(), Waits()
        _watch(port, calm, seconds / 6, [])
        _watch(port, waits, seconds, [_query, _earlier_turn])
    report.table(
        f"hostile text: {AT_ONCE} requests under way for {seconds} s",
        ["", "/healthz p50 ms", "p99 ms", "another tenant's question p50 ms", "longest ms"],
        [[name, ms(p50(one.health)), ms(p99(one.health)), ms(p50(one.question)),
          ms(max(one.question))] for name, one in (("calm", calm), ("meanwhile", waits))],
    )  # fmt: skip
    counts = ", ".join(f"{status}: {count}" for status, count in sorted(waits.hostile.items()))
    print(f"\nhostile requests by status: {counts}")
    report.at_most("/healthz meanwhile, p99 ms", p99(waits.health) * 1000, HEALTH_MS)
    report.at_most("another tenant's question, longest s", max(waits.question), QUESTION_SECONDS)


def _watch(
    port: int, waits: Waits, seconds: float, hostile: list[Callable[[int, str], int]]
) -> None:
    """Fill ``waits`` for ``seconds`` while AT_ONCE threads send ``hostile`` requests in turn."""
    over = Event()
    turns = itertools.cycle(itertools.product(hostile, FILLERS))

    def attack() -> None:
        while not over.is_set():
            send, filler = next(turns)
            status = send(port, filler)
            waits.hostile[status] = waits.hostile.get(status, 0) + 1

    threads = [Thread(target=attack) for _ in range(AT_ONCE if hostile else 0)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        waits.health.append(seconds_of(lambda: _healthy(port)))
        waits.question.append(seconds_of(lambda: _asked(port)))
        time.sleep(0.05)
    over.set()
    for thread in threads:
        thread.join()


def _healthy(port: int) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
    finally:
        connection.close()


def _asked(port: int) -> None:
    status = _post(port, "/v1/query", {"question": ASKED, "tenant_id": "other"})
    if status != 200:
        raise RuntimeError(f"another tenant's question was answered with {status}")


@contextmanager
def _served() -> Iterator[int]:
    """A served application over ``samples/`` of two tenants; its port."""
    with (
        tempfile.TemporaryDirectory(prefix="helix-bench-") as folder,
        server() as postgres,
        postgres.database() as url,
    ):
        for tenant in ("default", "other"):
            subprocess.run(
                [sys.executable, "-m", "pipelines.ingest", "--tenant", tenant, str(SAMPLES)],
                env=os.environ | OFFLINE | {"DATABASE_URL": url}, check=True, capture_output=True,
            )  # fmt: skip
        given = json.dumps({"database_url": url})
        process = LineProcess("benchmarks.server", Path(folder, "server.log"), given)
        with stopping(process.child):
            yield int(process.hear())


if __name__ == "__main__":
    main({"hostile_text": run})
