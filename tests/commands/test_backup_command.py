"""`helix backup` and `helix restore`: the same search and the same answers afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from db.embedded_postgres import acquire
from helix.conversations.receipts.replay import replay
from helix.domain.scope import DEFAULT_TENANT
from helix.library.uploads import Upload, store_uploads
from helix.services import Services
from tests.support.audit_log import last_command
from tests.support.cli_runner import helix
from tests.support.embedded_servers import a_place
from tests.support.receipt_corpus import (
    ask,
    bring_in,
    document,
    embedder_of,
    question,
    services,
)
from tests.support.scripted_model import receipt_of
from tests.support.service_process import run


@pytest.fixture
def place() -> Iterator[Path]:
    with a_place() as directory:
        yield directory


async def _found(services: Services, count: int) -> list[list[Any]]:
    """By question, the chunks found and how far each is, near ones and those by words."""
    model, found = embedder_of(services).model, []
    for number in range(count):
        vector = await model.aget_query_embedding(question(number))
        near = await services.store.search(vector, 8)
        both = (await services.store.search_hybrid(question(number), vector, 8)).hits
        found.append([(hit.chunk_id, hit.distance, hit.content) for hit in (*near, *both)])
    return found


async def _restored(url: str, target: str, target_url: str, file: Path, count: int) -> None:
    async with services(url) as before:
        await bring_in(before, *map(document, range(count)))
        answers = [await ask(before, question(number)) for number in range(count)]
        found = await _found(before, count)
        made = helix("backup", str(file), DATABASE_URL=url)  # beside the services, as they are
    assert made.returncode == 0, made.stderr
    assert last_command(url) == "helix backup"
    assert f"documents {count}, " in made.stdout and f"answers {count};" in made.stdout
    whole = helix("backup", "--check", str(file))
    assert whole.returncode == 0 and f"{file} is whole: documents {count}," in whole.stdout
    put_back = helix("restore", str(file), DATABASE_URL=target)
    assert put_back.returncode == 0, put_back.stderr
    assert last_command(target_url) == "helix restore"
    assert helix("backup", DATABASE_URL=target).stdout.endswith(f"  no end told  {file.name}\n")
    async with services(target_url) as after:
        assert await _found(after, count) == found
        for answer in answers:
            receipt = await receipt_of(after, answer)
            done = await replay(after.answering, after.library, receipt, after.configuration)
            assert done.identical, done.diff()


async def test_search_and_receipts_are_the_same_after(
    database_url: str, bare_database_url: str, tmp_path: Path
) -> None:
    await _restored(database_url, bare_database_url, bare_database_url, tmp_path / "b", 8)
    again = helix("restore", str(tmp_path / "b"), DATABASE_URL=bare_database_url)
    assert again.returncode == 1 and "(it has answers 8, documents 8, " in again.stderr
    assert again.stderr.count("\n") == 1
    asked = helix("restore", str(tmp_path / "b"), "--replace", DATABASE_URL=bare_database_url)
    assert asked.returncode == 1 and "Delete all that the database holds" in asked.stdout
    replaced = helix(
        "restore", str(tmp_path / "b"), "--replace", "--yes", DATABASE_URL=bare_database_url
    )
    assert replaced.returncode == 0, replaced.stderr


def test_a_list_without_a_backup_says_how_to_make_one(database_url: str) -> None:
    done = helix("backup", DATABASE_URL=database_url)
    told = "no backup is known here; `helix backup FILE` makes one\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", told)


@pytest.mark.soak
async def test_300_questions_in_a_new_embedded_database(
    database_url: str, place: Path, tmp_path: Path
) -> None:
    with acquire(place) as server:
        target = f"embedded:{place}"
        await _restored(database_url, target, server.url, tmp_path / "b", 300)


@pytest.mark.processes
def test_a_run_that_was_under_way_is_carried_out_after_a_restore(
    database_url: str, bare_database_url: str, tmp_path: Path
) -> None:
    """The worker engine's records of the run are not in the backup: it is queued again."""
    data = b"The vault is in the cellar."
    note = Upload("note.txt", "text", len(data), sha256(data).hexdigest(), lambda: data)
    with psycopg.connect(database_url) as connection:
        store_uploads(connection, [note], DEFAULT_TENANT)
        connection.execute("UPDATE runs SET status = 'running'")
    saved = helix("backup", str(tmp_path / "b"), DATABASE_URL=database_url)
    assert saved.returncode == 0, saved.stderr
    put_back = helix("restore", str(tmp_path / "b"), DATABASE_URL=bare_database_url)
    assert put_back.returncode == 0, put_back.stderr
    offline = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    worked = run(
        "-m", "helix.cli", "worker", "--until-idle", DATABASE_URL=bare_database_url, **offline
    )
    assert worked.returncode == 0, worked.stderr
    with psycopg.connect(bare_database_url) as connection:
        runs = connection.execute("SELECT status FROM runs").fetchall()
        found = connection.execute("SELECT status, text FROM documents").fetchall()
    assert (runs, found) == ([("done",)], [("ready", data.decode())])
