"""The embedded Postgres in odd, bad and slow places; its address and its log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy

from db import supervisor
from db.embedded_postgres import Layout, acquire, embedded_directory
from db.errors import DatabaseError
from tests.support.embedded_servers import (
    a_place,
    processes,
    remember,
    stops,
)


@pytest.fixture
def fresh() -> Iterator[Path]:
    """A place for a server that is not there yet."""
    with a_place() as place:
        yield place


@pytest.mark.parametrize("name", ["o,d d é\" %41&?#'", "long-" * 20])
@pytest.mark.processes
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
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(DatabaseError, match="circle cannot be used"):
        acquire(tmp_path / "circle")
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


@pytest.mark.processes
def test_a_start_that_takes_too_long_is_given_up(fresh: Path) -> None:
    with pytest.raises(DatabaseError, match=r"not ready yet.*try again in a minute, or see"):
        acquire(fresh, timeout=0.0)
    with acquire(fresh) as server:
        remember(server)
    assert stops(fresh)


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
            supervisor.trim_log(log)
    assert log.stat().st_size == 60
    assert log.with_name("postgres.log.1").stat().st_size == 120
