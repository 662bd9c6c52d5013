"""Queries: answers to ``POST /v1/query`` a second, of one process of ``helix serve`` and of two.

Offline models over SciFact's abstracts, a question of each in turn, and so many clients that a
server always has one to answer. Both servers have the same database, and rounds go to them in turn.
Beside the rates stands what an answer takes of the processors: the server's, Postgres' and the
clients' time. All share the machine, so two processes give twice as much only where it has
processors for that.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg

from benchmarks import corpus
from benchmarks.corpus import ABSTRACTS, fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main
from benchmarks.processes import environment, stopping

CLIENTS = 8
QUESTIONS, QUICK_QUESTIONS = 150, 24
ROUNDS, QUICK_ROUNDS = 6, 1
SPEEDUP = 1.7
FIRST_BUILD_MS = 46.0
"""Processor time of a question when Helix was first built, in which it answered 16 to 19 a second:
of the server and its client in one process (its issue's measurement, not of this run)."""
FASTER = 3.0
_STARTING_SECONDS = 60


@dataclass
class Served:
    """A server that answers, and what was measured of it; processor times in seconds."""

    processes: int
    port: int
    child: psutil.Process
    seconds: float = 0.0
    answered: int = 0
    processor: dict[str, float] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answered / self.seconds

    def row(self) -> list[str]:
        """The row of the table; processor times are of one answer."""
        each = (f"{1000 * used / self.answered:.1f}" for used in self.processor.values())
        return [str(self.processes), f"{self.rate:.1f}", *each]


async def run(options: Options, report: Report) -> None:
    """One process and two, in turn."""
    papers = corpus.load_or_generate(options.data, min(ABSTRACTS, options.rows))
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    questions = [
        f"What is known of {' '.join(text.split()[:12])}?" for text in papers.texts[:count]
    ]
    with server() as postgres, postgres.database() as url, ExitStack() as stack:
        await fill_embedded(url, papers.texts)
        servers = [stack.enter_context(_serving(url, count)) for count in (1, 2)]
        for each in servers:  # what is read of a text once is kept: each process meets all first
            _play(url, each, questions * each.processes, counted=False)
        for _ in range(QUICK_ROUNDS if options.quick else ROUNDS):
            for each in servers:
                _play(url, each, questions)
    _report(report, *servers)


def _report(report: Report, alone: Served, two: Served) -> None:
    report.table(
        f"queries: {alone.answered} answers of each, {CLIENTS} clients, processor time in ms",
        ["processes", "answers/s", *(f"{name}, an answer" for name in alone.processor)],
        [each.row() for each in (alone, two)],
    )
    spent = 1000 * alone.processor["server"] / alone.answered
    report.at_least(
        "first build's processor time / now, one process", FIRST_BUILD_MS / spent, FASTER
    )
    report.at_least("two processes / one, answers a second", two.rate / alone.rate, SPEEDUP)
    together = sum(alone.processor.values()) / alone.answered
    processors = len(os.sched_getaffinity(0))
    print(
        f"\nall processors busy: at most {processors / together / alone.rate:.2f} times one process"
    )


def _play(url: str, served: Served, questions: Sequence[str], *, counted: bool = True) -> None:
    before, began = _processor_times(url, served), time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as clients:
        shares = [questions[n::CLIENTS] for n in range(CLIENTS)]
        answered = sum(clients.map(lambda share: _ask(served.port, share), shares))
    if not counted:
        return
    served.seconds += time.perf_counter() - began
    served.answered += answered
    for name, used in _processor_times(url, served).items():
        served.processor[name] = served.processor.get(name, 0.0) + used - before[name]


def _ask(port: int, questions: Sequence[str]) -> int:
    """Ask them one after the other on one connection; how many."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for question in questions:
        body = json.dumps({"question": question}).encode()
        connection.request("POST", "/v1/query", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status} {content[:200]!r}")
    connection.close()
    return len(questions)


def _processor_times(url: str, served: Served) -> dict[str, float]:
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    postmaster = psutil.Process(int(Path(row[0], "postmaster.pid").read_text().split()[0]))
    families = {"server": served.child, "Postgres": postmaster}
    spent = {name: sum(map(_spent, _family(process))) for name, process in families.items()}
    return {**spent, "clients": _spent(psutil.Process())}


def _family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _spent(process: psutil.Process) -> float:
    """With that of its children that have ended: connections of Postgres that were closed."""
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


@contextmanager
def _serving(url: str, processes: int) -> Iterator[Served]:
    """``helix serve`` on a free port of loopback."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = ["serve", "--port", str(port), "--processes", str(processes)]
    child = subprocess.Popen(
        [sys.executable, "-m", "helix.cli", *command],
        env={**environment(url), "HELIX_WORKERS": "0", "HELIX_LOG_LEVEL": "warning"},
        text=True,
    )
    with stopping(child):
        _wait_until_ready(port)
        yield Served(processes, port, psutil.Process(child.pid))


def _wait_until_ready(port: int) -> None:
    deadline = time.perf_counter() + _STARTING_SECONDS
    while time.perf_counter() < deadline:
        with suppress(OSError, http.client.HTTPException):  # not listening yet
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise TimeoutError(f"no server within {_STARTING_SECONDS} s")


if __name__ == "__main__":
    main({"queries": run})
