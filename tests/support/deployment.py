"""A whole Helix in processes of its own: embedded Postgres, server, worker, a model's service."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from db.embedded_postgres import Layout, read_report
from tests.support.service_process import environment, eventually
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire

_LISTENING = re.compile(r"running on http://127\.0\.0\.1:\d+")
QUESTION = "What does crate 1 hold?"
PATIENCE_SECONDS = 120.0
"""For what was accepted to be in: a worker that starts anew takes long on a busy machine."""
BOUND_SECONDS = 12.0
"""Longest that any caller waits for an answer or an error, whatever is broken."""


@dataclass
class Told:
    """The result of one caller: an HTTP status, 0 for a connection that was refused or cut."""

    what: str
    status: int
    seconds: float
    whole: bool
    """An answer with its end, or an error in one line."""


@dataclass
class Deployment:
    """The processes, and what was accepted by them."""

    place: Path
    folder: Path
    wire: GeminiWire
    port: int
    prefix: tuple[str, ...] = ()
    """The words in front of the server's command."""
    variables: dict[str, str] = field(default_factory=dict)
    """Of the server, besides its settings."""
    process: Process | subprocess.Popen[bytes] | None = None
    accepted: dict[str, str] = field(default_factory=dict)
    """By title, the text of each upload that was acknowledged."""
    tried: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database_url(self) -> str:
        descriptor = (self.place / "supervisor.lock").open()
        with descriptor:
            found = read_report(descriptor.fileno())
        return f"postgresql://postgres@/helix?host={found['socket']}&port=5432"

    @property
    def layout(self) -> Layout:
        return Layout(self.place)

    def start(self) -> None:
        """Start the server, with one worker behind it; returns when it listens."""
        log = self.folder / "server.log"
        command = ("helix.cli", "serve", "--port", str(self.port))
        variables = environment(
            DATABASE_URL=f"embedded:{self.place}", HELIX_LLM="gemini", HELIX_EMBEDDER="offline",
            GEMINI_API_KEY="test-key", HELIX_MODEL_TIMEOUT="2", HELIX_WORKERS="1",
            HELIX_SUGGESTIONS="off", TMPDIR=str(self.temporary), **self.variables,
        )  # fmt: skip
        with log.open("wb") as output:
            if self.prefix or self.variables:  # which a process takes from its start on
                self.process = subprocess.Popen(
                    [*self.prefix, sys.executable, "-m", *command],
                    cwd=self.folder, env=variables, stdout=output, stderr=output,
                )  # fmt: skip
            else:
                self.process = Process(*command, cwd=self.folder, output=output, env=variables)
        assert eventually(lambda: bool(_LISTENING.search(log.read_text())), 90), log.read_text()

    @property
    def temporary(self) -> Path:
        """The server's own /tmp."""
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return folder

    def server(self) -> psutil.Process:
        assert self.process is not None
        return psutil.Process(self.process.pid)

    def workers(self) -> list[psutil.Process]:
        """The server's worker processes."""
        found = []
        for child in self.server().children(recursive=True):
            with suppress(psutil.Error):
                if "--parent" in child.cmdline():
                    found.append(child)
        return found

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=40)
            self.process = None

    def ask(self) -> Told:
        began = time.monotonic()
        try:
            response = httpx.get(self.url + "/ask", params={"q": QUESTION}, timeout=30)
        except httpx.TransportError:
            return Told("ask", 0, time.monotonic() - began, whole=True)
        text = response.text
        whole = "event: citations" in text if response.status_code == 200 else _is_line(response)
        return Told("ask", response.status_code, time.monotonic() - began, whole)

    def upload(self) -> Told:
        self.tried += 1
        title = f"Crate {self.tried}"
        text = f"{title} holds {self.tried + 7} lanterns. It stands in row {self.tried}."
        began = time.monotonic()
        try:
            response = httpx.post(
                self.url + "/v1/documents",
                files={"file": (f"{self.tried}.txt", text.encode())}, data={"title": title},
                timeout=30,
            )  # fmt: skip
        except httpx.TransportError:
            return Told("upload", 0, time.monotonic() - began, whole=True)
        if response.status_code in (200, 201, 202):
            self.accepted[title] = text
        whole = response.is_success or _is_line(response)
        return Told("upload", response.status_code, time.monotonic() - began, whole)

    def is_well(self) -> bool:
        """True where a question is answered to its end, and more are welcome."""
        try:
            ready = httpx.get(self.url + "/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False
        told = self.ask()
        return ready and told.status == 200 and told.whole

    def losses(self) -> list[str]:
        """The accepted files that are missing, there twice or torn; empty: none is."""
        with psycopg.connect(self.database_url) as connection:
            documents = connection.execute(
                "SELECT d.title, d.status, d.text,"
                " (SELECT count(*) FROM chunks c WHERE c.document_id = d.id),"
                " (SELECT bool_and(c.content = substr(d.text, c.start_char + 1,"
                "   c.end_char - c.start_char)) FROM chunks c WHERE c.document_id = d.id),"
                " (SELECT string_agg(f.reason, '; ') FROM run_files f WHERE f.document_id = d.id)"
                " FROM documents d ORDER BY d.id"
            ).fetchall()
        found = [title for title, *_ in documents]
        wrong = [f"{title} is missing" for title in self.accepted if title not in found]
        wrong += [f"{title} is there twice" for title in set(found) if found.count(title) > 1]
        for title, status, text, chunks, whole, reasons in documents:
            if title in self.accepted and (status, text) != ("ready", self.accepted[title]):
                wrong.append(f"{title} is {status} ({reasons})")
            if status == "ready" and not (chunks and whole):
                wrong.append(f"{title} has {chunks} chunks, or torn ones")
        return wrong

    def settled(self) -> bool:
        """True where all that was accepted is in, within the patience of a slow machine."""

        def done() -> bool:
            with suppress(psycopg.Error, KeyError):
                return not self.losses()
            return False

        return eventually(done, PATIENCE_SECONDS)


def _is_line(response: httpx.Response) -> bool:
    """True where an error is JSON with one line."""
    if not response.headers.get("content-type", "").startswith("application/json"):
        return False
    return "\n" not in str(response.json().get("error", "\n"))


@contextmanager
def deployed(
    place: Path,
    folder: Path,
    wire: GeminiWire,
    prefix: tuple[str, ...] = (),
    variables: dict[str, str] | None = None,
) -> Iterator[Deployment]:
    """A deployment that has answered its first question from its first upload."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with ExitStack() as stack:
        deployment = Deployment(place, folder, wire, port, prefix, variables or {})
        stack.callback(deployment.stop)
        deployment.start()
        assert deployment.upload().status in (200, 201, 202)
        assert deployment.settled(), deployment.losses()
        assert deployment.is_well() or pytest.fail("it does not answer before any fault")
        yield deployment
