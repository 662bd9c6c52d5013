"""`helix export` and `helix import`: the same search, answers and files in another Helix."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from helix.conversations.attachments import space_of
from helix.conversations.receipts.stored_sources import rebuild_prompt, verify_citations
from helix.library.transfer.tables import TABLES
from helix.providers.offline import OfflineEmbedding
from helix.services import Services
from helix.storage.stored_bytes import keep_bytes, stored_file
from tests.support.audit_log import last_command
from tests.support.catalog import all_rows
from tests.support.cli_runner import helix
from tests.support.receipt_corpus import ask, bring_in, document, embedder_of, question, services
from tests.support.scripted_model import receipt_of

BYTES = b"%PDF of old\x00\xff"
DIGEST = sha256(BYTES).hexdigest()
TALK = "talk-1"
_FILLED = {
    "document_sources": "(source_uri, document_id, content_hash)"
    " SELECT 'also.txt', min(id), 'x' FROM documents",
    "document_pages": "(document_id, number, width, height, start_char, end_char, words)"
    " SELECT min(id), 1, 612.5, 792, 0, 5, '\\x00ff' FROM documents",
    "document_tables": "(document_id, ordinal, start_char, end_char, cells)"
    " SELECT min(id), 0, 0, 5, '[[0, 1, 2, 3]]' FROM documents",
    "suggested_questions": "(document_id, question, is_supported, library)"
    " SELECT min(id), 'Which river?', true, '2' FROM documents",
    "feedback": "(answer_id, rating, note) SELECT min(id), 'up', 'süß ☃' FROM answers",
    "conversations": "(id, title) VALUES ('talk-1', 'Depots')",
    "conversation_images": "(conversation_id, id, name, media, data)"
    " VALUES ('talk-1', repeat('0', 64), 'süß.png', 'image/png', '\\x00ff')",
    "messages": "(conversation_id, branch, depth, question, answer_id, status, is_active,"
    " document_ids, cited, response) SELECT 'talk-1', 1, 0, 'Where?', 'a', 'done', true,"
    " array_agg(id), jsonb_object_agg(id, content_hash),"
    " jsonb_build_object('answer', 'Here.', 'citations', jsonb_agg(jsonb_build_object('n', 1,"
    " 'document_id', id, 'quote', NULL))) FROM (SELECT * FROM documents ORDER BY id LIMIT 2) d",
    "prompt_versions": "(name, version, text) VALUES ('agent_gathering', 1, 'Look it up.')",
    "tenant_settings": "(model) VALUES ('offline')",
    "spaces": "(name) VALUES ('Board')",
    "progress_sessions": "(learner, started_at, ended_at) VALUES ('', now(), now())",
    "progress_counts": "(learner, action, quarter, n) VALUES ('', 'asked', now(), 3)",
    "progress_totals": "(learner, action, n) VALUES ('', 'asked', 3)",
    "study_sets": "(kind, title, document_ids, wanted, plan) SELECT 'map', 'Depots',"
    " array_agg(DISTINCT document_id), 2, array_agg(id) FROM chunks WHERE tenant_id = 'default'",
    "study_items": "(set_id, n, kind, body) SELECT id, n, 'node', jsonb_build_object('label', 'x',"
    " 'parent', (SELECT max(id) FROM study_items)) FROM study_sets, generate_series(1, 2) n",
    "study_sources": "(item_id, n, document_id, chunk_id, start_char, end_char, quote,"
    " content_hash, recipe) SELECT i.id, 1, c.document_id, c.id, 0, 1, 'x', '', ''"
    " FROM study_items i, (SELECT * FROM chunks WHERE tenant_id = 'default' LIMIT 1) c",
    "study_attempts": "(set_id, answers) SELECT set_id, jsonb_build_object(max(id), '{}'::jsonb)"
    " FROM study_items GROUP BY set_id",
    "study_cards": "(item_id, card, due_at) SELECT max(id), '{}', now() FROM study_items",
    "study_reviews": "(item_id, rating) SELECT max(id), 'good' FROM study_items",
    "gate_fits": "(embedder, max_distance, documents, chunks, target_risk)"
    " VALUES ('e', 0.1234567890123, 1, 1, 0.05)",
}  # fmt: skip
"""Rows of the tables that bringing in and asking leave empty."""


async def _filled(before: Services, url: str, count: int) -> list[Any]:
    """Documents of the tenant ``default`` and of one of its conversations; its answers."""
    await bring_in(before, *map(document, range(count)))
    await bring_in(before, document(count), tenant=space_of("default", TALK))
    answers = [await ask(before, question(number)) for number in range(count)]
    with psycopg.connect(url) as connection:
        for table, rows in _FILLED.items():
            connection.execute(f"INSERT INTO {table} {rows}".encode())
        keep_bytes(connection, "default", DIGEST, BYTES)
        connection.execute(
            "UPDATE documents SET file_hash = %s WHERE id = (SELECT min(id) FROM documents)",
            (DIGEST,),
        )
        connection.execute(
            "UPDATE documents SET spaces = ARRAY[0, (SELECT max(id) FROM spaces)]"
            " WHERE id = (SELECT min(id) FROM documents)"
        )
        connection.execute(
            "INSERT INTO document_names (document_id, kind, name)"
            " SELECT min(id), 'company', 'acme' FROM documents ON CONFLICT DO NOTHING"
        )
    return answers


async def _found(services: Services, count: int, tenant: str = "default") -> list[list[Any]]:
    """By question, what is found and how far it is, near ones and those by words."""
    model, store, found = embedder_of(services).model, services.store.of(tenant), []
    for number in range(count):
        vector = await model.aget_query_embedding(question(number))
        near = await store.search(vector, 8)
        both = (await store.search_hybrid(question(number), vector, 8)).hits
        found.append([(hit.node_id, hit.distance, hit.content) for hit in (*near, *both)])
    return found


def _rows(url: str) -> dict[str, list[Any]]:
    """The rows of what is exported, but for ids that are given out anew."""
    found = all_rows(url)
    return {
        table.name: sorted(
            ({k: v for k, v in row.items() if k not in table.without} for row in found[table.name]),
            key=repr,
        )
        for table in TABLES
    }


def _imported(folder: Path, url: str, *more: str) -> None:
    """Import, with an embedder that nobody may ask."""

    def asked(*_: object) -> None:
        raise AssertionError("the embedder was asked")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_get_text_embedding", "_get_text_embeddings", "_get_query_embedding"):
            patch.setattr(OfflineEmbedding, name, asked)
        done = helix("import", str(folder), *more, DATABASE_URL=url, **_OFFLINE)
    assert done.returncode == 0, done.stderr


_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


async def _moved(url: str, target: str, folder: Path, count: int) -> None:
    """Export, import into an empty database, and again beside that as another tenant."""
    async with services(url) as before:
        answers = await _filled(before, url, count)
        found = await _found(before, count)
        made = helix("export", str(folder), DATABASE_URL=url, **_OFFLINE)
    assert made.returncode == 0, made.stderr
    assert last_command(url) == "helix export"
    assert f"documents {count + 1}, " in made.stdout and "files 1, " in made.stdout
    assert (folder / "files" / DIGEST).read_bytes() == BYTES
    _imported(folder, target)
    rows = _rows(url)
    assert all(rows.values()), "a table without rows shows nothing"
    assert _rows(target) == rows
    _imported(folder, target, "--tenant", "moved")
    async with services(target) as after:
        assert await _found(after, count) == found
        assert await _found(after, count, "moved") == found
        for answer in answers:
            for tenant in ("default", "moved"):
                receipt = await receipt_of(after, answer, tenant)
                library = after.library.of(tenant)
                assert (await verify_citations(library, receipt))["status"] == "holds"
                lost = (await rebuild_prompt(library, receipt)).lost
                # the prompt of an answer names its chunks, which have other ids there
                assert lost == (None if tenant == "default" else "rules changed")
        assert len(await _found(after, 1, space_of("moved", TALK))) == 1


async def test_search_receipts_and_files_are_the_same_elsewhere(
    database_url: str, module_database_url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "export"
    await _moved(database_url, module_database_url, folder, 12)
    with psycopg.connect(module_database_url) as connection:
        stored = stored_file(connection, "moved", DIGEST)
        assert stored is not None and stored.read() == BYTES
        cited, ids = connection.execute(
            "SELECT array(SELECT jsonb_object_keys(cited)::bigint ORDER BY 1), document_ids"
            " FROM messages WHERE tenant_id = 'moved'"
        ).fetchone() or (None, None)
        known = connection.execute(
            "SELECT id FROM documents WHERE tenant_id = 'moved' ORDER BY id LIMIT 2"
        ).fetchall()
        assert cited == ids == [number for (number,) in known]
        (greatest, following) = connection.execute(
            "SELECT max(id), nextval('documents_id_seq') FROM documents"
        ).fetchone() or (0, 0)
        assert following > greatest
    _refused(folder, module_database_url, "has rows in spaces already")
    again = helix("export", str(folder), DATABASE_URL=database_url, **_OFFLINE)
    assert again.returncode == 1 and "is not empty" in again.stderr
    _damaged(folder, module_database_url)


def _refused(folder: Path, url: str, why: str, *more: str) -> None:
    before = _rows(url)
    done = helix("import", str(folder), *more, DATABASE_URL=url, **_OFFLINE)
    assert done.returncode == 1 and why in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1 and _rows(url) == before


def _damaged(folder: Path, url: str) -> None:
    """Damaged copies come in neither in whole nor in part."""
    manifest = json.loads((folder / "manifest.json").read_text())

    def copy(name: str) -> Path:
        return Path(shutil.copytree(folder, folder.with_name(name)))

    other = ("--tenant", "other")
    changed = copy("changed") / "tables" / "chunks.jsonl"
    changed.write_bytes(changed.read_bytes().replace(b"crates", b"Crates", 1))
    _refused(changed.parents[1], url, "tables/chunks.jsonl is not what was written", *other)
    (copy("without") / "files" / DIGEST).unlink()
    _refused(folder.with_name("without"), url, f"files/{DIGEST} is missing", *other)
    (copy("half") / "manifest.json").unlink()
    _refused(folder.with_name("half"), url, "has no manifest.json", *other)
    newer = copy("newer") / "manifest.json"
    manifest["tables"]["answers"]["columns"].append("mood")
    newer.write_text(json.dumps(manifest))
    _refused(newer.parent, url, "has more in answers than this Helix knows", *other)
    manifest["tables"]["answers"]["columns"].pop()
    newer.write_text(json.dumps({**manifest, "embedder": "gemini:other:1536"}))
    _refused(newer.parent, url, "are of the embedder gemini:other:1536, those of this", *other)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "export"
    shutil.rmtree(tmp_path)


@pytest.mark.soak
async def test_300_questions_elsewhere(
    database_url: str, module_database_url: str, folder: Path
) -> None:
    with psycopg.connect(module_database_url) as connection:
        for table in reversed(TABLES):
            connection.execute(f"TRUNCATE {table.name} CASCADE".encode())
    await _moved(database_url, module_database_url, folder, 300)


def test_a_tenant_that_has_nothing_is_not_exported(database_url: str, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    done = helix("export", str(folder), "--tenant", "acmee", DATABASE_URL=database_url, **_OFFLINE)
    assert done.returncode == 1 and not folder.exists()
    assert done.stderr.startswith("helix: there is nothing of the tenant acmee")
    assert done.stderr.count("\n") == 1
