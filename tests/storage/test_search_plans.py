"""The rows that a search reads where only chunks have statistics, as after a first load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest
from pgvector.psycopg import register_vector

from helix.domain.retrieval import DEFAULT_FUSION
from helix.domain.scope import DEFAULT_TENANT, Scope
from helix.storage.searches import hybrid_search
from helix.storage.statements.hits import STORED_PLACES
from tests.support.fake_embedder import opened, record, rows, write
from tests.support.wire.gemini import word_vector

DOCUMENTS, PARAGRAPHS = 40, 8
TOP_K = 5
RARE = "Lanterns of paragraph 3 hang in the workshop."


@pytest.fixture
async def filled(database_url: str) -> str:
    """Documents of some paragraphs each, of which a few tell of lanterns."""
    async with opened(database_url) as store:
        for number in range(DOCUMENTS):
            texts = [f"Paragraph {n} of report {number}." for n in range(PARAGRAPHS)]
            if number < 3:
                texts[3] = f"{RARE} {number}"
            write(store, record(f"{number}.txt", "\n\n".join(texts)))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("ANALYZE chunks, chunk_terms")
    return database_url


def _read(url: str, statement: str, values: Mapping[str, Any], table: str) -> float:
    """The rows of ``table`` that the plan of ``statement`` reads, those filtered out included."""
    explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}"
    with psycopg.connect(url, autocommit=True) as connection:
        register_vector(connection)
        connection.execute("SELECT set_config('helix.tenant', %s, false)", (DEFAULT_TENANT,))
        row = connection.execute(explain, values).fetchone()
    assert row is not None
    looked_at: list[float] = [
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in _nodes(row[0][0]["Plan"])
        if node.get("Relation Name") == table
    ]
    return sum(looked_at)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


async def test_places_of_sources_are_looked_up_by_their_documents(filled: str) -> None:
    ids = [number for (number,) in rows(filled, "SELECT id FROM chunks ORDER BY id LIMIT 5")]
    values = {"tenant": DEFAULT_TENANT, "ids": ids}
    assert _read(filled, STORED_PLACES, values, "documents") <= len(ids)


async def test_terms_are_looked_up_of_candidates_alone(filled: str) -> None:
    search = hybrid_search(
        "lanterns", word_vector(RARE), TOP_K, Scope(DEFAULT_TENANT), DEFAULT_FUSION, 50
    )
    # the three by their terms, the fifty nearest to be scored, the five that are returned
    assert _read(filled, search.statement, search.values, "chunk_terms") <= 3 + 50 + TOP_K
