"""Embedded servers in places of their own, their processes, and clients that can be killed."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg

from db.embedded_postgres import EmbeddedPostgres
from tests.support.repository import ROOT
from tests.support.server_folders import new_folder

STOP_SECONDS = 20.0
"""A patient limit for slow machines: on an idle one it takes about a second."""

CLIENT = """
import os, sys
from pathlib import Path
import psycopg
from db.embedded_postgres import acquire

with acquire(Path(sys.argv[1])) as postgres:
    with psycopg.connect(postgres.url) as connection:
        print(connection.execute("SELECT pg_postmaster_start_time()").fetchone()[0], flush=True)
    if sys.argv[2:] == ["fork"] and (child := os.fork()):
        print(child, flush=True)
    sys.stdin.read()
"""


@contextlib.contextmanager
def a_place() -> Iterator[Path]:
    parent = new_folder()
    yield parent / "postgres"
    end_all(parent / "postgres")
    shutil.rmtree(parent, ignore_errors=True)


def end_all(directory: Path) -> None:
    """End what a failed test left running."""
    kill(processes(directory))


def processes(directory: Path) -> list[psutil.Process]:
    """The supervisor of the directory and every process of its Postgres."""
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()  # a zombie has none; most others are known by it
            if words[-3:-1] == ["db.supervisor", str(directory)] or (
                words
                and "postgres" in words[0]
                and process.name() == "postgres"
                and process.cwd() == str(directory / "pgdata")
            ):
                found.append(process)
        except psutil.Error:
            continue  # ended while we looked
    return found


def supervisors(directory: Path) -> list[psutil.Process]:
    found = []
    for process in processes(directory):
        with contextlib.suppress(psutil.NoSuchProcess):  # ended while we looked
            if process.name() != "postgres":
                found.append(process)
    return found


def kill(victims: list[psutil.Process]) -> None:
    """SIGKILL, and wait until they are dead; whoever should may wait for their zombies.

    All are stopped first, so that none sees another die, and shuts down in order instead.
    """
    for send in (psutil.Process.suspend, psutil.Process.kill):
        for process in sorted(victims, key=lambda process: process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):  # went with one killed before
                send(process)
    assert eventually(lambda: not any(map(runs, victims)))


def runs(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def postmaster(directory: Path) -> psutil.Process:
    return psutil.Process(int((directory / "pgdata/postmaster.pid").read_text().split()[0]))


def eventually(condition: Callable[[], bool], seconds: float = STOP_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def stops(directory: Path) -> bool:
    """True where soon no process is left, and Postgres ended in good order."""
    return (
        eventually(lambda: not processes(directory))
        and not (directory / "pgdata/postmaster.pid").exists()
    )


def start_client(directory: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(directory), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def read_line(client: subprocess.Popen[str]) -> str:
    assert client.stdout is not None
    return client.stdout.readline().strip()


def end(client: subprocess.Popen[str]) -> None:
    client.communicate(timeout=60)
    assert client.returncode == 0


_numbers = itertools.count()


def remember(server: EmbeddedPostgres) -> int:
    """Commit a number that was not there yet."""
    value = next(_numbers)
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS memory (value integer)")
        connection.execute("INSERT INTO memory VALUES (%s)", (value,))
    return value


def remembers(server: EmbeddedPostgres, *values: int) -> bool:
    with psycopg.connect(server.url) as connection:
        rows = connection.execute("SELECT value FROM memory").fetchall()
    return set(values) <= {value for (value,) in rows}


def read_pid_file(directory: Path) -> str:
    path = directory / "pgdata/postmaster.pid"
    return path.read_text() if path.exists() else ""
