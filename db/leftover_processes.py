"""Processes of Postgres whose supervisor was killed: found by what they work in, and ended."""

from __future__ import annotations

import contextlib
import signal
import time
from pathlib import Path

import psutil

_POLL_SECONDS = 0.02


def end_postgres_of(pgdata: Path) -> None:
    """End what a killed supervisor or postmaster left; a leftover postmaster.pid is only removed.

    The caller holds ``supervisor.lock``, so none of them is anybody's.
    """
    pid_file = pgdata / "postmaster.pid"
    if not pid_file.exists():
        return
    leftovers = _processes_of(pgdata)
    postmaster = pid_file.read_text().partition("\n")[0]
    for process in leftovers:
        if str(process.pid) == postmaster:
            with contextlib.suppress(psutil.NoSuchProcess):  # ended meanwhile
                process.send_signal(signal.SIGINT)
            _await_end(leftovers, seconds=30)
    _kill(leftovers)
    pid_file.unlink(missing_ok=True)


def end_initdb_of(directory: Path) -> None:
    """Kill an initdb whose supervisor was killed, and the postgres that it runs in ``directory``.

    Both were sent a signal as the supervisor died, but take a moment to end. The caller holds
    ``supervisor.lock``, so neither is anybody's.
    """
    _kill(_processes_of(directory))


def _processes_of(directory: Path) -> list[psutil.Process]:
    """The processes of Postgres that work in ``directory`` or were started for it.

    That tells them from a stranger that was given the number of one.
    """
    found = []
    for process in psutil.process_iter(["name"]):
        if process.info["name"] in ("initdb", "postgres"):
            with contextlib.suppress(psutil.Error):  # ended meanwhile, or not ours to look at
                if str(directory) in (process.cwd(), *process.cmdline()):
                    found.append(process)
    return found


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):  # ended in good order
            process.kill()
    _await_end(processes, seconds=10)


def _await_end(processes: list[psutil.Process], seconds: float) -> None:
    """Wait until they have ended; one that its parent has not waited for (a zombie) has."""

    def runs(process: psutil.Process) -> bool:
        try:
            return bool(process.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return False

    deadline = time.monotonic() + seconds
    while any(map(runs, processes)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
