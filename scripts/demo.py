"""`make demo`: from a file to a cited, streamed answer and an honest refusal, over real HTTP.

Runs the commands a user would run, against a bundled Postgres in a folder of its own that is gone
afterwards. DATABASE_URL and GEMINI_API_KEY are used instead where they are set.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
COVERED = "How long do I have to request a refund?"
UNCOVERED = "What is the capital of Mongolia?"
START_SECONDS = 60

NEXT_STEPS = """\
What next
  Your own files   cp .env.example .env
                   .venv/bin/python -m pipelines.ingest PATH...
                   .venv/bin/helix ask "your question"
  Over HTTP        make serve, then: curl -N "http://localhost:8080/ask?q=your%20question"
  With Gemini      export GEMINI_API_KEY=... HELIX_LLM=gemini HELIX_EMBEDDER=gemini
                   (free key: https://aistudio.google.com/apikey), and a database of its own:
                   export DATABASE_URL=embedded:~/helix-gemini, or your Postgres
  Is it all right? .venv/bin/helix doctor"""


def main() -> int:
    """Run the demo; 0 when both questions were answered as they should be."""
    with tempfile.TemporaryDirectory(prefix="helix-demo-") as folder:
        environment = _environment(folder)
        _step(f"Applying the schema ({_told(environment)})")
        _run(environment, "-m", "db.migrate")
        _step("Ingesting samples/")
        _run(environment, "-m", "pipelines.ingest", "samples")
        with _server(environment) as address:
            covered = _ask(address, COVERED)
            uncovered = _ask(address, UNCOVERED)
    good = '"chunk_id":' in covered and uncovered.rstrip().endswith("data: []")
    print(f"\n{'Server and database stopped.' if good else 'The demo did not go as it should.'}\n")
    print(NEXT_STEPS)
    return 0 if good else 1


def _environment(folder: str) -> dict[str, str]:
    environment = dict(os.environ)
    environment.setdefault("DATABASE_URL", f"embedded:{folder}")
    kind = "gemini" if environment.get("GEMINI_API_KEY") else "offline"
    environment.setdefault("HELIX_LLM", kind)
    environment.setdefault("HELIX_EMBEDDER", kind)
    environment.setdefault("HELIX_LOG_LEVEL", "warning")
    return environment


def _told(environment: dict[str, str]) -> str:
    database = "bundled Postgres" if "embedded" in environment["DATABASE_URL"] else "your Postgres"
    return f"{database}, {environment['HELIX_LLM']} answers"


def _step(text: str) -> None:
    print(f"\n== {text}", flush=True)


def _run(environment: dict[str, str], *arguments: str) -> None:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"demo: {' '.join(arguments)} failed (exit {done.returncode})")


@contextmanager
def _server(environment: dict[str, str]) -> Iterator[str]:
    port = _free_port()
    _step(f"Serving on http://127.0.0.1:{port}")
    command = [sys.executable, "-m", "helix.cli", "serve", "--port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_up(server, address)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(server: subprocess.Popen[bytes], address: str) -> None:
    for _ in range(START_SECONDS * 10):
        if server.poll() is not None:
            raise SystemExit(f"demo: the server stopped (exit {server.returncode})")
        with suppress(httpx.TransportError):  # not listening yet
            if httpx.get(f"{address}/healthz", trust_env=False).status_code == 200:
                return
        time.sleep(0.1)
    raise SystemExit("demo: the server did not come up")


def _ask(address: str, question: str) -> str:
    """Ask and print each frame as it arrives; the whole stream as text."""
    url = httpx.URL(f"{address}/ask", params={"q": question})
    _step(f'curl -N "{url}"')
    seen = []
    with httpx.stream("GET", url, timeout=120, trust_env=False) as response:
        for line in response.iter_lines():
            print(line, flush=True)
            seen.append(line)
    return "\n".join(seen)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
