"""The ingest command from outside: real files, a real Postgres, Gemini over the wire."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import typer
from psycopg import sql
from typer.testing import CliRunner, Result

import pipelines.ingest
from db.embedded import EmbeddedPostgres, Layout
from tests.fakes import documents, embedded, rows
from tests.wire.gemini import GeminiWire
from tests.wire.gemini_replies import Vectors, refused_key

READS = "Helix reads text, Markdown, HTML, PDF, Word, PowerPoint, Excel, CSV and EPUB files"
ROOT = Path(__file__).resolve().parent.parent
SLICES = (
    "SELECT bool_and(content = substr(text, start_char + 1, end_char - start_char))"
    " FROM chunks c JOIN documents d ON d.id = document_id"
)


@pytest.fixture
def wire() -> Iterator[GeminiWire]:
    with GeminiWire() as wire:
        yield wire


@pytest.fixture
def folder(
    tmp_path: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """An empty working directory; the environment of a user of Gemini."""
    environment = {
        "DATABASE_URL": database_url,
        "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "GEMINI_API_KEY": "test-key",
        "HELIX_EMBEDDER": "gemini",
        "HELIX_LLM": "offline",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    # it keeps the standard error of the first run, which is closed by the second
    monkeypatch.setattr(pipelines.ingest, "configure_logging", lambda level: None)
    return tmp_path


def ingest(*arguments: str) -> Result:
    """The command in this process; a traceback would be an exception of the test."""
    command = typer.Typer()
    command.command()(pipelines.ingest.ingest)
    result = CliRunner().invoke(command, [*arguments])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# --- what goes in


def test_the_bundled_sample_as_a_process(folder: Path, database_url: str, wire: GeminiWire) -> None:
    command = [sys.executable, "-m", "pipelines.ingest"]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (first.returncode, "failed" in first.stderr) == (0, False), first.stderr
    assert "added     samples/refund-policy.txt (" in first.stderr
    assert "\x1b" not in first.stderr + first.stdout, "plain lines where there is no terminal"
    assert " added, 0 replaced, 0 unchanged, 0 failed; " in first.stdout
    assert documents(database_url)["samples/refund-policy.txt"][1] == "Refund Policy"
    assert rows(database_url, SLICES) == [(True,)]
    assert all(text.partition("\n\n")[0] for text in embedded(wire))
    assert [text for text in embedded(wire) if text.startswith("Refund Policy\n\n")]
    assert wire.received("embed")[0].body["requests"][0]["taskType"] == "RETRIEVAL_DOCUMENT"
    wire.requests.clear()
    os.chdir(ROOT)
    assert ingest("samples").exit_code == ingest("./samples/refund-policy.txt").exit_code == 0
    assert wire.requests == []


def test_titles(folder: Path, database_url: str) -> None:
    (folder / "refund-policy_2024.txt").write_text("# Not Markdown.")
    (folder / "with-heading.md").write_text("Intro\n\n# The *Real* Title\n\nText.")
    (folder / "front.md").write_text("---\ntitle: 'The Front'\n---\n# Heading\n")
    (folder / "no-heading.markdown").write_text("Text.")
    assert ingest(".").exit_code == 0
    assert {uri: title for uri, (_, title) in documents(database_url).items()} == {
        "refund-policy_2024.txt": "Refund Policy 2024",
        "with-heading.md": "The Real Title",
        "front.md": "The Front",
        "no-heading.markdown": "No Heading",
    }


def test_the_title_option(folder: Path, database_url: str, wire: GeminiWire) -> None:
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("Text.")
    blank = "--title is blank or not text: give the title, or leave it out"
    for arguments, said in (
        (("a.txt", "b.txt", "--title", "Mine"), "--title takes one file; 2 were given"),
        ((".", "--title", "Mine"), "--title takes one file; 2 were given"),
        (("none.txt", "--title", "Mine"), "--title takes one file; 0 were given"),
        (("a.txt", "--title", " "), blank),
    ):
        refused = ingest(*arguments)
        assert (refused.exit_code, refused.stderr) == (1, f"ingest: {said}\n")
    assert (documents(database_url), wire.requests) == ({}, [])
    assert ingest("a.txt", "--title", "Mine & Yours").exit_code == 0
    assert [title for _, title in documents(database_url).values()] == ["Mine & Yours"]
    assert embedded(wire) == ["Mine & Yours\n\nText."]
    assert "1 unchanged" in ingest("a.txt", "--title", "Mine & Yours").stdout


def test_an_unchanged_file_costs_nothing_and_a_changed_one_is_replaced(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"Only {name} says this.\n\nThe old end of {name}.")
    assert ingest(".").exit_code == 0
    before = documents(database_url)
    wire.requests.clear()
    os.utime(folder / "a.txt", (0, 0))
    result = ingest(".")
    assert (result.exit_code, wire.requests) == (0, [])
    assert "3 files: 0 added, 0 replaced, 3 unchanged, 0 failed; 0 chunks" in result.stdout
    (folder / "b.txt").write_text("Only b says this.\n\nA new end.")
    result = ingest(".")
    assert "replaced  b.txt (1 chunks)" in result.stderr
    assert "3 files: 0 added, 1 replaced, 2 unchanged, 0 failed; 1 chunks" in result.stdout
    assert embedded(wire) == ["B\n\nOnly b says this.\n\nA new end."]
    assert documents(database_url) == before
    content = "SELECT content FROM chunks WHERE document_id = %s"
    assert rows(database_url, content, before["b.txt"][0]) == [("Only b says this.\n\nA new end.",)]
    assert rows(database_url, SLICES) == [(True,)]


def test_many_small_files_cost_few_requests(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    for number in range(60):
        (folder / f"{number}.txt").write_text(f"Number {number}.")
    assert ingest(".").exit_code == 0
    sizes = [len(r.body["requests"]) for r in wire.received("embed")]
    assert sum(sizes) == 60 and len(sizes) <= 25, "not one a file"
    assert len(documents(database_url)) == 60


# --- what does not


def test_what_cannot_be_read_is_named_and_the_rest_goes_in(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    outside = folder.parent / f"{folder.name}-outside.txt"
    outside.write_text("Not yours.")
    inside = folder / "docs"
    inside.mkdir()
    (inside / "good.txt").write_text("Good text.")
    (inside / "also good.md").write_bytes(b"\xef\xbb\xbf# Gr\xc3\xb6\xc3\x9fe\r\n\r\nText.\r\n")
    (inside / "empty.txt").touch()
    (inside / "blank.md").write_text(" \n\t\n")
    (inside / "latin.txt").write_bytes(b"caf\xe9")
    (inside / "nul.txt").write_bytes(b"text\0")
    (inside / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (inside / ".hidden.txt").write_text("Hidden.")
    (inside / "away.txt").symlink_to(outside)
    (inside / "broken.txt").symlink_to("nothing.txt")
    os.mkfifo(inside / "pipe.txt")
    result = ingest("docs", "missing.txt", "docs/picture.png", "docs/good.txt")
    assert result.exit_code == 1
    failed = {
        line.removeprefix("failed ").strip()
        for line in result.stderr.splitlines()
        if line.startswith("failed ")
    }
    assert failed == {
        "docs/empty.txt: empty: there is no text in it",
        "docs/blank.md: empty: there is no text in it",
        "docs/latin.txt: not UTF-8 at byte 3: save it as UTF-8 and ingest it again",
        f"docs/nul.txt: binary data; {READS}",
        "docs/away.txt: a symbolic link that leads out of the folder",
        "docs/broken.txt: cannot be read: No such file or directory",
        "docs/pipe.txt: not a file",
        f"docs/picture.png: a PNG image; {READS}",
        "missing.txt: no such file or folder",
    }
    assert "11 files: 2 added, 0 replaced, 0 unchanged, 9 failed; 2 chunks" in result.stdout
    assert "1 files of other types were passed over" in result.stdout
    assert {uri: title for uri, (_, title) in documents(database_url).items()} == {
        "docs/good.txt": "Good",
        "docs/also good.md": "Größe",
    }
    assert rows(database_url, "SELECT text FROM documents WHERE title = 'Größe'") == [
        ("# Größe\r\n\r\nText.\r\n",)
    ]


def test_nothing_to_read(folder: Path, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.png").write_bytes(b"\x89PNG")
    result = ingest("pictures")
    assert (result.exit_code, wire.requests) == (1, [])
    assert result.stderr == "failed    pictures: no readable file in this folder\n"
    assert "1 files of other types were passed over" in result.stdout
    result = ingest()
    assert result.exit_code == 1
    assert result.stderr == "ingest: no path given, and there is no samples/ in this folder\n"
    monkeypatch.delenv("DATABASE_URL")
    result = ingest("pictures")
    assert (result.exit_code, result.stderr.startswith("ingest: DATABASE_URL is not set: ")) == (
        1,
        True,
    )


@pytest.mark.parametrize("megabytes", [1, pytest.param(50, marks=pytest.mark.soak)])
@pytest.mark.timeout(1800)
def test_a_big_file_up_to_the_limit(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    monkeypatch.setenv("HELIX_EMBEDDER", "offline")
    monkeypatch.setenv("HELIX_MAX_FILE_MB", str(megabytes))
    sentence = "Parcel %07d left the warehouse on time, and its buyer was told so by letter.\n"
    text = "".join(sentence % number for number in range(megabytes * 2**20 // len(sentence % 0)))
    big = folder / "big.txt"
    big.write_text(text.ljust(megabytes * 2**20 + 1, "!"))
    refused = ingest("big.txt")
    assert refused.exit_code == 1
    limit = f"{megabytes} MB; the limit is {megabytes} (HELIX_MAX_FILE_MB)"
    assert f"failed    big.txt: {limit}" in refused.stderr
    assert documents(database_url) == {}
    big.write_text(text.ljust(megabytes * 2**20, "!"))
    assert ingest("big.txt").exit_code == 0
    [(stored,)] = rows(database_url, "SELECT text FROM documents")
    assert stored == big.read_text()
    slices = rows(database_url, "SELECT content, start_char, end_char FROM chunks ORDER BY ordinal")
    assert all(content == stored[start:end] for content, start, end in slices)
    assert (slices[0][1], slices[-1][2]) == (0, len(stored.rstrip()))


# --- what Helix depends on fails


def one_line(result: Result) -> str:
    """The error a run ended with; nothing else, and no secret, may be on standard error."""
    assert result.exit_code == 1
    assert "hunter2" not in result.stderr + result.stdout
    assert "Traceback" not in result.stderr
    lines = result.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("ingest: ")
    return lines[0]


def test_a_database_that_is_down(folder: Path, wire: GeminiWire) -> None:
    (folder / "a.txt").write_text("Text.")
    url = "postgresql://helix:hunter2@127.0.0.1:1/helix"
    result = subprocess.run(
        [sys.executable, "-m", "pipelines.ingest", str(folder / "a.txt")],
        cwd=ROOT, env={**os.environ, "DATABASE_URL": url},
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert "cannot reach postgresql://helix:***@127.0.0.1:1/helix (" in result.stderr
    assert wire.requests == []


@pytest.fixture
def password_role(postgres: EmbeddedPostgres) -> Iterator[str]:
    """A role that the real server asks for its password, which is "right"."""
    rules = Layout(postgres.directory).pgdata / "pg_hba.conf"
    before = rules.read_text()
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS asked")
        connection.execute("CREATE ROLE asked LOGIN PASSWORD 'right'")
        try:
            rules.write_text("local all asked scram-sha-256\n" + before)
            connection.execute("SELECT pg_reload_conf()")
            yield "asked"
        finally:
            rules.write_text(before)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE asked")


def test_a_wrong_password(
    folder: Path, database_url: str, password_role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    wrong = database_url.replace("//postgres@", f"//{password_role}:hunter2@")
    deadline = time.monotonic() + 10
    while _lets_in(wrong):  # until the server has read its rules again
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert _lets_in(wrong.replace("hunter2", "right"))
    monkeypatch.setenv("DATABASE_URL", wrong)
    said = one_line(ingest("a.txt"))
    assert "password authentication failed" in said
    assert "check user and password in DATABASE_URL" in said


def _lets_in(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_database_without_schema(
    folder: Path, bare_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    monkeypatch.setenv("DATABASE_URL", bare_database_url)
    assert "run `python -m db.migrate`" in one_line(ingest("a.txt"))


def test_a_role_that_may_not_write(
    folder: Path, postgres: EmbeddedPostgres, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    with psycopg.connect(database_url) as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        name = sql.Identifier(connection.info.dbname)
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO reader").format(name))
    monkeypatch.setenv("DATABASE_URL", database_url.replace("//postgres@", "//reader@"))
    assert "reader may not act as helix_app: have it granted" in one_line(ingest("a.txt"))
    with psycopg.connect(database_url) as connection:
        connection.execute("GRANT helix_app TO reader")
    assert "reader does not own Helix's tables" in one_line(ingest("a.txt"))
    with psycopg.connect(database_url) as connection:
        connection.execute("ALTER ROLE reader BYPASSRLS")
    assert "this role may not make it: run `helix worker" in one_line(ingest("a.txt"))


def test_a_database_filled_by_another_embedder(
    folder: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("Text.")
    assert ingest("a.txt").exit_code == 0
    before = rows(database_url, "SELECT id, content FROM chunks")
    (folder / "a.txt").write_text("Other text.")
    for other in ("offline", "gemini:other-model"):
        monkeypatch.setenv("HELIX_EMBEDDER", other)
        said = one_line(ingest("a.txt"))
        assert "filled by the embedder gemini:gemini-embedding-001:1536" in said
        assert "set HELIX_EMBEDDER=gemini" in said
    assert rows(database_url, "SELECT id, content FROM chunks") == before


def test_an_embedding_service_that_fails_midway(
    folder: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helix.providers.gemini.MAX_BATCH", 4)
    for number in range(10):
        (folder / f"{number}.txt").write_text(f"Number {number}.")
    wire.script(Vectors(), refused_key(), on="embed")
    result = ingest(".")
    assert result.exit_code == 1
    *added, last = result.stderr.splitlines()
    stored = documents(database_url)
    assert sorted(added) == sorted(f"added     {uri} (1 chunks)" for uri in stored)
    assert 4 <= len(stored) < 10, "requests that were under way beside the refused one count"
    assert last.startswith("ingest: stopped: ") and "GEMINI_API_KEY" in last
    assert last.endswith(f"({len(stored)} files are stored; run it again to go on)")
    wire.requests.clear()
    result = ingest(".")
    left = 10 - len(stored)
    assert f"10 files: {left} added, 0 replaced, {len(stored)} unchanged" in result.stdout
    assert len(embedded(wire)) <= left, "what was embedded before the stop is in the cache"
    assert rows(database_url, "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass",
                "chunks_embedding_hnsw") == [(True,)]  # fmt: skip


def test_connections_killed_while_embedding_are_survived(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    (folder / "a.txt").write_text("Text.")
    wire.delay = 0.5

    def kill() -> None:
        assert wire.wait_until(lambda wire: bool(wire.received("embed")), 10)
        ours = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        rows(database_url, ours + " WHERE datname = current_database() AND pid <> pg_backend_pid()")

    killer = threading.Thread(target=kill)
    killer.start()
    result = ingest("a.txt")
    killer.join()
    assert (result.exit_code, len(documents(database_url))) == (0, 1), result.stderr


# --- what it tells


def test_help_tells_what_is_so() -> None:
    shown = " ".join(ingest("--help").stdout.replace("│", " ").split())
    for said in ("the bundled samples if none", "takes exactly one file", "exit status is then 1"):
        assert said in shown
