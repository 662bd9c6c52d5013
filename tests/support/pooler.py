"""PgBouncer in transaction mode in front of a test's database."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from tests.support.streaming import START_SECONDS, account

SESSIONS = 2
"""Of the server, for all clients together: few, so that they take turns on them."""
_CONFIGURATION = """
[databases]
{name} = host={host} port=5432 dbname={name} user=postgres
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {sessions}
max_client_conn = 200
logfile = {folder}/log
pidfile = {folder}/pid
"""


@contextlib.contextmanager
def pooled(database_url: str) -> Iterator[str]:
    """The URL of a PgBouncer that leads to the database of ``database_url``, on a unix socket."""
    program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "PgBouncer is not installed (Debian: apt install pgbouncer)"
    parts = conninfo_to_dict(database_url)
    folder = Path(tempfile.mkdtemp(prefix="helix-tests-"))
    if whose := account():
        os.chown(folder, whose["user"], whose["group"])
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        _CONFIGURATION.format(
            name=parts["dbname"], host=parts["host"], folder=folder, sessions=SESSIONS
        )
    )
    configuration.chmod(0o644)
    url = f"postgresql://postgres@/{parts['dbname']}?host={folder}&port=6432"
    process = subprocess.Popen([program, "-q", configuration], cwd="/", **account())
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(url):
            assert process.poll() is None and time.monotonic() < deadline, "PgBouncer is not there"
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)


def _answers(url: str) -> bool:
    with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url):
        return True
    return False
