"""The programs of examples/ as people run them, against the real service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.repository import ROOT
from tests.support.service_process import environment

pytestmark = pytest.mark.processes

EXAMPLES = ROOT / "examples"
PROGRAMS = sorted(file.name for file in EXAMPLES.glob("*.py"))
_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
SENTENCE = "Refunds are accepted within 30 days of purchase"


@pytest.fixture(scope="module")
def server(module_database_url: str) -> Iterator[str]:
    values = _OFFLINE | {"DATABASE_URL": module_database_url}
    assert helix("ingest", str(ROOT / "samples" / "refund-policy.txt"), **values).returncode == 0
    with live(module_database_url) as client:
        yield str(client.base_url).rstrip("/")


def _run(server: str, *command: str) -> str:
    done = subprocess.run(
        command, env=environment(HELIX_SERVER=server), capture_output=True, text=True, check=False,
        timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_answer_and_where_it_stands(server: str, name: str) -> None:
    told = _run(server, sys.executable, str(EXAMPLES / name))
    assert SENTENCE in told.partition("\n")[0]
    link = re.search(rf"{re.escape(server)}/#/source/\d+\?start=(\d+)&end=(\d+)", told)
    span = link or re.search(r"Refund Policy, (\d+) to (\d+)", told)
    assert span is not None, told
    assert int(span[2]) - int(span[1]) == len(f"{SENTENCE}.")


def test_curl_shows_the_frames_as_they_are(server: str) -> None:
    told = _run(server, "sh", str(EXAMPLES / "ask.sh"), "How long do I have to request a refund?")
    assert told.startswith('data: {"t":"Refunds ') and told.count("event: citations\n") == 1
    assert '"document_title":"Refund Policy"' in told


def test_every_example_is_described_and_short() -> None:
    told = (EXAMPLES / "README.md").read_text()
    for file in EXAMPLES.iterdir():
        if file.is_file() and file.name != "README.md":
            assert f"`{file.name}`" in told
            assert len(file.read_text().splitlines()) <= 60, file
