"""llama.cpp's server over a GGUF file, for as long as a block lasts."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from evals.real.models import ModelError
from helix.providers.local_models.llama_server import SPINS

LOAD_SECONDS = 600.0
"""On a loaded machine a model takes minutes."""
_STOP_SECONDS = 5.0
_ENVIRONMENT = {"GOMP_SPINCOUNT": SPINS}
"""The environment of Helix's own llama.cpp."""


@dataclass(frozen=True)
class LlamaServer:
    """A running server: ``url`` without a path, the ``key`` that every request needs, its log."""

    url: str
    key: str
    process: subprocess.Popen[str]
    log: Path

    @property
    def api(self) -> str:
        """The base address of its OpenAI-compatible routes, ending in /v1."""
        return f"{self.url}/v1"

    def get(self, path: str) -> Any:
        """The JSON at ``path``, such as /v1/models; raises httpx.HTTPError."""
        response = httpx.get(
            self.url + path, headers={"Authorization": f"Bearer {self.key}"}, timeout=30
        )
        return response.raise_for_status().json()

    def generating(self) -> bool:
        """True where an answer is being written now."""
        return any(slot["is_processing"] for slot in self.get("/slots"))


@contextmanager
def serving(
    model: Path,
    *,
    context: int = 4096,
    slots: int = 1,
    threads: int | None = None,
    sampling: Mapping[str, float] | None = None,
) -> Iterator[LlamaServer]:
    """``model`` on a free loopback port, loaded when the block starts, gone when it ends.

    ``context`` is in tokens, of each of the ``slots`` that generate at once; ``threads`` are as
    many as there are processors where not given. ``sampling`` are llama.cpp's own settings of it,
    such as ``penalty_repeat``. The process ends too where this one is killed.

    Raises:
        ModelError: it did not come up within LOAD_SECONDS.
    """
    key = secrets.token_urlsafe(24)
    asked = {
        "model": str(model.resolve()), "key": key, "context": context, "slots": slots,
        "threads": threads or os.cpu_count() or 1, "sampling": dict(sampling or {}),
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="helix-llama-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "evals.real.llama_child"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output, text=True,
                cwd=Path(__file__).parents[2], env=os.environ | _ENVIRONMENT,
            )  # fmt: skip
        try:
            yield _started(process, asked, log)
        finally:
            _stop(process)


def _started(process: subprocess.Popen[str], asked: dict[str, Any], log: Path) -> LlamaServer:
    assert process.stdin and process.stdout
    with suppress(BrokenPipeError):  # it ended at once: the log says why
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
    url = process.stdout.readline().strip()
    if not url:
        lines = log.read_text(errors="replace").splitlines()
        raise ModelError(f"llama.cpp did not start: {lines[-1] if lines else 'no reason given'}")
    server = LlamaServer(url, asked["key"], process, log)
    end = time.monotonic() + LOAD_SECONDS
    while time.monotonic() < end:
        with suppress(httpx.HTTPError):  # 503 while it loads
            server.get("/health")
            return server
        time.sleep(0.05)
    raise ModelError(f"llama.cpp did not load {Path(asked['model']).name}")


def _stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin and process.stdout
    with suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
