"""The way of one file: what is left when reading it fails, and what is hashed of a folder."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO, Any

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.run_files import NewFile, add_files, load_file, set_file
from helix.library.runs import create_run
from helix.overload.fairness import ReadingPlaces
from helix.storage.stored_bytes import keep_bytes
from helix.store import ChunkStore
from pipelines.files import ingestion
from pipelines.files.embedding import requests_of
from pipelines.files.ingestion import Embedding, FileIngestion, Tools
from pipelines.readers import ReadText, UnreadableFile
from pipelines.sandbox import Sandbox
from tests.support.fake_embedder import opened, rows, word_embedder
from tests.support.ingest_command import become_a_user, ingest
from tests.support.wire.gemini import GeminiWire


class BrokenSandbox(Sandbox):
    """Tells of a page, and fails while that is being written."""

    async def read(
        self, kind: str, data: bytes, on_progress: Callable[[int, int], None] = lambda *_: None
    ) -> ReadText:
        on_progress(1, 1)
        await asyncio.sleep(0)  # the page is on its way to the database now
        raise UnreadableFile("it is damaged")


async def at_once(_: int, embed: Callable[[], Awaitable[None]]) -> None:
    await embed()


async def test_nothing_of_a_file_goes_on_when_reading_it_fails(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int]] = []

    def slow_set_file(*given: Any, **named: Any) -> bool:
        told.append((given[3], named.get("done", 0)))
        return set_file(*given, **named)

    monkeypatch.setattr(ingestion, "set_file", slow_set_file)
    data = b"text"
    digest = hashlib.sha256(data).hexdigest()
    with psycopg.connect(database_url) as connection:
        run_id = create_run(connection, "paths")
        keep_bytes(connection, DEFAULT_TENANT, digest, data)
        add_files(connection, run_id, [NewFile("a.txt", media="text", file_hash=digest)])
    async with opened(database_url) as store:
        await FileIngestion(_tools(store, BrokenSandbox()), run_id, 0, at_once).carry_out()
        assert asyncio.all_tasks() == {asyncio.current_task()}
    with psycopg.connect(database_url) as connection:
        file = load_file(connection, run_id, 0)
    assert file is not None
    assert file.status == "failed"
    assert told[0] == ("reading", 0)
    [(reason,)] = rows(database_url, "SELECT reason FROM run_files")
    assert reason == "it is damaged"


def _tools(store: ChunkStore, sandbox: Sandbox) -> Tools:
    embedder = word_embedder()
    embeddings = [Embedding(embedder, requests_of(embedder))]
    return Tools(store, embeddings, sandbox, ReadingPlaces(1))


def test_a_folder_whose_last_file_changed_is_hashed_once(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    digest = hashlib.file_digest

    def noted(file: IO[bytes], name: str) -> Any:
        hashed.append(Path(file.name).name)
        return digest(file, name)  # type: ignore[arg-type]

    with GeminiWire() as wire:
        folder = become_a_user(monkeypatch, tmp_path, database_url, wire)
        for name in ("a.txt", "b.txt", "c.txt"):
            (folder / name).write_text(f"Text of {name}.")
        assert ingest(".").exit_code == 0
        (folder / "c.txt").write_text("Another text.")
        monkeypatch.setattr(hashlib, "file_digest", noted)
        result = ingest(".")
    assert "3 files: 0 added, 1 replaced, 2 unchanged" in result.stdout
    assert sorted(hashed) == ["a.txt", "b.txt", "c.txt"]
    assert rows(database_url, "SELECT FROM term_changes") == []  # folded at the run's end
