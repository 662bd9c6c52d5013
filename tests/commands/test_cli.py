"""The `helix` command, and processes that must stop with one line before they listen."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import psycopg
import pytest

from db.migrate import NEWEST_VERSION, migrate
from db.url import open_database
from helix.commands.server_record import announced
from helix.domain.contract import REFUSAL
from tests.support.cli_runner import helix
from tests.support.live_server import live
from tests.support.repository import ROOT
from tests.support.service_process import run, run_cold
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import refused_key

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
SAMPLE = str(ROOT / "samples" / "refund-policy.txt")


@pytest.fixture(scope="module")
def seeded(module_durable_database_url: str) -> dict[str, str]:
    values = {"DATABASE_URL": module_durable_database_url, **OFFLINE}
    done = helix("ingest", SAMPLE, **values)
    assert done.returncode == 0, done.stderr
    return values


@pytest.mark.processes
def test_ask_streams_an_answer_and_lists_its_citations(seeded: dict[str, str]) -> None:
    done = run("-m", "helix.cli", "ask", "How long do I have to request a refund?", **seeded)
    assert done.returncode == 0, done.stderr
    answer, number, _ = re.split(r"\n\n(\[\d\]) Refund Policy\n", done.stdout, maxsplit=1)
    assert "30 days" in answer and number in answer


@pytest.mark.processes
def test_ask_refuses_what_is_not_there(seeded: dict[str, str]) -> None:
    done = run("-m", "helix.cli", "ask", "What is the capital of Mongolia?", **seeded)
    assert (done.returncode, done.stdout) == (0, f"{REFUSAL}\n")


@pytest.mark.parametrize("beside", [True, False])
def test_the_command_for_a_client_of_mcp_starts_this_helix_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: bool
) -> None:
    monkeypatch.setattr(sys, "argv", [".venv/bin/helix"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    if beside:
        (tmp_path / "helix").touch()
    done = helix("mcp", "--print-config", "stdio", "--tenant", "acme", **OFFLINE,
                 DATABASE_URL="embedded", PATH=str(tmp_path))  # fmt: skip
    told = json.loads(done.stdout)["mcpServers"]["helix"]
    python = [str(tmp_path / "python3"), "-m", "helix"]
    command = [str(tmp_path / "helix")] if beside else python
    assert [told["command"], *told["args"]] == [*command, "mcp", "--tenant", "acme"]


def test_the_settings_that_a_client_of_mcp_would_not_find_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "helix" / "env"
    own.parent.mkdir()
    own.write_text("HELIX_LLM=offline\nHELIX_EMBEDDER=offline\n")
    here = helix("mcp", "--print-config", "stdio", DATABASE_URL="postgresql://u:secret@h/n")
    assert here.stderr.endswith(f"put DATABASE_URL into {own}\n") and "secret" not in here.stderr
    http = helix("mcp", "--print-config", "http", DATABASE_URL="embedded")
    own.write_text(own.read_text() + "DATABASE_URL=embedded\n")
    whole = helix("mcp", "--print-config", "stdio")
    assert (http.stderr, whole.stderr) == ("", "")


def test_the_address_of_a_server_for_a_client_of_mcp_is_that_of_its_own_database(
    tmp_path: Path,
) -> None:
    database = f"embedded:{tmp_path}"
    with announced(database, "http://127.0.0.1:18099"):
        done = helix("mcp", "--print-config", "http", "--tenant", "a@b", **OFFLINE,
                     DATABASE_URL=database)  # fmt: skip
    told = {"type": "http", "url": "http://127.0.0.1:18099/mcp?tenant_id=a%40b"}
    assert json.loads(done.stdout)["mcpServers"]["helix"] == told
    done = helix("mcp", "--print-config", "claude", **OFFLINE, DATABASE_URL=database,
                 HELIX_AUTH="keys", HELIX_URL="https://helix.example")  # fmt: skip
    assert "'https://helix.example/mcp' --header" in done.stdout


@pytest.mark.parametrize("question", ["", "  ", "x" * 5000])
def test_ask_says_what_is_wrong_with_a_question(seeded: dict[str, str], question: str) -> None:
    done = helix("ask", question, **seeded)
    assert done.returncode == 2
    assert done.stderr.startswith("helix: the question ") and done.stderr.count("\n") == 1


def test_doctor_finds_a_healthy_service_healthy(seeded: dict[str, str]) -> None:
    with live(seeded["DATABASE_URL"]) as client:
        address = str(client.base_url)
        done = helix("doctor", HELIX_SERVER=address, **seeded)
    assert f"server: {address} answers" in done.stdout
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
    assert "1536 numbers, norm 1.000" in done.stdout and "pgvector 0." in done.stdout
    assert "1 documents" in done.stdout
    assert "another: DATABASE_URL, or `helix up --data DIR`" in done.stdout
    assert "another: HELIX_LLM, or `helix up --model NAME`" in done.stdout


def test_doctor_reads_geminis_raw_norm(database_url: str) -> None:
    with GeminiWire(norm=0.69) as wire:
        done = helix(
            "doctor",
            DATABASE_URL=database_url, GEMINI_API_KEY="k", GOOGLE_GEMINI_BASE_URL=wire.base_url,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "norm 1.000; it came with norm 0.690" in done.stdout


def test_doctor_says_what_to_do_about_each_failure(bare_database_url: str) -> None:
    with GeminiWire() as wire:
        wire.script(refused_key())
        done = helix(
            "doctor",
            DATABASE_URL=bare_database_url, GEMINI_API_KEY="hunter2",
            HELIX_SERVER="http://127.0.0.1:1", GOOGLE_GEMINI_BASE_URL=wire.base_url,
        )  # fmt: skip
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert any("helix migrate" in line for line in failed)
    assert any("GEMINI_API_KEY" in line for line in failed)
    assert any("HELIX_SERVER" in line for line in failed)
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("HELIX_RERANKER", "coher", "names an unknown reranker 'coher'"),
        ("HELIX_MODELS", "opnai:x", "names an unknown provider 'opnai'"),
        ("HELIX_JUDGE", "opnai:x", "names an unknown provider 'opnai'"),
        ("HELIX_PROMPTS_FOLDER", "/no/such/folder", "is no folder"),
        ("HELIX_VOICE_MODEL", "/no/such/folder", "no folder with a model.bin"),
    ],
)
def test_doctor_finds_what_would_end_a_start(
    seeded: dict[str, str], variable: str, value: str, told: str
) -> None:
    done = helix("doctor", **seeded, **{variable: value})
    assert done.returncode == 1
    (failed,) = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert failed.startswith(f"FAIL start: {variable}") and told in failed


def test_doctor_names_a_pooler_that_is_away(seeded: dict[str, str]) -> None:
    pooler = "postgresql://u:hunter2@127.0.0.1:1/n"
    done = helix("doctor", DATABASE_POOLER_URL=pooler, **seeded)
    (failed,) = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert failed.startswith("FAIL pooler: cannot reach postgresql://u:***@127.0.0.1:1/n (")
    assert failed.endswith("or mend DATABASE_POOLER_URL")


def test_erasing_a_tenant_of_whom_there_is_nothing_says_so(seeded: dict[str, str]) -> None:
    done = helix("tenants", "erase", "acmee", "--yes", **seeded)
    assert done.returncode == 0 and "0 documents" in done.stdout
    assert done.stderr == "helix: there was none of that: is the tenant's name misspelt?\n"


def test_doctor_says_that_the_schema_is_of_a_newer_helix(tmp_path: Path) -> None:
    values = {"DATABASE_URL": f"embedded:{tmp_path / 'postgres'}", **OFFLINE}
    with open_database(values["DATABASE_URL"]) as url:
        migrate(url)
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE schema_version SET version = version + 1")
        done = helix("doctor", **values)
    assert done.returncode == 1
    (failed,) = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert failed.startswith("FAIL schema: ") and f"is version {NEWEST_VERSION + 1}" in failed
    assert failed.endswith("install the newer Helix that made it")


def test_doctor_without_settings() -> None:
    done = helix("doctor")
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL settings: DATABASE_URL is not set")


@pytest.fixture
def other_embedder(database_url: str) -> Iterator[str]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO embedding_space (identity) VALUES ('gemini:x:1536')")
        connection.execute(
            "INSERT INTO documents (title, source_uri, content_hash) VALUES ('t', 'u', 'h')"
        )
        connection.execute(
            "INSERT INTO chunks (node_id, content, embedding, metadata_) SELECT 'n', 'c',"
            " array_fill(0.5, ARRAY[1536])::vector,"
            " jsonb_build_object('document_id', id, 'ordinal', 0) FROM documents"
        )  # fmt: skip
    yield database_url


ENTRY_POINTS = [
    ("-m", "uvicorn", "helix.app:app", "--port", "0"),
    ("-m", "helix.cli", "serve", "--port", "0"),
    ("-m", "helix.cli", "ask", "q"),
    ("-m", "pipelines.ingest", SAMPLE),
]


def _assert_stops(done: CompletedProcess[str], told: str) -> None:
    output = done.stdout + done.stderr
    assert done.returncode not in (0, None), output
    assert told in output and "Traceback" not in output and "hunter2" not in output, output
    assert "running on" not in output


@pytest.mark.parametrize("arguments", ENTRY_POINTS, ids=lambda a: a[1] + a[2])
@pytest.mark.processes
def test_a_missing_variable_stops_the_process(arguments: tuple[str, ...]) -> None:
    """Each with an interpreter of its own, as a user starts it; later ones have it imported."""
    _assert_stops(run_cold(*arguments), "DATABASE_URL is not set: set it to postgresql://")


@pytest.mark.parametrize("arguments", ENTRY_POINTS, ids=lambda a: a[1] + a[2])
@pytest.mark.processes
def test_a_database_that_is_down_stops_the_process(arguments: tuple[str, ...]) -> None:
    url = "postgresql://u:hunter2@127.0.0.1:1/d"
    done = run(*arguments, DATABASE_URL=url, **OFFLINE)
    _assert_stops(done, "cannot reach postgresql://u:***@127.0.0.1:1/d")


@pytest.mark.parametrize("arguments", ENTRY_POINTS, ids=lambda a: a[1] + a[2])
@pytest.mark.processes
def test_a_database_of_another_embedder_stops_the_process(
    arguments: tuple[str, ...], other_embedder: str
) -> None:
    told = "this database was filled by the embedder gemini:x:1536, but offline:"
    _assert_stops(run(*arguments, DATABASE_URL=other_embedder, **OFFLINE), told)


@pytest.mark.parametrize("arguments", ENTRY_POINTS, ids=lambda a: a[1] + a[2])
@pytest.mark.processes
def test_a_database_without_schema_stops_the_process(
    arguments: tuple[str, ...], bare_database_url: str
) -> None:
    done = run(*arguments, DATABASE_URL=bare_database_url, **OFFLINE)
    _assert_stops(done, "run `helix migrate`")


PROVIDERS = [
    ("HELIX_EMBEDDER", "nobody", "HELIX_EMBEDDER names an unknown provider 'nobody'"),
    ("HELIX_LLM", "nobody:m", "HELIX_LLM names an unknown provider 'nobody'"),
    ("HELIX_LLM", "offline:m", "HELIX_LLM=offline takes no model name"),
    ("HELIX_EMBEDDER", "huggingface:some/model", "helix-answers[huggingface]"),
]


@pytest.mark.processes
def test_an_unknown_provider_stops_the_process(database_url: str) -> None:
    variable, value, told = PROVIDERS[0]
    values = {"DATABASE_URL": database_url, **OFFLINE, variable: value}
    _assert_stops(run(*ENTRY_POINTS[0], **values), told)


@pytest.mark.parametrize(("variable", "value", "told"), PROVIDERS)
def test_an_unknown_provider_is_named(
    module_database_url: str, variable: str, value: str, told: str
) -> None:
    values = {"DATABASE_URL": module_database_url, **OFFLINE, variable: value}
    done = helix("ask", "q", **values)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["ask", "serve", "doctor"])
def test_help_of_a_command_needs_no_setting(command: str) -> None:
    done = helix(command, "--help")
    assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stderr


@pytest.mark.parametrize("module", ["helix.cli", "pipelines.ingest", "db.migrate"])
@pytest.mark.processes
def test_help_needs_no_setting(module: str) -> None:
    done = run_cold("-m", module, "--help")
    assert done.returncode == 0 and "usage" in done.stdout.lower(), done.stderr
