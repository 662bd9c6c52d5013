"""llama.cpp's server over one model, shared by every process of this user that asks for it.

Its folder has two lock files, both flocks, which the kernel drops on any death:

``users.lock``
    Every process that uses the server holds it shared. The supervisor tries it exclusively: when it
    gets it, nobody is left, and it stops the server.
``supervisor.lock``
    Held exclusively by the one supervisor. A process that gets it instead found no supervisor: it
    starts one and hands the locked descriptor over, so there is no moment at which two could start.
    Its content is the supervisor's report: ``{"url", "key"}`` once the model is loaded,
    ``{"error": line}`` where it cannot be.

``supervisor.py`` is the other side. It starts llama.cpp, starts it again when it dies, and takes it
along when it is killed itself. The protocol is that of the bundled Postgres
(db/embedded_postgres.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from db.embedded_postgres import open_lock, read_report, try_lock, write_report
from helix.errors import SettingsError, UpstreamError

POLL_SECONDS = 0.03
INHERITED = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "TMPDIR", "TZ", "XDG_RUNTIME_DIR")
"""The variables that llama.cpp inherits: no API key is among them."""


@dataclass(frozen=True)
class ServerOptions:
    """The options that a server is started with; processes that ask for the same share it.

    ``context`` is in tokens, of each of the ``slots`` that generate at once; ``threads`` compute;
    ``memory_mb`` is the most memory beside the model's mapped file, 0: as much as it takes;
    ``stamp`` tells a replaced file from the former.
    """

    model: str
    context: int
    slots: int
    threads: int
    memory_mb: int = 0
    stamp: str = ""

    @property
    def title(self) -> str:
        """The name of the file, which messages give."""
        return Path(self.model).name


@dataclass(frozen=True)
class Address:
    """The server's address, without a slash at its end, and the key that requests need."""

    url: str
    key: str


class Layout:
    """The places of one server's files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.users_lock = folder / "users.lock"
        self.supervisor_lock = folder / "supervisor.lock"
        self.options = folder / "options.json"
        self.log = folder / "llama.log"
        """The output of supervisor and llama.cpp, since the former began; no prompt is in it."""


def runtime_folder() -> Path:
    """The folder of this user's servers: ``XDG_RUNTIME_DIR``, or one among temporary files.

    Raises:
        SettingsError: it is another user's, or others may look into it.
    """
    configured = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    usable = configured.is_absolute() and os.access(configured, os.W_OK)
    folder = configured / "helix" if usable else _temporary_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat(follow_symlinks=False)
    except OSError as error:
        raise SettingsError(f"{folder} cannot be made: {error.strerror}") from None
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise SettingsError(
            f"{folder} must be this user's alone: delete it, or set its mode to 700"
        )
    return folder


def _temporary_folder() -> Path:
    return Path(tempfile.gettempdir()) / f"helix-{os.geteuid()}"


class SharedServer:
    """This process's share in the server of ``options``; usable from any thread.

    The server starts when it is first asked for, and stops once nobody has a share.
    """

    def __init__(self, options: ServerOptions, folder: Path | None = None) -> None:
        self.options = options
        self._folder = folder
        self._guard = threading.Lock()
        self._users: int | None = None

    def address(self) -> Address | None:
        """The server's address, if it is loaded; quick."""
        if self._users is None:
            return None
        lock = open_lock(self._layout().supervisor_lock)
        try:
            return None if try_lock(lock, exclusive=False) else _address(lock)
        finally:
            os.close(lock)

    def ensure(self, seconds: float) -> Address:
        """The address of the server, started and loaded; blocks for at most ``seconds``.

        Raises:
            UpstreamError: it does not start, or is still loading by then.
            SettingsError: there is no folder for it.
        """
        attempt = Attempt(self, seconds)
        while (address := attempt.step()) is None:
            time.sleep(POLL_SECONDS)
        return address

    async def ensure_async(self, seconds: float) -> Address:
        """``ensure`` without blocking the event loop, nor a thread for longer than a start."""
        attempt = Attempt(self, seconds)
        while (address := await asyncio.to_thread(attempt.step)) is None:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        return address

    def join(self) -> Layout | None:
        """Take the share and say where the files are; None while a supervisor is stopping.

        Raises:
            SettingsError: there is no folder for it.
        """
        with self._guard:
            layout = self._layout()
            layout.folder.mkdir(mode=0o700, exist_ok=True)
            if self._users is None:
                users = open_lock(layout.users_lock)
                if not try_lock(users, exclusive=False):
                    os.close(users)
                    return None
                self._users = users
        return layout

    def close(self) -> None:
        """Give the share back; calling it again does nothing."""
        with self._guard:
            if self._users is not None:
                os.close(self._users)
                self._users = None

    def _layout(self) -> Layout:
        told = json.dumps(asdict(self.options), sort_keys=True).encode()
        name = f"llama-{hashlib.sha256(told).hexdigest()[:16]}"
        return Layout((self._folder or runtime_folder()) / name)


class Attempt:
    """One try to find the server loaded, within ``seconds``: steps until one gives its address."""

    def __init__(self, server: SharedServer, seconds: float) -> None:
        self._server = server
        self._deadline = time.monotonic() + seconds
        self._started = False

    def step(self) -> Address | None:
        """Look once, and start a supervisor where there is none; raises as ``ensure`` does."""
        layout, title = self._server.join(), self._server.options.title
        found = self._look(layout, title) if layout else None
        if found is None and time.monotonic() > self._deadline:
            raise UpstreamError(f"{title} is being loaded: try again in a moment")
        return found

    def _look(self, layout: Layout, title: str) -> Address | None:
        lock = open_lock(layout.supervisor_lock)
        try:
            if not try_lock(lock, exclusive=True):
                return _address(lock)
            if self._started and (problem := read_report(lock).get("error")):
                raise UpstreamError(f"{title} cannot be loaded: {problem}")
            self._started = True
            _start_supervisor(layout, self._server.options, lock)
        finally:
            os.close(lock)
        return None


def _address(lock: int) -> Address | None:
    report = read_report(lock)
    return Address(report["url"], report["key"]) if "url" in report else None


def _start_supervisor(layout: Layout, options: ServerOptions, lock: int) -> None:
    """Start a supervisor that inherits the locked descriptor; returns once it is on its own."""
    write_report(lock, {})
    layout.options.write_text(json.dumps(asdict(options)))
    root = Path(__file__).resolve().parents[3]
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    search = [str(root), os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, search))
    module, folder = "helix.providers.local_models.supervisor", str(layout.folder)
    with layout.log.open("wb") as log:
        subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-m", module, folder, str(lock)], check=False,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=environment,
            pass_fds=(lock,), start_new_session=True,
        )  # fmt: skip
