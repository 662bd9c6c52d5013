"""Runs without a terminal, two at once, interrupted, cancelled; and what a second one costs."""

from __future__ import annotations

import random
import re
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support.fake_embedder import documents, embedded, rows
from tests.support.sample_documents import docx, pdf
from tests.support.service_process import environment, eventually, run
from tests.support.texts import paragraphs
from tests.support.warm_processes import Process
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Hang, Vectors

pytestmark = pytest.mark.processes

SLICES = (
    "SELECT bool_and(content = substr(text, start_char + 1, end_char - start_char))"
    " FROM chunks c JOIN documents d ON d.id = document_id"
)
CHUNKS = "SELECT id, node_id, content FROM chunks ORDER BY id"
NAMED = (
    "SELECT regexp_replace(source_uri, '.*/', ''), content, c.id"
    " FROM chunks c JOIN documents d ON d.id = document_id"
)


@pytest.fixture
def values(database_url: str, wire: GeminiWire) -> dict[str, str]:
    return {
        "DATABASE_URL": database_url, "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "GEMINI_API_KEY": "test-key", "HELIX_EMBEDDER": "gemini", "HELIX_LLM": "offline",
        "COLUMNS": "200",
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def fill(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"{number}.txt").write_text(f"Number {number} is kept in drawer {number * 7}.")


def started(folder: Path, values: dict[str, str]) -> Process:
    """An ingest of ``folder`` under way."""
    return Process("pipelines.ingest", str(folder), cwd=folder, env=environment(**values))


@pytest.mark.timeout(600)
def test_a_detached_run_is_followed_to_its_end(
    folder: Path, database_url: str, values: dict[str, str]
) -> None:
    fill(folder, 5)
    before = {process.pid for process in psutil.process_iter()}
    done = run("-m", "pipelines.ingest", str(folder), "--detach", **values)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d+\n", done.stdout)
    run_id = done.stdout.strip()
    shown = run("-m", "helix.cli", "runs", "show", run_id, "--follow", **values)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.splitlines()[-1] == f"{folder}  done  5 added"
    assert len(documents(database_url)) == 5
    # nothing of it stays behind: the worker it left is gone as soon as there is nothing to do
    assert eventually(lambda: not _workers(before, database_url), 60)


def _workers(before: set[int], url: str) -> list[int]:
    """Workers on the database that were not there before."""

    def ours(process: psutil.Process) -> bool:
        try:
            return (
                "pipelines.worker" in process.cmdline()
                and process.environ().get("DATABASE_URL") == url
            )
        except psutil.Error:
            return False

    return [p.pid for p in psutil.process_iter() if p.pid not in before and ours(p)]


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_two_ingests_of_one_folder_at_once(
    folder: Path, database_url: str, values: dict[str, str]
) -> None:
    fill(folder, 40)
    both = [started(folder, values) for _ in range(2)]
    for process in both:
        told, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert "Traceback" not in errors
        assert "40 files: " in told and " 0 failed; " in told
    assert len(documents(database_url)) == 40
    [(chunks,)] = rows(database_url, "SELECT count(*) FROM chunks")
    assert chunks == 40
    added = "SELECT count(*) FROM run_files WHERE status = 'added'"
    assert rows(database_url, added) == [(40,)], "each once, whoever took it"
    assert rows(database_url, SLICES) == [(True,)]
    assert rows(database_url, "SELECT DISTINCT status FROM runs") == [("done",)]


@pytest.mark.timeout(600)
def test_an_interrupted_run_is_cancelled_and_what_is_written_stays(
    folder: Path, database_url: str, wire: GeminiWire, values: dict[str, str]
) -> None:
    fill(folder, 45)
    wire.script(Vectors(), *[Hang()] * 20, on="embed")
    process = started(folder, {**values, "HELIX_EMBED_PARALLEL": "1"})
    assert eventually(lambda: len(documents(database_url)) > 0, 60)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "interrupted; what is stored stays" in errors and "Traceback" not in errors
    written = documents(database_url)
    assert 0 < len(written) < 45
    [(run_id,)] = rows(database_url, "SELECT id FROM runs")
    asked = len(wire.requests)
    cancelled = run("-m", "helix.cli", "runs", "cancel", str(run_id), **values)
    assert cancelled.returncode == 0, cancelled.stderr
    # whoever worked on it is gone, so the next worker settles it
    worked = run("-m", "pipelines.worker", "--until-idle", **values)
    assert (worked.returncode, "Traceback" in worked.stderr) == (0, False), worked.stderr
    assert rows(database_url, "SELECT status FROM runs") == [("cancelled",)]
    states = "SELECT status, count(*) FROM run_files GROUP BY 1 ORDER BY 1"
    expected = [("added", len(written)), ("cancelled", 45 - len(written))]
    assert rows(database_url, states) == expected
    assert (documents(database_url), len(wire.requests)) == (written, asked)
    assert rows(database_url, "SELECT count(*) FROM files") == [(0,)], "its bytes are let go"
    shown = run("-m", "helix.cli", "runs", "show", str(run_id), **values)
    assert "cancelled" in shown.stdout and shown.returncode == 0, shown.stderr


@pytest.mark.soak
@pytest.mark.parametrize("count", [1000])
@pytest.mark.timeout(600)
def test_a_folder_that_did_not_change_asks_for_no_embedding(
    folder: Path, database_url: str, wire: GeminiWire, values: dict[str, str], count: int
) -> None:
    fill(folder, count)
    first = run("-m", "pipelines.ingest", str(folder), **values)
    assert f"{count} files: {count} added, 0 replaced, 0 unchanged, 0 failed" in first.stdout
    assert sorted(embedded(wire)) == sorted(
        f"{n}\n\nNumber {n} is kept in drawer {n * 7}." for n in range(count)
    )
    wire.requests.clear()
    before = rows(database_url, CHUNKS)
    again = run("-m", "pipelines.ingest", str(folder), **values)
    assert f"{count} files: 0 added, 0 replaced, {count} unchanged, 0 failed" in again.stdout
    assert (wire.requests, rows(database_url, CHUNKS)) == ([], before)


MOST_CHANGED = 12
"""Chunks that one edited paragraph may change (tests/pipelines/splitters/test_edits.py)."""


def _as_text(parts: list[str]) -> bytes:
    return "\n\n".join(parts).encode()


def _as_pdf(parts: list[str]) -> bytes:
    return pdf(*("\n\n".join(parts[at : at + 5]) for at in range(0, len(parts), 5)))


def _as_docx(parts: list[str]) -> bytes:
    return docx(*parts)


FORMATS: dict[str, Callable[[list[str]], bytes]] = {
    # three titles: what is embedded starts with them, and the same text is embedded once
    "handbook.txt": _as_text,
    "report.pdf": _as_pdf,
    "manual.docx": _as_docx,
}


@pytest.mark.parametrize("pages", [8, pytest.param(300, marks=pytest.mark.soak)])
@pytest.mark.timeout(900)
def test_after_an_edit_only_what_changed_is_embedded(
    folder: Path, database_url: str, wire: GeminiWire, values: dict[str, str], pages: int
) -> None:
    parts = paragraphs(pages * 5)
    for name, build in FORMATS.items():
        (folder / name).write_bytes(build(parts))
    first = run("-m", "pipelines.ingest", str(folder), **values)
    assert "3 files: 3 added, " in first.stdout, first.stderr
    before = {(name, content): chunk for name, content, chunk in rows(database_url, NAMED)}
    wire.requests.clear()

    at = random.Random(4).randrange(len(parts))
    parts[at] = f"Here stands a sentence that was not there before. {parts[at]}"
    for name, build in FORMATS.items():
        (folder / name).write_bytes(build(parts))
    again = run("-m", "pipelines.ingest", str(folder), **values)
    assert "3 files: 0 added, 3 replaced, " in again.stdout, again.stderr
    after = {(name, content): chunk for name, content, chunk in rows(database_url, NAMED)}
    asked = embedded(wire)
    for name in FORMATS:
        new = {content for source, content in after if source == name} - {
            content for source, content in before if source == name
        }
        assert 0 < len(new) <= min(MOST_CHANGED, len(after) // 6), name
        assert any("Here stands a sentence" in content for content in new)
    fresh = after.keys() - before.keys()
    assert len(asked) == len(fresh)
    assert all(any(text.endswith(content) for text in asked) for _, content in fresh)
    assert all(after[key] == before[key] for key in after.keys() & before.keys())
    assert rows(database_url, SLICES) == [(True,)]
