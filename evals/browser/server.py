"""`helix serve` as a process of its own on a loopback port, over the database of a run."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx

from evals.cases import CaseError
from helix.settings import Settings

_START, _STOP = 60.0, 30.0  # seconds


@contextmanager
def served(settings: Settings) -> Iterator[str]:
    """The address of a server over the run's database, with its providers; gone after the block.

    Raises:
        CaseError: it did not start.
    """
    port = _free_port()
    variables = {
        "DATABASE_URL": settings.database_url,
        "HELIX_LLM": settings.llm,
        "HELIX_EMBEDDER": settings.embedder,
        "HELIX_LOG_LEVEL": "warning",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "helix.cli", "serve", "--port", str(port)],
        env=os.environ | variables, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        site = f"http://127.0.0.1:{port}"
        _wait(process, site)
        yield site
    finally:
        process.terminate()
        try:
            process.wait(_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], site: str) -> None:
    deadline = time.monotonic() + _START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{site}/healthz", timeout=5).is_success:
                return
        except httpx.TransportError:  # it does not listen yet
            time.sleep(0.2)
    raise CaseError("helix serve did not start: run it yourself, and give --server URL")
