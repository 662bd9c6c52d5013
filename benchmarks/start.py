"""What a start costs: commands, the server until its first answer, an upload until it is answered.

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

from benchmarks.harness import Options, Report, main

QUESTION = "Within how many days are refunds accepted?"
OWN = "The lantern shop was founded in 1987. The workshop in Ghent has 42 employees."
OWN_QUESTION = "How many employees has the workshop in Ghent?"
LIMIT_SECONDS = 120


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
            uploaded = time.perf_counter()
            files = {"files": ("own.txt", OWN.encode(), "text/plain")}
            httpx.post(f"{address}/v1/documents", files=files, timeout=60).raise_for_status()
            _until(lambda: "42" in _answer(address, OWN_QUESTION))
            answerable = time.perf_counter() - uploaded
    report.table("start: commands, least of their runs", ["what", "processor s", "wall s"], rows)
    report.table(
        "start: `helix up`, once",
        ["what", "s"],
        [
            ["until it listens", f"{ready:.2f}"],
            ["until its first answer", f"{answered:.2f}"],
            ["first upload until it is answered from", f"{answerable:.2f}"],
        ],
    )
    report.at_most("`--version`, processor s", float(rows[0][1]), 0.3)
    report.at_most("`--help`, processor s", float(rows[1][1]), 0.3)
    report.at_most("`ask` offline, processor s", float(rows[2][1]), 2.5)
    report.at_most("`helix up` until it listens, s", ready, 5)


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
