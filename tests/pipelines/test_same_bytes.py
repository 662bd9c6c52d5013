"""The same bytes by their path and by upload are one document, and ``--keep-files`` keeps them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.access import Row
from helix.library.uploads import Upload, store_uploads
from pipelines.files.recipe import RECIPE
from tests.support.fake_embedder import documents, rows
from tests.support.ingest_command import ingest
from tests.support.live_server import end_run, make_ready
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

TEXT = "The vault opens at nine."
DIGEST = sha256(TEXT.encode()).hexdigest()
UPLOAD = f"upload:{DIGEST[:16]}/memo.txt"
SOURCES = "SELECT source_uri, document_id FROM document_sources ORDER BY source_uri"
FILES = "SELECT source_uri, file_hash FROM documents ORDER BY source_uri"


@pytest.fixture(autouse=True)
def _note(folder: Path) -> None:
    """The one file of the working directory."""
    (folder / "note.txt").write_text(TEXT)


def _upload(url: str, tenant: str = DEFAULT_TENANT) -> Row:
    data = TEXT.encode()
    new = Upload("memo.txt", "text", len(data), DIGEST, lambda: data)
    with psycopg.connect(url) as connection:
        (stored,) = store_uploads(connection, [new], tenant).documents
    return stored


def _ready_upload(url: str) -> int:
    """The id of an upload as a worker leaves it."""
    document_id = int(_upload(url)["id"])
    with psycopg.connect(url, autocommit=True) as connection:
        make_ready(connection, document_id, TEXT, [(0, len(TEXT))])
        connection.execute("UPDATE documents SET recipe = %s", (RECIPE,))
        (run_id,) = connection.execute("SELECT max(id) FROM runs").fetchone() or (0,)
        end_run(connection, run_id)
    return document_id


def test_a_file_that_was_uploaded_is_that_document(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    document_id = _ready_upload(database_url)
    for _ in range(2):  # the second time it is known before it is read
        result = ingest("note.txt", "--tag", "vault")
        assert result.exit_code == 0 and "0 added, 0 replaced, 1 unchanged" in result.output
    assert {uri: number for uri, (number, _) in documents(database_url).items()} == {
        UPLOAD: document_id
    }
    assert rows(database_url, SOURCES) == [("note.txt", document_id)]
    assert rows(database_url, "SELECT tags FROM documents") == [(["vault"],)]
    assert rows(database_url, FILES) == [(UPLOAD, DIGEST)]
    assert wire.requests == []


def test_it_becomes_a_document_of_its_own_when_it_changes(folder: Path, database_url: str) -> None:
    document_id = _ready_upload(database_url)
    ingest("note.txt")
    (folder / "note.txt").write_text("The vault opens at ten.")
    assert ingest("note.txt").exit_code == 0
    assert rows(database_url, SOURCES) == []
    found = documents(database_url)
    assert found.keys() == {UPLOAD, "note.txt"} and found[UPLOAD][0] == document_id
    assert rows(database_url, "SELECT text FROM documents ORDER BY id") == [
        (TEXT,), ("The vault opens at ten.",)
    ]  # fmt: skip


def test_an_upload_read_anew_for_its_path_stays_an_upload(folder: Path, database_url: str) -> None:
    """An older recipe stands for a new release, whose readers read the file otherwise."""
    document_id = _ready_upload(database_url)
    ingest("note.txt")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE documents SET recipe = 'older'")
    assert "1 replaced" in ingest("note.txt").output
    assert {uri: number for uri, (number, _) in documents(database_url).items()} == {
        UPLOAD: document_id
    }
    assert rows(database_url, FILES) == [(UPLOAD, DIGEST)]
    assert rows(database_url, SOURCES) == [("note.txt", document_id)]


def test_an_upload_of_a_file_that_was_ingested_is_that_document_and_is_kept(
    folder: Path, database_url: str
) -> None:
    ingest("note.txt")
    assert rows(database_url, FILES) == [("note.txt", None)]
    ((document_id, _),) = documents(database_url).values()
    for _ in range(2):
        told = _upload(database_url)
        assert (told["id"], told["source_uri"], told["duplicate"]) == (
            document_id, "note.txt", True
        )  # fmt: skip
    assert rows(database_url, FILES) == [("note.txt", DIGEST)]
    assert rows(database_url, SOURCES) == [(UPLOAD, document_id)]
    assert "1 unchanged" in ingest("note.txt").output
    assert rows(database_url, FILES) == [("note.txt", DIGEST)]
    (folder / "note.txt").write_text("The vault opens at ten.")
    assert "1 replaced" in ingest("note.txt").output
    assert rows(database_url, SOURCES) == []
    assert _upload(database_url)["duplicate"] is False


def test_another_tenants_upload_is_another_document(folder: Path, database_url: str) -> None:
    ingest("note.txt")
    assert _upload(database_url, "other")["duplicate"] is False
    assert rows(database_url, SOURCES) == []


def test_two_files_of_the_same_bytes_are_two_documents(folder: Path, database_url: str) -> None:
    """A folder is mirrored as it is."""
    (folder / "copy.txt").write_text(TEXT)
    assert "2 added" in ingest(".").output
    assert documents(database_url).keys() == {"copy.txt", "note.txt"}


def test_files_are_kept_where_that_is_asked_for(
    folder: Path, database_url: str, wire: GeminiWire
) -> None:
    kept = "SELECT content_hash, data FROM files"
    ingest("note.txt")
    assert rows(database_url, kept) == []
    wire.requests.clear()
    for _ in range(2):  # of one that is stored already too, without reading it again
        assert "1 unchanged" in ingest("note.txt", "--keep-files").output
        assert rows(database_url, kept) == [(DIGEST, TEXT.encode())]
    assert wire.requests == []
    (folder / "note.txt").write_text("Changed.")
    assert "1 replaced" in ingest("note.txt", "--keep-files").output
    assert rows(database_url, kept) == [(sha256(b"Changed.").hexdigest(), b"Changed.")]
    (folder / "note.txt").write_text("Changed again.")
    assert "1 replaced" in ingest("note.txt").output
    assert rows(database_url, kept) == []
