"""Other people's clients, as their users run them: each in its own process, over a real server.

`make clients` puts them in environments of their own; the versions are in requirements.txt and in
node/package.json, what came of it is in docs/clients.md.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT
from tests.support.service_process import environment

pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]
BIN = ROOT / "build" / "clients" / "bin"
PROGRAMS = ROOT / "tests" / "clients" / "programs"
INSPECTOR = ROOT / "tests" / "clients" / "node" / "node_modules" / ".bin" / "mcp-inspector"
NODE = ROOT / "tests" / "clients" / "node" / "node_modules" / "node" / "bin"
SAMPLES = ROOT / "samples"
QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase"
LLM_MODELS = """\
- model_id: helix
  model_name: helix
  api_base: {server}/v1
  supports_schema: true
  vision: true
"""


def _run(*command: object, stdin: str = "", **values: str) -> subprocess.CompletedProcess[str]:
    """Run a client; what it is not told, and its user's settings, it does not have."""
    return subprocess.run(
        [str(part) for part in command], env=environment(**values), input=stdin,
        capture_output=True, text=True, check=False, timeout=800,
    )  # fmt: skip


def _faults(name: str, server: str, **values: str) -> str:
    """The errors of a client's program; '' where all that it asserts held."""
    done = _run(BIN / "python", PROGRAMS / f"{name}.py", HELIX_SERVER=server, **values)
    return "" if done.returncode == 0 else done.stderr[-4000:] or f"status {done.returncode}"


@pytest.mark.parametrize(
    "name",
    [
        "openai_sdk",
        "langchain_chat",
        "langchain_form",
        "instructor_form",
        "litellm_calls",
        "fastmcp_calls",
    ],
)
def test_a_client_of_python(name: str, server: str, folder: Path) -> None:
    documents = len(list(SAMPLES.iterdir()))
    assert not _faults(name, server, HELIX_DOCUMENTS=str(documents), HOME=str(folder))


@pytest.mark.parametrize("name", ["langchain_form", "instructor_form"])
def test_forms_that_a_language_model_fills(name: str, server_with_model: str) -> None:
    assert not _faults(name, server_with_model, HELIX_HAS_MODEL="1")


@pytest.fixture
def llm(server: str, folder: Path) -> dict[str, str]:
    """The variables of an `llm` that knows Helix as one of its models."""
    own = folder / "llm"
    own.mkdir(exist_ok=True)
    (own / "extra-openai-models.yaml").write_text(LLM_MODELS.format(server=server))
    return {"LLM_USER_PATH": str(own), "HOME": str(folder)}


def test_llm_asks_goes_on_and_pipes_a_file(llm: dict[str, str]) -> None:
    asked = _run(BIN / "llm", "-m", "helix", QUESTION, **llm)
    assert TOLD in asked.stdout and asked.returncode == 0, asked.stderr
    whole = _run(BIN / "llm", "-m", "helix", "--no-stream", "-s", "Be brief.", QUESTION, **llm)
    assert whole.stdout == asked.stdout, whole.stderr
    on = _run(BIN / "llm", "-c", "And who pays for the return?", **llm)
    assert on.returncode == 0 and on.stdout.strip(), on.stderr
    minutes = _minutes()
    piped = _run(BIN / "llm", "-m", "helix", "When does the quokka nap?", stdin=minutes, **llm)
    assert "The quokka naps at half past four" in piped.stdout, piped.stdout + piped.stderr
    formed = _run(BIN / "llm", "-m", "helix", "--schema", "days int", QUESTION, **llm)
    assert formed.returncode == 1 and "no language model" in formed.stderr, formed.stderr
    assert "Traceback" not in formed.stderr


def _minutes() -> str:
    """A text that is longer than a question may be, with one line that nothing else says."""
    lines = [f"Item {n} of the minutes is about the weather of that day.\n" for n in range(120)]
    return "".join([*lines[:60], "The quokka naps at half past four.\n", *lines[60:]])


def _inspect(server: str, *more: str) -> Any:
    done = _run(NODE / "node", INSPECTOR, "--cli", f"{server}/mcp", "--transport", "http", *more)
    told = json.loads(done.stdout)
    # a tool's error, which the inspector prints like any result, is its status 5
    assert done.returncode == (5 if told.get("isError") else 0), done.stderr
    return told


def test_the_mcp_inspector_lists_calls_and_reads(server: str) -> None:
    tools = {tool["name"] for tool in _inspect(server, "--method", "tools/list")["tools"]}
    assert tools == {"search", "fetch", "ask", "list_documents", "read_passage"}
    call = ("--method", "tools/call", "--tool-name", "ask", "--tool-arg")
    told = _inspect(server, *call, f"question={QUESTION}")["structuredContent"]
    assert TOLD in told["answer"] and told["citations"][0]["url"].startswith(server)
    blank = _inspect(server, *call, "question= ")
    assert blank["isError"] and "blank" in blank["content"][0]["text"]
    (first, *_) = _inspect(server, "--method", "resources/list")["resources"]
    read = _inspect(server, "--method", "resources/read", "--uri", first["uri"])
    assert read["contents"][0]["text"]
    prompts = _inspect(server, "--method", "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["research"]
