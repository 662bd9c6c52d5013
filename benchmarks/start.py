"""The costs of a start: commands, a server until its first answer, an upload until it is answered.

Then what the server costs while nothing is asked of it, and how soon it takes up an upload again.

Each is a process of its own over an embedded database of its own, offline. Processor seconds are
those of the process and its children that ended.
"""

from __future__ import annotations

import asyncio
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil
import psycopg

from benchmarks.harness import Options, Report, main
from db.embedded_postgres import acquire

QUESTION = "Within how many days are refunds accepted?"
OWN = {
    "Ghent": "The lantern shop was founded in 1987. The workshop in Ghent has 42 employees.",
    "Bruges": "The candle shop was founded in 1991. The workshop in Bruges has 57 employees.",
}
LIMIT_SECONDS = 120
SETTLING_SECONDS, RESTING_SECONDS = 15, 60
QUICK_RESTING_SECONDS = 10
_TRANSACTIONS = "SELECT sum(xact_commit + xact_rollback)::float FROM pg_stat_database"
_TAKEN_UP = """
SELECT extract(epoch FROM started_at - created_at)::float FROM runs ORDER BY id DESC LIMIT 1
"""


async def run(options: Options, report: Report) -> None:
    """All of it, in a thread: nothing else is to do meanwhile."""
    await asyncio.to_thread(_run, 1 if options.quick else 3, report)


def _run(times: int, report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="helix-start-") as folder:
        environment = _environment(folder)
        _command(environment, "ingest", str(Path(__file__).resolve().parents[1] / "samples"))
        rows = [_measured(times, environment, name) for name in ("--version", "--help")]
        rows.append(_measured(times, environment, "ask", QUESTION))
        with _up(environment) as (address, seconds):
            ready = seconds()
            _until(lambda: "30" in _answer(address, QUESTION))
            answered = seconds()
            rows.append(
                _measured(times, environment, "ask", QUESTION, label="ask, beside a server")
            )
            answerable = _uploaded(address, "Ghent", "42")
            with acquire(Path(folder, "postgres")) as postgres:
                rested = QUICK_RESTING_SECONDS if times == 1 else RESTING_SECONDS
                share, rate = _at_rest(postgres.url, rested)
                again = _uploaded(address, "Bruges", "57")
                taken_up = _number(postgres.url, _TAKEN_UP)
    report.table("start: commands, least of their runs", ["what", "processor s", "wall s"], rows)
    report.table(
        "start: `helix up`, once",
        ["what", "s"],
        [
            ["until it listens", f"{ready:.2f}"],
            ["until its first answer", f"{answered:.2f}"],
            ["first upload until it is answered from", f"{answerable:.2f}"],
            ["the next, after a rest", f"{again:.2f}"],
            ["of that, until the worker has it", f"{taken_up:.2f}"],
        ],
    )
    report.at_most("`--version`, processor s", float(rows[0][1]), 0.3)
    report.at_most("`--help`, processor s", float(rows[1][1]), 0.3)
    report.at_most("`ask` offline, processor s", float(rows[2][1]), 2.5)
    report.at_most("`helix up` until it listens, s", ready, 5)
    report.at_most("at rest, % of a core, Postgres included", share, 0.5)
    report.at_most("at rest, transactions a second", rate, 2)
    report.at_most("a worker at rest takes up an upload, s", taken_up, 1)


def _uploaded(address: str, town: str, employees: str) -> float:
    """Seconds from the upload of what is said of ``town`` until it is answered from."""
    began = time.perf_counter()
    files = {"files": (f"{town}.txt", OWN[town].encode(), "text/plain")}
    httpx.post(f"{address}/v1/documents", files=files, timeout=60).raise_for_status()
    asked = f"How many employees has the workshop in {town}?"
    _until(lambda: employees in _answer(address, asked))
    return time.perf_counter() - began


def _at_rest(url: str, seconds: int) -> tuple[float, float]:
    """Percent of a core that server, worker and Postgres take, and transactions a second."""
    time.sleep(SETTLING_SECONDS)
    processes = _processes(url)
    before, used = _number(url, _TRANSACTIONS), sum(map(_spent, processes))
    time.sleep(seconds)
    used, after = sum(map(_spent, processes)) - used, _number(url, _TRANSACTIONS)
    return 100 * used / seconds, (after - before - 1) / seconds  # one is the first look itself


def _number(url: str, query: str) -> float:
    with psycopg.connect(url) as connection:
        row = connection.execute(query.encode()).fetchone()
    return float(row[0]) if row else 0.0


def _processes(url: str) -> list[psutil.Process]:
    """All below this one, and those of Postgres with its supervisor."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    postmaster = psutil.Process(int(Path(row[0], "postmaster.pid").read_text().split()[0]))
    above = postmaster.parent()
    ours = [postmaster, *postmaster.children(), *psutil.Process().children(recursive=True)]
    return list({*ours, *([above] if above and above.pid > 1 else [])})


def _spent(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):  # a connection of Postgres that was closed
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _environment(folder: str) -> dict[str, str]:
    """Nothing of the caller's Helix; bytecode is kept, as Python does unless it is told not to."""
    told = ("HELIX_", "PYTHONDONTWRITEBYTECODE")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(told)},
        "DATABASE_URL": f"embedded:{folder}/postgres", "HELIX_LLM": "offline",
        "HELIX_EMBEDDER": "offline", "XDG_CONFIG_HOME": folder, "HELIX_LOG_LEVEL": "warning",
    }  # fmt: skip


def _command(environment: dict[str, str], *arguments: str) -> tuple[float, float]:
    """(processor seconds, seconds) of ``helix arguments…``."""
    before, began = _processor(), time.perf_counter()
    command = [sys.executable, "-m", "helix.cli", *arguments]
    subprocess.run(
        command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return _processor() - before, time.perf_counter() - began


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _measured(
    times: int, environment: dict[str, str], *arguments: str, label: str = ""
) -> list[str]:
    """The least of its runs: what other work of the machine adds is not the command's."""
    runs = [_command(environment, *arguments) for _ in range(times)]
    processor, wall = (min(each) for each in zip(*runs, strict=True))
    return [label or arguments[0], f"{processor:.2f}", f"{wall:.2f}"]


@contextmanager
def _up(environment: dict[str, str]) -> Iterator[tuple[str, Callable[[], float]]]:
    """The address of `helix up`, which listens, and a clock that began with it."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    began = time.perf_counter()
    command = [sys.executable, "-m", "helix.cli", "up", "--no-browser", "--port", str(port)]
    server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _until(lambda: _is_up(address))
        yield address, lambda: time.perf_counter() - began
    finally:
        server.terminate()
        server.wait(LIMIT_SECONDS)


def _is_up(address: str) -> bool:
    with suppress(httpx.TransportError):  # not listening yet
        return httpx.get(f"{address}/healthz", timeout=10).status_code == 200
    return False


def _answer(address: str, question: str) -> str:
    asked = httpx.post(f"{address}/v1/query", json={"question": question}, timeout=60)
    return str(asked.json().get("answer", ""))


def _until(holds: Callable[[], bool]) -> None:
    end = time.perf_counter() + LIMIT_SECONDS
    while not holds():
        if time.perf_counter() > end:
            raise TimeoutError(f"not within {LIMIT_SECONDS} s")
        time.sleep(0.02)


if __name__ == "__main__":
    main({"start": run})
