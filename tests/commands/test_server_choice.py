"""The service that a command asks: a server named, one found by itself, or the database."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from helix.commands.server_record import announced, recorded_address
from helix.commands.service.service_choice import found_server
from helix.domain.scope import DEFAULT_TENANT
from helix.settings import load_settings
from tests.support.cli_runner import helix
from tests.support.live_server import OFFLINE, live
from tests.support.service_process import environment

_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
_KILLED = """
import os, sys
from helix.commands.server_record import announced
with announced(sys.argv[1], "http://127.0.0.1:1"):
    os.kill(os.getpid(), 9)
"""


@pytest.fixture
def embedded(tmp_path: Path) -> str:
    return f"embedded:{tmp_path}/postgres"


def test_an_address_is_told_while_its_server_lives(embedded: str, tmp_path: Path) -> None:
    assert recorded_address(embedded) is None
    with announced(embedded, "http://127.0.0.1:8080"):
        assert recorded_address(embedded) == "http://127.0.0.1:8080"
        with announced(embedded, "http://127.0.0.1:9090"):  # the first one is told
            assert recorded_address(embedded) == "http://127.0.0.1:8080"
        mode = (tmp_path / "postgres" / "server.lock").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600
    assert recorded_address(embedded) is None


def test_a_killed_server_is_not_believed(embedded: str) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED, embedded], check=False, env=os.environ)
    assert killed.returncode == -9
    assert recorded_address(embedded) is None


def test_another_database_has_nobody_to_find() -> None:
    with announced("postgresql://u@h/d", "http://127.0.0.1:8080"):
        assert recorded_address("postgresql://u@h/d") is None


def test_a_server_that_asks_for_a_key_is_passed_over(embedded: str, database_url: str) -> None:
    settings = load_settings(database_url=embedded, **OFFLINE)
    with live(database_url, auth="keys") as client, announced(embedded, str(client.base_url)):
        assert asyncio.run(found_server(settings, DEFAULT_TENANT)) is None
    with live(database_url) as client, announced(embedded, str(client.base_url)):
        found = asyncio.run(found_server(settings, DEFAULT_TENANT))
        assert found is not None and found.address == str(client.base_url)
        # the database is not even there: the server answered
        assert helix("documents", DATABASE_URL=embedded, **_OFFLINE).returncode == 0


def test_all_scopes_that_sending_files_needs_are_told_at_once(
    database_url: str, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Notes.")
    made = helix("keys", "create", "--scopes", "ask", DATABASE_URL=database_url, **_OFFLINE)
    with live(database_url, auth="keys") as client:
        server = {"HELIX_SERVER": str(client.base_url), "HELIX_API_KEY": made.stdout.strip()}
        done = helix("ingest", str(tmp_path / "a.txt"), **server)
    assert done.returncode == 1 and "lacks the scope read" in done.stderr
    assert done.stderr.endswith("; sending files needs the scopes read and write\n")


def test_whose_model_answers_is_said(embedded: str, database_url: str) -> None:
    own = {"HELIX_LLM": "server:mine", "HELIX_EMBEDDER": "offline"}
    own["HELIX_MODEL_SERVER"] = "http://127.0.0.1:1/v1"
    with live(database_url) as client, announced(embedded, str(client.base_url)):
        address = str(client.base_url).rstrip("/")
        told = f"The server at {address} answers, with "
        found = helix("ask", "q?", DATABASE_URL=embedded, **own)
        named = helix("ask", "q?", "--server", address, HELIX_LLM="server:mine")
        plain = helix("ask", "q?", "--server", address)
        same = helix("ask", "q?", "--server", address, HELIX_LLM="offline")
        examined = helix("doctor", DATABASE_URL=embedded, **own)
    for done in (found, named):
        assert done.stderr.count(told) == 1
        assert "HELIX_LLM=server:mine here is not used." in done.stderr and told not in done.stdout
    assert told not in plain.stderr
    assert told in same.stderr and "not used" not in same.stderr
    assert f"{address} answers: commands ask it, and its model, " in examined.stdout
    assert "llm server:mine" in examined.stdout


def test_a_server_that_asks_for_a_key_says_how_to_show_one(database_url: str) -> None:
    with live(database_url, auth="keys") as client:
        address = str(client.base_url).rstrip("/")
        none = helix("documents", "--server", address)
        assert (none.returncode, none.stdout) == (1, "")
        assert "asks for a key: set HELIX_API_KEY" in none.stderr
        wrong = helix("ask", "q", "--server", address, HELIX_API_KEY="hx_secret_of_mine")
        assert wrong.returncode == 1 and "does not know the key in HELIX_API_KEY" in wrong.stderr
        made = helix("keys", "create", "--tenant", "default", DATABASE_URL=database_url, **_OFFLINE)
        key = made.stdout.strip()
        good = helix("documents", "--server", address, HELIX_API_KEY=key)
        assert good.returncode == 0, good.stderr
        other = helix("documents", "--tenant", "x", "--server", address, HELIX_API_KEY=key)
        assert other.returncode == 1 and "another tenant's: leave --tenant out" in other.stderr
    for done in (none, wrong, good, other):
        assert "hx_" not in done.stdout + done.stderr


@pytest.fixture
def stranger() -> Iterator[str]:
    """A web server that is not ours."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>It works!</html>")

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Page)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_what_is_no_helix_server_is_said(stranger: str) -> None:
    done = helix("documents", "--server", stranger)
    told = f"helix: what answers at {stranger} is no Helix server\n"
    assert (done.returncode, done.stderr) == (1, told)


def test_a_wrong_path_is_no_helix_server_either(database_url: str) -> None:
    with live(database_url) as client:
        address = f"{str(client.base_url).rstrip('/')}/team"
        done = helix("documents", "--server", address)
        told = f"helix: what answers at {address} is no Helix server\n"
        assert (done.returncode, done.stderr) == (1, told)


@pytest.mark.parametrize("command", [["ask", "q"], ["documents"], ["runs"], ["ingest", "."]])
def test_a_server_that_is_down_is_said_in_one_line(command: list[str]) -> None:
    done = helix(*command, HELIX_SERVER="http://127.0.0.1:1")
    assert done.returncode == 1
    assert "no server answers at http://127.0.0.1:1: start it with `helix serve`" in done.stderr
    assert done.stderr.count("\n") == 1
    wrong = helix(*command, "--server", "localhost:8080")
    assert wrong.returncode != 0 and "is no address" in wrong.stderr


def test_asking_a_server_loads_neither_llamaindex_nor_a_provider() -> None:
    heavy = ("llama_index", "numpy", "sqlalchemy", "fastapi", "google.genai", "wordllama")
    told = f"[name for name in {heavy!r} if name in sys.modules]"
    asking = "helix.commands.ask, helix.commands.service.server_connection"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {asking}; print({told})"],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "[]\n", done.stdout + done.stderr
