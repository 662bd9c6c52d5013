"""Child processes of the benchmarks: stopped when a block ends; talked to in lines."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]


def environment(url: str) -> dict[str, str]:
    """This process's, with the offline provider over the database at ``url``."""
    offline = {"DATABASE_URL": url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    return {**os.environ, **offline, "PYTHONPATH": str(ROOT)}


@contextmanager
def stopping(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """SIGTERM to the process when the block ends, SIGKILL half a minute later."""
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class LineProcess:
    """A module of this package as a child process that talks in lines; its errors go to ``log``.

    ``root`` is the checkout that it runs in.
    """

    def __init__(self, module: str, log: Path, *arguments: str, root: Path = ROOT) -> None:
        with log.open("wb") as errors:
            self.child = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=log.parent,  # where no .env lies
                # unbuffered, Python loses the rest of a long line that a pipe takes in parts
                env={**os.environ, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": ""},
                text=True,
            )
        self._log = log
        self.seen = psutil.Process(self.child.pid)

    def tell(self, line: str) -> None:
        """Write a line to its stdin."""
        assert self.child.stdin
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()

    def hear(self) -> str:
        """The next line of its stdout; raises RuntimeError where it ended."""
        assert self.child.stdout
        if not (line := self.child.stdout.readline()):
            raise RuntimeError(f"a benchmark process ended early: {self._log.read_text()[-2000:]}")
        return line

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        times = self.seen.cpu_times()
        return float(times.user + times.system)
