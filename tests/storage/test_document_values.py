"""Conditions on metadata in real Postgres, against a model of them in plain Python."""

from __future__ import annotations

import asyncio
import operator
import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from helix.domain.conditions import Condition, conditions_of
from helix.domain.metadata import value_of
from helix.domain.scope import Scope
from helix.library.access import Library
from helix.library.document_list import DocumentFilter, Page, list_documents, matching_ids
from helix.storage.document_parts import documents_of
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, write
from tests.support.wire.gemini import word_vector

DOCUMENTS = 200
KEYS = ("year", "author", "due", "mixed", "größe", "a.b-c_d", "nobody")
_TEXTS = ("Smith", "smith", "Ünal", "a'b", '100% "of" \\ it', "%(x)s", "2024", "z; --", "ab", "a")
_NUMBERS = (0, 1, -1, 2023, 2024, 2024.5, -0.001, 1e15, 3)
_DATES = ("2024-01-01", "2024-05-01", "2024-05-01T00:00:00Z", "2023-12-31T23:59:59Z", "1999-01-01")
_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _value(rng: random.Random) -> Any:
    value = rng.choice(rng.choice((_TEXTS, _NUMBERS, _DATES)))
    return {"text": value} if value in _DATES and rng.random() < 0.1 else value


def _metadata(rng: random.Random) -> dict[str, Any]:
    keys = [key for key in KEYS[:-1] if rng.random() < 0.5]
    return {
        key: [_value(rng) for _ in range(rng.randint(1, 4))] if rng.random() < 0.3 else _value(rng)
        for key in keys
    }


def _condition(rng: random.Random) -> dict[str, Any]:
    key, op = rng.choice(KEYS), rng.choice(("=", "!=", "<", "<=", ">", ">=", "in", "exists"))
    if op == "exists":
        return {"key": key, "op": op, "value": rng.random() < 0.5}
    several = [_value(rng) for _ in range(rng.randint(1, 4))]
    return {"key": key, "op": op, "value": several if op == "in" else several[0]}


def fits(metadata: dict[str, Any], one: dict[str, Any]) -> bool:
    """True if a document of this metadata fits the condition."""
    held = metadata.get(one["key"])
    items = [] if held is None else held if isinstance(held, list) else [held]
    values = [_comparable(item) for item in items]
    op, wanted = one["op"], one["value"]
    if op == "exists":
        return bool(items) is wanted
    if op in ("=", "!=", "in"):
        asked = [_comparable(each) for each in (wanted if op == "in" else [wanted])]
        return any(value in asked for value in values) is not (op == "!=")
    kind, bound = _comparable(wanted)
    return any(value[0] == kind and _ORDERS[op](value[1], bound) for value in values)


def _comparable(item: Any) -> tuple[str, Any]:
    value = value_of("x", item)
    if isinstance(value, datetime):
        return "date", value
    if isinstance(value, date):
        return "date", datetime(value.year, value.month, value.day, tzinfo=UTC)
    return ("text", value) if isinstance(value, str) else ("number", value)


@pytest.fixture(scope="module")
def described(module_database_url: str) -> Iterator[tuple[str, dict[int, dict[str, Any]]]]:
    """200 documents of a tenant by id, with as many of another that would fit as well."""
    rng = random.Random(34)

    async def fill() -> dict[int, dict[str, Any]]:
        async with opened(module_database_url) as store:
            own = store.of("a")
            ids = [write(own, record(f"{n}.txt", f"water number {n}")) for n in range(DOCUMENTS)]
            for n in range(5):
                write(store.of("b"), record(f"{n}.txt", f"water number {n}"))
        return {number: _metadata(rng) for number in ids}

    found = asyncio.run(fill())
    with psycopg.connect(module_database_url) as connection:
        for number, metadata in found.items():
            connection.execute(
                "UPDATE documents SET metadata = %s WHERE id = %s", (Jsonb(metadata), number)
            )
        connection.execute(
            "UPDATE documents SET metadata = (SELECT metadata FROM documents d WHERE d.id = %s)"
            " WHERE tenant_id = 'b'", (max(found, key=lambda number: len(found[number])),),
        )  # fmt: skip
    yield module_database_url, found


