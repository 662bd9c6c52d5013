"""Texts of LangChain's, LlamaIndex's and Open WebUI's tables come in as documents, by workers."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from helix.library.transfer.vector_tables import without_overlap
from tests.support.cli_runner import helix

TEXT = "Parcels take four days to Norway. Gift cards are never returned. Süß ☃ 𝕏 is the motto."
_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
_TABLES = """
CREATE TABLE langchain_pg_collection (uuid uuid PRIMARY KEY, name text, cmetadata json);
CREATE TABLE langchain_pg_embedding (id text PRIMARY KEY, collection_id uuid, embedding vector,
    document text, cmetadata jsonb);
CREATE TABLE document_chunk (id text PRIMARY KEY, vector vector(3), collection_name text NOT NULL,
    text text, vmetadata jsonb);
CREATE TABLE data_docs (id bigserial PRIMARY KEY, text varchar NOT NULL, metadata_ json,
    node_id varchar, embedding vector(3));
INSERT INTO langchain_pg_collection VALUES
    ('00000000-0000-0000-0000-000000000001', 'docs'), ('00000000-0000-0000-0000-000000000002', 'x');
"""


@given(st.text(min_size=40), st.data())
def test_neighbours_that_overlap_are_their_text(text: str, data: Any) -> None:
    middle = data.draw(st.integers(0, len(text) - 20))
    shared = without_overlap(text[: middle + 20], text[middle:])
    # a text that repeats itself may share more than was cut twice
    assert shared == text or len(shared) < len(text)
    assert without_overlap("One.", "Two.") == "One.\n\nTwo."


@pytest.fixture
def others(database_url: str) -> str:
    """A database with chunks of the three programs, stored out of order."""
    places = [(50, len(TEXT)), (0, 40), (25, 65)]
    with psycopg.connect(database_url) as connection:
        connection.execute(_TABLES)
        for n, (start, end) in enumerate(places):
            about = Jsonb({"source": "shop/rules.pdf", "start_index": start, "title": "Rules"})
            connection.execute(
                "INSERT INTO langchain_pg_embedding VALUES"
                " (%s, '00000000-0000-0000-0000-000000000001', '[1]', %s, %s)",
                (str(n), TEXT[start:end], about),
            )
            node = f'{{"start_char_idx": {start}}}'
            about = Jsonb({"file_path": "/d/a.md", "file_name": "a.md", "_node_content": node})
            connection.execute(
                "INSERT INTO data_docs (text, metadata_) VALUES (%s, %s)", (TEXT[start:end], about)
            )
            about = Jsonb({"file_id": "f-1", "name": "motto.md", "start_index": start})
            connection.execute(
                "INSERT INTO document_chunk VALUES (%s, '[1,2,3]', 'file-f-1', %s, %s)",
                (str(n), TEXT[start:end], about),
            )
        connection.execute(
            "INSERT INTO langchain_pg_embedding VALUES"
            " ('9', '00000000-0000-0000-0000-000000000002', '[1]', 'Of another.', NULL)"
        )
    return database_url


def test_texts_are_queued_whole_and_once(others: str, module_database_url: str) -> None:
    def imported(*more: str) -> str:
        values = _OFFLINE | {"DATABASE_URL": module_database_url}
        done = helix("import", others, *more, **values)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert imported("--from", "langchain", "--collection", "docs").startswith("1 texts of lang")
    imported("--from", "llamaindex", "--collection", "Docs", "--tenant", "index")
    imported("--from", "open-webui", "--tenant", "acme")
    imported("--from", "open-webui", "--tenant", "acme")  # the same again: nothing new
    with psycopg.connect(module_database_url) as connection:
        queued = connection.execute(
            "SELECT d.tenant_id, d.source_uri, d.title, convert_from(f.data, 'UTF8'), f.size"
            " FROM documents d JOIN files f ON f.content_hash = d.content_hash"
            " AND f.tenant_id = d.tenant_id ORDER BY 1"
        ).fetchall()
        runs = connection.execute("SELECT kind, status FROM runs").fetchall()
    size = len(TEXT.encode())
    assert queued == [
        ("acme", "open-webui:f-1", "motto.md", TEXT, size),
        ("default", "langchain:shop/rules.pdf", "Rules", TEXT, size),
        ("index", "llamaindex:/d/a.md", "a.md", TEXT, size),
    ]
    assert runs == [("upload", "queued")] * 3
    wrong = helix("import", others, "--from", "chroma", DATABASE_URL=module_database_url)
    assert wrong.returncode == 2 and "langchain, llamaindex, open-webui are known" in wrong.stderr
    none = helix(
        "import", module_database_url, "--from", "langchain", DATABASE_URL=module_database_url
    )
    assert none.returncode == 1 and "has no texts of langchain" in none.stderr
