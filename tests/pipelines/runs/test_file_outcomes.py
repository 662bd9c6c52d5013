"""The outcome of a file, and of its bytes: ended once, read again, replaced, unchanged."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.reingestion import reread
from helix.library.run_files import (
    NewFile,
    add_files,
    fail_file,
    load_file,
    set_file,
    set_unchanged,
)
from helix.library.runs import begin_run, create_run, finish_run, stop_for_fault
from helix.library.uploads import REPLACED
from helix.storage.stored_bytes import keep_bytes
from tests.support.fake_embedder import rows
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import (
    carried_out,
    statuses,
    stored,
    upload,
)

pytestmark = pytest.mark.processes

FAULT = "the key is refused"
FILE = (
    "SELECT f.status, f.reason, f.file_hash, f.done, f.total, f.changed_at, f.version"
    " FROM run_files f WHERE run_id = %s AND n = %s"
)
BYTES = "SELECT content_hash FROM files ORDER BY 1"
DOCUMENT = "SELECT status, error, content_hash, file_hash FROM documents WHERE source_uri = %s"
CHUNKS = "SELECT id, xmin::text, content FROM chunks ORDER BY ordinal"


@pytest.mark.parametrize("outcome", ["failed", "added"])
def test_an_ended_file_stays_ended(
    database_url: str, connection: psycopg.Connection, outcome: str
) -> None:
    run_id = stored(database_url, upload("one")).run_id
    assert run_id is not None
    if outcome == "failed":
        assert fail_file(connection, run_id, 0, "it is damaged")
    else:
        assert set_file(connection, run_id, 0, "added", chunks=1)
    [before] = rows(database_url, FILE, run_id, 0)
    document = rows(database_url, DOCUMENT, upload("one").uri)
    assert before[0] == outcome
    for status in ("reading", "embedding", "added", "unchanged"):
        assert not set_file(connection, run_id, 0, status, done=1, total=2)
    assert not fail_file(connection, run_id, 0, "too late")
    assert rows(database_url, FILE, run_id, 0) == [before]
    assert rows(database_url, DOCUMENT, upload("one").uri) == document


@pytest.mark.parametrize("asked_again", ["while the run stops", "when it has ended"])
def test_bytes_that_a_fault_stopped_are_taken_again(
    database_url: str, connection: psycopg.Connection, asked_again: str
) -> None:
    first = stored(database_url, upload("one")).run_id
    assert first is not None
    assert begin_run(connection, first)
    assert set_file(connection, first, 0, "reading")
    stop_for_fault(connection, first, FAULT)

    def end() -> None:
        with connection.transaction():
            assert finish_run(connection, first, "failed", FAULT)

    if asked_again == "when it has ended":
        end()
        [(status, error, _, _)] = rows(database_url, DOCUMENT, upload("one").uri)
        assert (status, error) == ("failed", FAULT)
        assert rows(database_url, BYTES), "kept, to be read again"
    again = stored(database_url, upload("one"))
    if asked_again == "while the run stops":
        end()
    assert again.run_id is not None
    assert again.run_id > first
    assert not set_file(connection, first, 0, "embedding"), "what was read comes too late"
    told, file = rows(database_url, FILE, first, 0)[0], load_file(connection, again.run_id, 0)
    assert told[0] in ("failed", "cancelled")
    assert file is not None
    assert (file.status, file.file_hash) == ("queued", upload("one").content_hash)
    assert rows(database_url, BYTES) == [(upload("one").content_hash,)]
    [(status, error, _, _)] = rows(database_url, DOCUMENT, upload("one").uri)
    assert (status, error) == ("processing", "")


def test_an_upload_back_to_what_is_there_ends_the_one_between(
    database_url: str, connection: psycopg.Connection
) -> None:
    uri = "handbook"
    one, other = upload("one", source_uri=uri), upload("other", source_uri=uri)
    first = stored(database_url, one).run_id
    assert first is not None
    connection.execute("UPDATE documents SET status = 'ready'")
    assert set_file(connection, first, 0, "added", chunks=1)
    between = stored(database_url, other).run_id
    assert between is not None
    assert between > first
    assert rows(database_url, BYTES) == sorted([(one.content_hash,), (other.content_hash,)])
    back = stored(database_url, one)
    assert back.run_id is None
    assert [told["duplicate"] for told in back.documents] == [True]
    [(status, reason, kept, *_)] = rows(database_url, FILE, between, 0)
    assert (status, reason, kept) == ("cancelled", REPLACED, None)
    assert rows(database_url, DOCUMENT, uri) == [("ready", "", one.content_hash, one.content_hash)]
    assert rows(database_url, BYTES) == [(one.content_hash,)]


def test_unchanged_files_let_go_of_their_bytes(
    database_url: str, connection: psycopg.Connection
) -> None:
    run_id = create_run(connection, "paths")
    alone, shared = (sha256(data).hexdigest() for data in (b"alone", b"shared"))
    keep_bytes(connection, DEFAULT_TENANT, alone, b"alone")
    keep_bytes(connection, DEFAULT_TENANT, shared, b"shared")
    names = (("a", alone), ("b", shared), ("c", shared))
    new = [NewFile(name, content_hash=kept, file_hash=kept) for name, kept in names]
    add_files(connection, run_id, [*new, replace(new[0], source_uri="d", file_hash=None)])
    set_unchanged(connection, run_id, [0, 1, 3])
    assert statuses(database_url, run_id) == ["unchanged", "unchanged", "queued", "unchanged"]
    assert rows(database_url, BYTES) == [(shared,)], "an open file needs them yet"
    set_unchanged(connection, run_id, [2])
    assert rows(database_url, BYTES) == []


async def test_a_forced_run_reads_again_and_embeds_nothing(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    one = upload("\n\n".join(f"Shelf {n} holds jars of honey from year {n}." for n in range(80)))
    first = stored(database_url, one)
    await carried_out(database_url)
    assert statuses(database_url, first.run_id) == ["added"]
    chunks, asked = rows(database_url, CHUNKS), len(wire.received("embed"))
    assert len(chunks) > 1
    assert asked
    connection.execute("DELETE FROM embedding_cache")
    with connection.transaction():
        again = reread(connection, first.documents[0]["id"], DEFAULT_TENANT)
    assert again != first.run_id
    file = load_file(connection, again, 0)
    assert file is not None
    assert file.force
    await carried_out(database_url)
    assert statuses(database_url, again) == ["replaced"]
    assert len(wire.received("embed")) == asked
    assert [row[0] for row in rows(database_url, CHUNKS)] == [row[0] for row in chunks]
    assert rows(database_url, BYTES) == [(one.content_hash,)], "the document keeps them"


async def test_an_upload_has_the_name_that_it_came_with_whatever_its_source_uri(
    database_url: str, connection: psycopg.Connection, wire: GeminiWire
) -> None:
    told = stored(database_url, upload("Crates hold lanterns.", "crate_list.txt", "crm:deal/42"))
    document_id = told.documents[0]["id"]
    named = "SELECT title, file_name FROM documents"
    await carried_out(database_url)
    assert rows(database_url, named) == [("Crate List", "crate_list.txt")]
    with connection.transaction():
        reread(connection, document_id, DEFAULT_TENANT)
    await carried_out(database_url)
    assert rows(database_url, named) == [("Crate List", "crate_list.txt")]
    stored(database_url, upload("Crates hold lamps.", "lamps.txt", "crm:deal/42"))
    await carried_out(database_url)
    assert rows(database_url, named) == [("Lamps", "lamps.txt")]
