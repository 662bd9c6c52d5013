"""`helix import --reembed`: an export into a database whose vectors are another embedder's."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from helix.domain.records import EMBEDDING_KEY
from helix.storage.cache_rows import cache_key
from helix.storage.term_rows import embedded_text
from tests.support.cli_runner import helix
from tests.support.query_service import a_store, store_text
from tests.support.receipt_corpus import ask, bring_in, document, question, services
from tests.support.wire.gemini import gemini_wire, word_vector

GEMINI = "gemini:gemini-embedding-001:1536"
COUNT = 3


async def _filled(url: str) -> None:
    async with services(url) as before:
        await bring_in(before, *map(document, range(COUNT)))
        await ask(before, question(0))
    with psycopg.connect(url) as connection:  # as pipelines write chunks
        connection.execute(
            'UPDATE chunks SET metadata_ = metadata_ || \'{"embedding_key": "old"}\''
        )


def _vectors(url: str, tenant: str) -> list[tuple[str, np.ndarray, str | None]]:
    """Of each chunk the text that is embedded, its vector, and the vector's key in the cache."""
    with psycopg.connect(url) as connection:
        register_vector(connection)
        found = connection.execute(
            "SELECT content, metadata_, embedding FROM chunks WHERE tenant_id = %s ORDER BY id",
            (tenant,),
        ).fetchall()
    return [(embedded_text(c, m), v.to_numpy(), m.get(EMBEDDING_KEY)) for c, m, v in found]


def test_chunks_are_embedded_by_the_databases_embedder(
    database_url: str, module_database_url: str, tmp_path: Path
) -> None:
    folder = str(tmp_path / "export")
    asyncio.run(_filled(database_url))
    offline = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    assert helix("export", folder, DATABASE_URL=database_url, **offline).returncode == 0
    with gemini_wire() as wire, a_store(module_database_url) as store:
        store_text(store, "own.md", "Own", "Words of its own.")
        own = _vectors(module_database_url, "default")
        values = {
            "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini",
            "GEMINI_API_KEY": "wire-test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
            "RETRIEVAL_MAX_DISTANCE": "0.8",
        }  # fmt: skip
        refused = helix("import", folder, "--tenant", "moved", **values)
        assert refused.returncode == 1 and "--reembed" in refused.stderr
        assert not wire.requests and not _vectors(module_database_url, "moved")
        done = helix("import", folder, "--tenant", "moved", "--reembed", **values)
        assert done.returncode == 0, done.stderr
        assert f"of the embedder {GEMINI}" in done.stderr and wire.received("embed")
        moved = _vectors(module_database_url, "moved")
        assert len(moved) >= COUNT
        for text, vector, key in moved:
            assert np.allclose(vector, word_vector(text), atol=1e-3)
            assert key == cache_key(GEMINI, "document", text)
        assert str(_vectors(module_database_url, "default")) == str(own)
        assert len(_answers(module_database_url)) == 1


def _answers(url: str) -> list[tuple[str]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT id FROM answers WHERE tenant_id = 'moved'").fetchall()
