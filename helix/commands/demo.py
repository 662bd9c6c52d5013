"""``helix demo``: from a file to a cited, streamed answer and an honest refusal, over real HTTP.

Runs the commands that a user would run, against a bundled Postgres in a folder of its own that is
gone afterwards. Of the user's settings it takes those of Gemini where there is a GEMINI_API_KEY,
and no other: one that names a database or a server would have it write there.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path

import typer

from helix.commands.interrupts import sigterm_as_interrupt

COVERED = "How long do I have to request a refund?"
IN_A_TABLE = "What were Brightwater's inventories at 31 December 2025?"
UNCOVERED = "What is the capital of Mongolia?"
START_SECONDS = 60

_GEMINI = frozenset({"GEMINI_API_KEY", "GEMINI_MODEL", "EMBED_MODEL"})

NEXT_STEPS = """\
What next
  In a browser     {helix} up  (drop your own files on the page)
  In a terminal    {helix} ingest PATH...
                   {helix} ask "your question"
  Over HTTP        curl -N "http://localhost:8080/ask?q=your%20question"
  With Gemini      export GEMINI_API_KEY=... HELIX_LLM=gemini HELIX_EMBEDDER=gemini
                   (free key: https://aistudio.google.com/apikey), and a database of its own:
                   export DATABASE_URL=embedded:~/helix-gemini, or your Postgres
  Is it all right? {helix} doctor"""


def demo() -> None:
    """Ingest the samples, ask three questions over HTTP: no key, no Docker, nothing left behind."""
    with sigterm_as_interrupt(), _folder() as folder:
        environment = _environment(folder)
        _step(f"Applying the schema (bundled Postgres, {environment['HELIX_LLM']} answers)")
        _run(environment, "migrate")
        with _server(environment) as (server, address):  # it starts while the samples are read
            _step("Ingesting samples/")
            _run(environment, "ingest", "samples")
            _wait_until_up(server, address)
            covered = _ask(address, COVERED)
            in_a_table = _ask(address, IN_A_TABLE)
            uncovered = _ask(address, UNCOVERED)
    cited = all('"chunk_id":' in answer for answer in (covered, in_a_table))
    good = cited and uncovered.rstrip().endswith("data: []")
    typer.echo("\nServer and database stopped.\n" if good else "\nThe demo failed: see above.\n")
    typer.echo(NEXT_STEPS.format(helix=_command()))
    raise typer.Exit(0 if good else 1)


def _command() -> str:
    """``helix`` as the reader has to write it: a path where it is not the one on PATH."""
    program = sys.argv[0]
    return "helix" if shutil.which("helix") == str(Path(program).absolute()) else program


@contextmanager
def _folder() -> Iterator[str]:
    """A working directory with nothing in it but the samples: a checkout may have an `.env`."""
    package = Path(__file__).parents[1]  # samples/ lies in it in a wheel, beside it in a checkout
    place = package if (package / "samples").is_dir() else package.parent
    with tempfile.TemporaryDirectory(prefix="helix-demo-") as folder, chdir(folder):
        Path("samples").symlink_to(place / "samples")
        yield folder


def _environment(folder: str) -> dict[str, str]:
    """The variables of the demo's commands, which find no file of settings either."""
    from helix.settings.declaration import Settings
    from helix.settings.variables import variable_of
    from helix.telemetry.shared_metrics import FOLDER

    known = {variable_of(name, field) for name, field in Settings.model_fields.items()} - _GEMINI
    known.add(FOLDER)
    # in whatever case, as settings are read
    own = {name: value for name, value in os.environ.items() if name.upper() not in known}
    kind = "gemini" if own.get("GEMINI_API_KEY") else "offline"
    return own | {
        "DATABASE_URL": f"embedded:{folder}/database", "HELIX_LLM": kind, "HELIX_EMBEDDER": kind,
        "HELIX_LOG_LEVEL": "warning", "XDG_CONFIG_HOME": folder,
    }  # fmt: skip


def _step(text: str) -> None:
    typer.echo(f"\n== {text}")


def _start(environment: dict[str, str], *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "helix.cli", *arguments]
    return subprocess.Popen(command, env=environment)  # noqa: S603 - our own command


def _run(environment: dict[str, str], *arguments: str) -> None:
    if status := _start(environment, *arguments).wait():
        raise SystemExit(f"helix demo: {' '.join(arguments)} failed (exit {status})")


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server that is starting, and its address; it is stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    server = _start(environment, "serve", "--port", port)
    try:
        yield server, f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()


def _wait_until_up(server: subprocess.Popen[bytes], address: str) -> None:
    import httpx

    _step(f"Serving on {address}")
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with suppress(httpx.TransportError):  # not listening yet
            if httpx.get(f"{address}/healthz", trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit("helix demo: the server did not come up")


def _ask(address: str, question: str) -> str:
    """Ask and print each frame as it arrives; the whole stream as text."""
    import httpx

    url = httpx.URL(f"{address}/ask", params={"q": question})
    _step(f'curl -N "{url}"')
    lines = []
    with httpx.stream("GET", url, timeout=120, trust_env=False) as response:
        for line in response.iter_lines():
            typer.echo(line)
            lines.append(line)
    return "\n".join(lines)
