"""The bundled Postgres of one directory, shared by every process that acquires it.

Two lock files carry the whole protocol; both are flocks, which the kernel drops on any death.

``users.lock``       every client holds it shared for as long as it uses the server. The supervisor
                     tries it exclusively: when it gets it, nobody is left and it stops Postgres.
``supervisor.lock``  held exclusively by the one supervisor. A client that gets it instead found no
                     supervisor: it starts one and hands the locked descriptor over, so there is no
                     moment at which two could start. The file's content is the supervisor's report,
                     ``{"socket": directory}`` once the server accepts connections or
                     ``{"error": line}`` when it cannot.

``db/supervisor.py`` is the other side, ``db/url.py`` what starts a killed one again. Nothing
listens on TCP; the socket lies in a directory that only the server's own system user (and root) may
enter, which is what its trust authentication rests on.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import platformdirs

from db.errors import DatabaseError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

DATABASE = "helix"
PORT = 5432
"""Part of the socket's file name; nothing listens on TCP."""

START_SECONDS = 60.0
POLL_SECONDS = 0.03
SPAWN_ATTEMPTS = 3
"""Supervisors that one call starts at most: one that ended without a report was killed."""

INHERITED = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_RUNTIME_DIR")
"""The variables that a supervisor, and so Postgres, inherits from the client that starts it: no API
key, and no PGOPTIONS, which is about the client's other databases. PYTHONPATH is set beside them.
"""


class Layout:
    """The files of one embedded Postgres in its directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pgdata = directory / "pgdata"
        """Postgres's own data directory."""
        self.users_lock = directory / "users.lock"
        self.supervisor_lock = directory / "supervisor.lock"
        self.supervisor_log = directory / "supervisor.log"
        """The output of the last supervisor."""
        self.postgres_log = directory / "postgres.log"
        """The output of Postgres; its previous part is beside it with the suffix ``.log.1``."""


def default_directory() -> Path:
    """The directory in which ``DATABASE_URL=embedded`` keeps its data.

    Postgres refuses to run as root, so root's server runs as a system user, who could not reach a
    directory below root's home.
    """
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/helix/postgres")
    return Path(platformdirs.user_data_dir("helix", appauthor=False)) / "postgres"


def embedded_directory(database_url: str) -> Path:
    """The directory that ``embedded`` or ``embedded:<dir>`` names, absolute.

    Raises:
        DatabaseError: the value is neither.
    """
    kind, colon, directory = database_url.partition(":")
    if kind != "embedded" or (colon and not directory):
        raise DatabaseError("DATABASE_URL is malformed: set it to embedded or embedded:<directory>")
    if not directory:
        return default_directory()
    try:
        return Path(directory).expanduser().absolute()
    except RuntimeError:
        raise DatabaseError(
            "DATABASE_URL names the home directory of an unknown user: give embedded: a full path"
        ) from None


def try_lock(descriptor: int, *, exclusive: bool) -> bool:
    """Take a flock without waiting; True when it is held."""
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_lock(path: Path) -> int:
    """Open a lock file, made when missing; the descriptor is not inherited through ``exec``."""
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def write_report(descriptor: int, report: dict[str, str]) -> None:
    """Replace the content of ``supervisor.lock``; an empty report says "not ready"."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(report).encode(), 0)


def read_report(descriptor: int) -> dict[str, str]:
    """The content of ``supervisor.lock``; empty when there is none or it is being written."""
    with contextlib.suppress(ValueError):  # caught in the middle of a write: the caller polls
        report: dict[str, str] = json.loads(os.pread(descriptor, 4096, 0))
        return report
    return {}


def last_line(path: Path) -> str:
    """The line of a log that says why: the last FATAL or PANIC one, else the last one."""
    try:
        lines = [line.strip() for line in path.read_text(errors="replace").splitlines()[-50:]]
    except OSError:
        return "its log cannot be read"
    lines = [line for line in lines if line]
    fatal = [line for line in lines if "FATAL:" in line or "PANIC:" in line]
    return (fatal or lines or ["its log is empty"])[-1][:300]


@dataclass
class _Share:
    """This process's one shared lock on ``users.lock``, and how many handles use it."""

    descriptor: int
    handles: int = 0


_guard = threading.Lock()
_shares: dict[Path, _Share] = {}


class EmbeddedPostgres(contextlib.AbstractContextManager["EmbeddedPostgres"]):
    """A share in a running server; it stops once no process holds one. A context manager.

    A forked child shares its parent's share: the server runs until both have ended or released.
    """

    def __init__(self, directory: Path, socket_directory: str) -> None:
        self.directory = directory
        self.url = (
            f"postgresql://postgres@/{DATABASE}"
            f"?host={quote(socket_directory, safe='/')}&port={PORT}"
        )
        """A libpq URL; with ``postgresql+psycopg://`` in front it is SQLAlchemy's too."""
        self._released = False

    def release(self) -> None:
        """Give the share back; calling it again does nothing."""
        with _guard:
            if not self._released:
                self._released = True
                _release_share(self.directory)

    def __exit__(self, *_: object) -> None:
        self.release()


