"""An embedded Postgres comes back by itself for whoever uses it, unless it was asked to stop."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from db import migrate
from db.embedded_postgres import START_SECONDS, acquire, wait_until_stopped
from db.errors import DatabaseError
from db.url import open_database
from tests.support.embedded_servers import (
    a_place,
    eventually,
    kill,
    postmaster,
    processes,
    stops,
    supervisors,
)

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with a_place() as directory:
        yield directory


def _answers(url: str) -> bool:
    with suppress(psycopg.Error), psycopg.connect(url):
        return True
    return False


def test_whatever_was_killed_comes_back_and_stops_with_its_user(place: Path) -> None:
    with open_database(f"embedded:{place}") as url:
        kill(supervisors(place))
        assert eventually(lambda: bool(supervisors(place)) and _answers(url))
        kill(processes(place))
        assert eventually(lambda: bool(supervisors(place)) and _answers(url))
    assert stops(place)
    assert wait_until_stopped(place), "nobody keeps the lock"


def test_a_server_whose_user_went_is_not_started_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor ends before the restart has seen it ready."""
    run, spawned = subprocess.run, threading.Event()
    starts: list[object] = []

    def started(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[bytes]:
        starts.append(arguments)
        done = run(*arguments, **more)
        spawned.set()
        return done

    with open_database(f"embedded:{place}"):
        monkeypatch.setattr("db.embedded_postgres.subprocess.run", started)
        monkeypatch.setattr("db.embedded_postgres._ready_socket", lambda _: None)
        kill(supervisors(place))
        assert spawned.wait(START_SECONDS)
    assert stops(place)
    for each in threading.enumerate():
        if each.name == "helix-restart":
            each.join(START_SECONDS)
    assert len(starts) == 1


def test_a_server_that_was_asked_to_stop_is_left_in_peace(place: Path) -> None:
    with open_database(f"embedded:{place}"):
        supervisors(place)[0].send_signal(signal.SIGTERM)
        assert stops(place)
        assert wait_until_stopped(place)
        assert not supervisors(place)


@contextmanager
def _recovering(place: Path) -> Iterator[None]:
    """Postgres takes connections and says that it is starting up, for a second."""
    victim = postmaster(place)
    children = victim.children()
    checkpointer = [each for each in children if "checkpointer" in " ".join(each.cmdline())]
    kill(checkpointer)
    yield


def test_a_connection_waits_while_postgres_recovers(place: Path) -> None:
    with acquire(place) as server, _recovering(place):
        for _ in range(20):
            with migrate.connect(server.url):
                pass


def test_a_server_that_crashed_as_it_was_asked_is_asked_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["server closed the connection unexpectedly", "the database system is in recovery"]
    connecting = psycopg.connect

    def connect(url: str, **more: Any) -> psycopg.Connection:
        if answers:
            raise psycopg.OperationalError(answers.pop(0))
        return connecting(url, **more)

    with acquire(place) as server:
        monkeypatch.setattr(psycopg, "connect", connect)
        migrate.connect(server.url).close()
        answers += ["server closed the connection unexpectedly"] * 2
        with pytest.raises(DatabaseError, match="closed the connection"):
            migrate.connect(server.url)


def test_a_recovery_without_end_is_an_error(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(url: str, **_: object) -> None:
        tried.append(url)
        raise psycopg.OperationalError("FATAL:  the database system is starting up")

    monkeypatch.setattr(psycopg, "connect", refuse)
    monkeypatch.setattr(migrate, "RECOVERY_SECONDS", 0.3)
    with pytest.raises(DatabaseError, match="the database system is starting up"):
        migrate.connect("postgresql://somewhere/x")
    assert len(tried) > 1