@pytest.mark.parametrize("filters", [60, pytest.param(2000, marks=pytest.mark.soak)])
async def test_random_filters_find_what_a_model_in_python_finds(
    described: tuple[str, dict[int, dict[str, Any]]], filters: int
) -> None:
    url, documents = described
    rng, met = random.Random(filters), 0
    async with opened(url) as store:
        library = Library(store.of("a"))
        for n in range(filters):
            wanted = [_condition(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
            expected = [
                number for number, metadata in documents.items()
                if all(fits(metadata, one) for one in wanted)
            ]  # fmt: skip
            found = await _found(store, library, conditions_of(wanted), searched=n % 10 == 0)
            assert found == [sorted(expected)] * len(found), wanted
            met += 0 < len(expected) < len(documents)
    assert met > filters / 2, "filters that tell documents apart"


async def _found(
    store: ChunkStore, library: Library, conditions: tuple[Condition, ...], *, searched: bool
) -> list[list[int]]:
    """The ids that each way of asking finds: the list, a scope, and now and then both searches."""
    scope = Scope("a", metadata=conditions)
    own = store.of("a")
    rows = await own.fetch(*documents_of(scope, "", 1000))
    found = [
        await matching_ids(library, DocumentFilter(where=conditions), 1000),
        sorted(row["id"] for row in rows),
    ]
    if searched:
        dense = await own.search(word_vector("water"), DOCUMENTS * 2, scope=scope)
        found.append(sorted({hit.document_id for hit in dense}))
        both = await own.search_hybrid("water number", word_vector("water"), 50, scope=scope)
        hits = {one.hit.document_id for one in both.candidates}
        assert hits <= set(found[0]) and len(hits) == min(50, len(found[0]))
    return found


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("key", KEYS)
async def test_pages_sorted_by_a_key_have_every_document_once(
    described: tuple[str, dict[int, dict[str, Any]]], key: str, order: Any
) -> None:
    url, documents = described
    async with opened(url) as store:
        library, seen, after = Library(store.of("a")), list[int](), None
        while True:
            page = await list_documents(
                library, DocumentFilter(), Page(23, after, f"meta.{key}", order)
            )
            seen += [row["id"] for row in page["documents"]]
            if (after := page["next"]) is None:
                break
    assert sorted(seen) == sorted(documents)
    with_key = [number for number in seen if key in documents[number]]
    assert seen[: len(with_key)] == with_key, "documents without the key come last"
    ranks = [_rank(documents[number][key]) for number in with_key]
    assert ranks == sorted(ranks, reverse=order == "desc")


def _rank(held: Any) -> tuple[int, float]:
    """The order of kinds, and within numbers and dates that of the first value."""
    kind, value = _comparable(held[0] if isinstance(held, list) else held)
    number = value.timestamp() if kind == "date" else value if kind == "number" else 0
    return ("number", "date", "text").index(kind), number


def test_a_condition_is_looked_up_in_its_index(
    described: tuple[str, dict[int, dict[str, Any]]],
) -> None:
    """For helix_app too, whose row security keeps `@>` of jsonb from its index."""
    url, _ = described
    with psycopg.connect(url) as connection:
        connection.execute("SET LOCAL ROLE helix_app")
        connection.execute("SELECT set_config('helix.tenant', 'a', true)")
        connection.execute("SET LOCAL enable_seqscan = off")
        for column, value in (("number_value", "2024"), ("text_value", "'a'")):
            lines = connection.execute(
                "EXPLAIN SELECT document_id FROM document_values WHERE tenant_id = 'a'"
                f" AND key = 'year' AND {column} = ANY(ARRAY[{value}])"
            ).fetchall()
            (looked_up,) = (line for (line,) in lines if "Index Cond" in line)
            assert f"{column} = ANY" in looked_up, lines


def test_the_database_refuses_what_is_no_metadata(
    described: tuple[str, dict[int, dict[str, Any]]],
) -> None:
    url, documents = described
    with psycopg.connect(url) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("UPDATE documents SET metadata = '[]' WHERE id = %s", (min(documents),))