def acquire(directory: Path, *, timeout: float = START_SECONDS) -> EmbeddedPostgres:
    """Share the server of ``directory``, starting it (and making it) when nobody has.

    ``timeout`` is in seconds. It blocks: about a second for a start, a few for the very first.

    Raises:
        DatabaseError: no fcntl here, the directory cannot be used, Postgres does not start, or
            it is not ready in time.
    """
    if fcntl is None:
        raise DatabaseError(
            "the embedded Postgres needs Linux or macOS: set DATABASE_URL to postgresql://…"
        )
    deadline = time.monotonic() + timeout
    directory = _resolved(directory)
    layout = Layout(directory)
    with _guard:
        try:
            make_folder(directory)
            share = _shares.get(directory) or _Share(_lock_shared(layout, deadline))
            share.handles += 1
            _shares[directory] = share
            try:
                socket_directory = ensure_running(layout, deadline)
            except BaseException:
                _release_share(directory)
                raise
        except FileExistsError:
            raise DatabaseError(
                f"{directory} is a file: give DATABASE_URL=embedded:<dir> a directory"
            ) from None
        except OSError as error:
            raise DatabaseError(
                f"cannot keep the embedded Postgres in {directory} ({error.strerror}):"
                " set DATABASE_URL=embedded:<dir> to a directory you may write to"
            ) from None
        return EmbeddedPostgres(directory, socket_directory)


def _resolved(directory: Path) -> Path:
    try:
        return directory.expanduser().resolve()
    except (OSError, RuntimeError) as error:  # links in a circle: RuntimeError until Python 3.13
        raise DatabaseError(f"the directory {directory} cannot be used: {error}") from None


def make_folder(directory: Path) -> None:
    """Make the folder of an embedded Postgres where it is missing."""
    # Traversable for root's system user; what lies inside is closed by its own mode.
    mode = 0o711 if os.geteuid() == 0 else 0o700
    directory.mkdir(parents=True, exist_ok=True, mode=mode)


def wait_until_stopped(directory: Path, *, timeout: float = START_SECONDS) -> bool:
    """Wait, at most ``timeout`` seconds, until no server runs there; False when one still does."""
    layout = Layout(directory.expanduser().resolve())
    deadline = time.monotonic() + timeout
    while layout.supervisor_lock.exists():
        descriptor = open_lock(layout.supervisor_lock)
        try:
            if try_lock(descriptor, exclusive=False):
                return True
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _release_share(directory: Path) -> None:
    share = _shares[directory]
    share.handles -= 1
    if share.handles == 0:
        del _shares[directory]
        # Closing, never LOCK_UN, which would take the lock from forked children too.
        os.close(share.descriptor)


def _lock_shared(layout: Layout, deadline: float) -> int:
    """Hold ``users.lock`` shared; waits for a supervisor that is stopping."""
    descriptor = open_lock(layout.users_lock)
    while not try_lock(descriptor, exclusive=False):
        if time.monotonic() > deadline:
            os.close(descriptor)
            raise _not_ready(layout)
        time.sleep(POLL_SECONDS)
    return descriptor


def ensure_running(
    layout: Layout, deadline: float, *, is_wanted: Callable[[], bool] = lambda: True
) -> str:
    """The socket directory of a server that accepts connections, started where none runs.

    ``deadline`` is of ``time.monotonic``. ``is_wanted`` is asked before each start.

    Raises:
        DatabaseError, OSError: it does not start, is not ready by then, or is wanted no more.
    """
    started = 0
    while True:
        descriptor = open_lock(layout.supervisor_lock)
        try:
            if try_lock(descriptor, exclusive=True):
                # No supervisor runs: those that this call started ended, or there was none.
                if started and (error := read_report(descriptor).get("error")):
                    raise DatabaseError(error)
                if started == SPAWN_ATTEMPTS:
                    log = layout.supervisor_log
                    raise _start_failed(layout, f"{last_line(log)} (see {log})")
                if not is_wanted():
                    raise _not_ready(layout)
                started += 1
                _spawn_supervisor(layout, descriptor)
            elif (ready := _ready_socket(descriptor)) is not None:
                return ready
        finally:
            os.close(descriptor)
        if time.monotonic() > deadline:
            raise _not_ready(layout)
        time.sleep(POLL_SECONDS)


def _ready_socket(descriptor: int) -> str | None:
    """The socket directory that the supervisor reports, where a server listens in it."""
    report = read_report(descriptor)
    if (directory := report.get("socket")) is None:
        return None
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(f"{directory}/.s.PGSQL.{PORT}")
        except OSError:
            return None
    # Read twice: the first may be what a killed supervisor left, seen between the moment its
    # successor's lock was taken and the moment the file was emptied.
    return directory if read_report(descriptor) == report else None


def _spawn_supervisor(layout: Layout, lock: int) -> None:
    """Start a supervisor that inherits the locked descriptor; returns once it is on its own."""
    write_report(lock, {})
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    root = Path(__file__).resolve().parents[__name__.count(".")]  # helix.db.… in a wheel
    search = [str(root), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
    with layout.supervisor_log.open("wb") as log:
        # -P and a working directory of its own: neither the caller's directory nor its modules
        # may matter to a process that outlives it.
        started = subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-m", "db.supervisor", str(layout.directory), str(lock)],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=environment,
            pass_fds=(lock,),
            start_new_session=True,
        )
    if started.returncode != 0:
        raise _start_failed(layout, last_line(layout.supervisor_log))


def _start_failed(layout: Layout, reason: str) -> DatabaseError:
    return DatabaseError(f"the embedded Postgres in {layout.directory} does not start: {reason}")


def _not_ready(layout: Layout) -> DatabaseError:
    return DatabaseError(
        f"the embedded Postgres in {layout.directory} is not ready yet; it may be recovering from"
        f" a crash: try again in a minute, or see {layout.postgres_log}"
    )
