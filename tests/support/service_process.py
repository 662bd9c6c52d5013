"""The real service in a process of its own, and a database connection that can be cut."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

from helix.settings import HOW
from tests.support.repository import ROOT
from tests.support.warm_processes import Process


def environment(**values: str) -> dict[str, str]:
    """This process's environment with Helix's variables set to ``values`` and no others."""
    kept = {name: value for name, value in os.environ.items() if name not in HOW}
    return kept | {"PYTHONPATH": str(ROOT)} | values


def run(*arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m module …`` away from any .env; both outputs are kept."""
    _, *command = arguments
    with tempfile.TemporaryDirectory() as folder:
        process = Process(*command, cwd=folder, env=environment(**values))
        try:
            told, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    return subprocess.CompletedProcess(arguments, process.wait(), told, errors)


def run_cold(*arguments: str, **values: str) -> subprocess.CompletedProcess[str]:
    """The same with an interpreter of its own, which imports everything anew."""
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=folder, env=environment(**values), capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip


def eventually(holds: Callable[[], bool], seconds: float = 60.0) -> bool:
    """True where ``holds`` became true within the seconds."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


@dataclass
class Service:
    """A running server; ``log`` is the file that both its outputs go to."""

    url: str
    process: Process
    log: Path

    def get(self, path: str, **params: str) -> httpx.Response:
        return httpx.get(self.url + path, params=params or None, timeout=30)

    def ask(self, q: str, **params: str) -> httpx.Response:
        return self.get("/ask", q=q, **params)

    def logged(self) -> str:
        return self.log.read_text()


@contextmanager
def serving(**values: str) -> Iterator[Service]:
    """``uvicorn helix.app:app`` on a free loopback port, up when the block starts."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = Process(
                "uvicorn", "helix.app:app", "--port", str(port),
                cwd=folder, env=environment(**values), output=output,
            )  # fmt: skip
        service = Service(f"http://127.0.0.1:{port}", process, log)
        try:
            _wait_until_up(service)
            yield service
        finally:
            end(process)


def end(process: Process | subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and kill it where it has not after 40 s."""
    process.terminate()
    try:
        process.wait(timeout=40)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_up(service: Service) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        assert service.process.poll() is None, service.logged()
        with suppress(httpx.TransportError):  # not listening yet
            service.get("/healthz")
            return
        time.sleep(0.05)
    raise AssertionError(f"the server did not come up: {service.logged()}")


class CuttableDatabase:
    """A TCP door to a unix-socket Postgres that can be shut, and opened again."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = parse_qs(parts.query)["host"][0] + "/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._shut = self._frozen = False
        port = self._listener.getsockname()[1]
        self.url = f"postgresql://postgres@127.0.0.1:{port}{parts.path}"
        threading.Thread(target=self._accept, daemon=True).start()

    def shut(self) -> None:
        self._shut = True
        for end in self._open:
            with suppress(OSError):  # gone already
                end.shutdown(socket.SHUT_RDWR)

    def freeze(self) -> None:
        """Take what is sent and pass nothing on, until shut."""
        self._frozen = True

    def reopen(self) -> None:
        self._shut = self._frozen = False

    def close(self) -> None:
        self.shut()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed
                return
            if self._shut:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._socket)
            self._open += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):  # either end may be cut at any time
            while data := source.recv(65536):
                if not self._frozen:
                    sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
