"""Filters under fuzz: no SQL error, no row but those that fit, nothing left on a connection.

What fits is worked out anew in Python, of the request's own JSON and of what was stored. The same
seed gives the same examples; `make soak` runs 20,000.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
)
from sqlalchemy import text

from helix.errors import BadRequest
from helix.query_request import query_request
from helix.store import ChunkStore
from tests.fakes import IDENTITY, opened, record, write
from tests.wire.gemini import word_vector

COUNTS = pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.soak)])
VECTOR = word_vector("stone river")

NASTY = [
    "b' OR '1'='1", "O'Brien", "'; DROP TABLE chunks; --", '") OR true --', "%", "_", "\\", "\\'",
    "/*", '"', "", " ", ":x", "%(tenant)s", "%s", "$1", "{}", "{a,b}", "?", "NaN", "null", "\x00",
    "a\x00b", "\ud800", "\u202e", "\u200b", "ﷺ", "İ", "🦆" * 3, "a" * 3000, "\n", "1e999", "-1",
    "[1]", "🏴\U000e0067", "default'--", "infinity", "epoch", "now()", "2024-01-01", "\x1b[31m",
    "é", "e\u0301",
]  # fmt: skip
NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 2**31, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**400, 0.0, -0.0, 0.5,
    1e308, 1e-320, float("inf"), float("-inf"), float("nan"), True, False,
]  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """A document as it was stored."""

    id: int
    tenant: str
    uri: str
    tags: tuple[str, ...]
    at: datetime


URIS = ["a/x.md", "a'/y.md", "a%/z", "_/w", "\\/v", "A/x.md", "ü/é", "a", "b' OR '1'='1", "%"]
TAGS = [
    ("red", "blue"), ("blue",), ("O'Brien", "{}"), (), ("%", "_"), ("{a,b}", '"'), ("null",),
    ("NaN", "red"), ("é",), ("\\", "b' OR '1'='1"),
]  # fmt: skip
TENANTS = ["default", "acme", "x@y.z"]
NOON = datetime.fromisoformat("2024-03-01T12:00:00.123456+00:00")


@dataclass(frozen=True)
class Fuzzed:
    """A database with documents in three tenants, and what they are."""

    url: str
    documents: list[Stored]


@contextmanager
def _writing(url: str) -> Iterator[ChunkStore]:
    store = ChunkStore(url, IDENTITY)
    yield store
    store._connections._writing.close()


@pytest.fixture(scope="module")
def fuzzed(module_database_url: str) -> Fuzzed:
    found: list[Stored] = []
    with _writing(module_database_url) as store:
        for tenant in TENANTS:
            for n, (uri, tags) in enumerate(zip(URIS, TAGS, strict=True)):
                document = replace(record(uri, f"stone {n}\n\nriver {n}"), tags=tags)
                number = write(store.of(tenant), document)
                found.append(Stored(number, tenant, uri, tags, NOON + timedelta(days=n)))
    with psycopg.connect(module_database_url, autocommit=True) as owner:
        for one in found:
            owner.execute("UPDATE documents SET updated_at = %s WHERE id = %s", (one.at, one.id))
    return Fuzzed(module_database_url, found)


# --- requests ----------------------------------------------------------------------------------


def _text(draw: random.Random) -> str:
    if draw.random() < 0.8:
        return draw.choice(NASTY)
    kinds: list[Callable[[], str]] = [
        lambda: chr(draw.randrange(0x110000)),
        lambda: chr(draw.randrange(32, 127)),
    ]
    return "".join(draw.choice(kinds)() for _ in range(draw.randrange(1, 12)))


def _wrong(draw: random.Random) -> Any:
    """A value of any kind."""
    kinds: list[Callable[[], Any]] = [
        lambda: _text(draw),
        lambda: draw.choice(NUMBERS),
        lambda: None,
        list,
        lambda: [_text(draw)],
        lambda: {_text(draw): _text(draw)},
        lambda: [[[]]],
        lambda: {"$gt": 1},
    ]
    return draw.choice(kinds)()


def _moment(draw: random.Random) -> str:
    at = NOON + timedelta(days=draw.randrange(-2, 12), microseconds=draw.randrange(-1, 2))
    at += timedelta(hours=(offset := draw.randrange(-12, 14)))
    return at.replace(tzinfo=None).isoformat() + f"{offset:+03d}:00"


def _right(draw: random.Random, key: str, ids: list[int]) -> Any:
    if key == "document_ids":
        return draw.choices([*ids, 0, 2**63 - 1], k=draw.randrange(1, 8))
    if key == "tags":
        return list(draw.choice([*TAGS, ("red",), ("blue", "blue", " red ")])) or [_text(draw)]
    if key == "source_prefix":
        uri = draw.choice(URIS)
        return uri[: draw.randrange(1, len(uri) + 1)]
    known: dict[str, list[Any]] = {
        "tenant_id": TENANTS,
        "top_k": [50],
        "debug": [True, False],
        "stream": [False],
    }
    return draw.choice(known[key]) if key in known else _moment(draw)


def request_body(draw: random.Random, ids: list[int]) -> dict[str, Any]:
    """The JSON of a request; about one in three is to be refused."""

    def some(names: tuple[str, ...], of: float) -> dict[str, Any]:
        chosen = [name for name in names if draw.random() < of]
        strange = [_text(draw)] if draw.random() < 0.03 else []
        return {
            name: _wrong(draw) if draw.random() < 0.12 else _right(draw, name, ids)
            for name in chosen
        } | {name: _wrong(draw) for name in strange}

    made = some(("tenant_id", "top_k", "document_ids", "debug", "stream"), 0.3)
    made["question"] = draw.choice(["zebra quagga okapi", _text(draw)])
    if draw.random() < 0.7:
        made["filters"] = some(("source_prefix", "tags", "since", "until"), 0.35)
    return made


def encoded(made: dict[str, Any]) -> bytes:
    """As a client sends it; lone surrogates as escapes or as bytes that are no UTF-8."""
    if sum(map(ord, json.dumps(made))) % 2:
        return json.dumps(made).encode()
    return json.dumps(made, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _fitting(made: dict[str, Any], documents: list[Stored]) -> set[int]:
    """The documents that an accepted request may be answered from, by its JSON."""
    filters = made.get("filters") or {}
    tags = {tag.strip() for tag in filters.get("tags") or ()}
    bounds = [filters.get(name) for name in ("since", "until")]
    since, until = (at and datetime.fromisoformat(at) for at in bounds)
    return {
        one.id
        for one in documents
        if one.tenant == (made.get("tenant_id") or "default")
        and (made.get("document_ids") is None or one.id in made["document_ids"])
        and one.uri.startswith(filters.get("source_prefix") or "")
        and tags <= set(one.tags)
        and (since is None or one.at >= since)
        and (until is None or one.at <= until)
    }


async def _settings(store: ChunkStore) -> list[Any]:
    """What every pooled connection says it is set to, and whose it is."""
    statement = (
        "SELECT array_agg(name || '=' || setting ORDER BY name)::text, current_user::text,"
        " coalesce(current_setting('helix.tenant', true), '') FROM pg_settings"
        " WHERE source = 'session'"
    )
    found: list[Any] = []
    async with store._connections._reading.connection() as connection:
        found.append(await (await connection.execute(statement)).fetchone())
    with store._connections.connection() as writing:
        found.append(writing.execute(statement.encode()).fetchone())
    with store.client.connect() as alchemy:
        found.append(tuple(alchemy.execute(text(statement)).one()))
    return found


@asynccontextmanager
async def _nothing_left(store: ChunkStore) -> AsyncIterator[None]:
    """Nothing in the block leaves a setting on a pooled connection."""
    store._initialize()
    assert await store.ping()  # connected both ways; nothing was searched yet
    before = await _settings(store)
    assert before[0][1] == "helix_app" and {tenant for *_, tenant in before} == {""}
    yield
    assert await _settings(store) == before


@COUNTS
async def test_requests(fuzzed: Fuzzed, count: int) -> None:
    draw, ids = random.Random(4), [one.id for one in fuzzed.documents]
    accepted = found_some = 0
    async with opened(fuzzed.url, pool_size=1) as store, _nothing_left(store):
        for n in range(count):
            made = request_body(draw, ids)
            try:
                asked = query_request(encoded(made), 4000)
            except BadRequest as refused:
                assert "\n" not in str(refused) and len(str(refused)) < 400
                continue
            scope = asked.scope(asked.tenant_id or "default")
            if n % 2:
                hits = await store.search(VECTOR, 50, scope)
            else:
                hits = (await store.search_hybrid(asked.question, VECTOR, 50, scope)).hits
            expected = _fitting(made, fuzzed.documents)
            assert {hit.document_id for hit in hits} == expected, made
            assert len(hits) == 2 * len(expected), made
            accepted += 1
            found_some += bool(expected)
    assert count / 4 < accepted < count and accepted / 3 < found_some < accepted


# --- LlamaIndex's filters ----------------------------------------------------------------------

METADATA: list[dict[str, Any]] = [
    {"kind": "a", "year": 2024, "tags": ["red", "blue"], "ratio": 0.1 + 0.2},
    {"kind": "b", "year": 2025, "tags": ["blue"], "O'Brien": "O'Brien"},
    {"kind": "b' OR '1'='1", "year": 123, "note": "100% of a_b\\c"},
    {"kind": "123", "year": 2024.5, "tags": []},
    {"kind": "", "note": "Straße", "deep": {"kind": "a"}},
    {"year": -1, "note": None, "a') OR true --": "x", "%(x)s": ":x"},
]
KEYS = sorted({key for metadata in METADATA for key in metadata})
VALUES = [
    "a",
    "b",
    "123",
    "red",
    "blue",
    "x",
    ":x",
    "O'Brien",
    "100%",
    2024,
    2024.0,
    123,
    -1,
    2024.5,
]
NEGATIVE = (FilterOperator.NE, FilterOperator.NIN, FilterOperator.IS_EMPTY)
ORDERS: dict[FilterOperator, Callable[[Any, Any], bool]] = {
    FilterOperator.EQ: lambda a, b: a == b,
    FilterOperator.NE: lambda a, b: a != b,
    FilterOperator.GT: lambda a, b: a > b,
    FilterOperator.GTE: lambda a, b: a >= b,
    FilterOperator.LT: lambda a, b: a < b,
    FilterOperator.LTE: lambda a, b: a <= b,
}
Sure = tuple[bool, bool]
"""Whether a row must be found, and whether it may be: the text of an array is Postgres's own."""
YES, NO, PERHAPS = (True, True), (False, False), (False, True)


def _sure(fits: bool) -> Sure:
    return YES if fits else NO


def _holdable(value: Any) -> bool:
    if not isinstance(value, str):
        return value is not None and value == value
    return "\x00" not in value and not any(0xD800 <= ord(c) < 0xE000 for c in value)


def _number(value: Any) -> Decimal | None:
    return Decimal(str(value)) if type(value) in (int, float) else None


def _plain(value: Any) -> str | None:
    return None if value is None else str(value)


def fits(metadata: dict[str, Any], one: MetadataFilter) -> Sure:
    """Whether ``one`` finds a row of this metadata."""
    operator, value, held = one.operator, one.value, metadata.get(one.key)
    if not _holdable(one.key):
        return _sure(operator in NEGATIVE)
    if operator == FilterOperator.IS_EMPTY:
        return _sure(held in (None, "", []))
    if isinstance(value, list):
        return _fits_list(held, operator, [each for each in value if _holdable(each)], value)
    if not _holdable(value):
        return _sure(operator in NEGATIVE)
    if operator == FilterOperator.CONTAINS:
        return _sure(isinstance(held, list) and value in held)
    if isinstance(held, (list, dict)):
        return PERHAPS if isinstance(value, str) else _sure(operator == FilterOperator.NE)
    if operator in (FilterOperator.TEXT_MATCH, FilterOperator.TEXT_MATCH_INSENSITIVE):
        return _fits_text(_plain(held), operator, str(value))
    return _fits_order(held, operator, value)


def _fits_text(held: str | None, operator: FilterOperator, value: str) -> Sure:
    if held is None:
        return NO
    if value in held:
        return YES
    if operator == FilterOperator.TEXT_MATCH or (held.isascii() and value.isascii()):
        return _sure(
            operator == FilterOperator.TEXT_MATCH_INSENSITIVE and value.lower() in held.lower()
        )
    return PERHAPS  # what is one letter in two cases is the database's to say


def _fits_order(held: Any, operator: FilterOperator, value: Any) -> Sure:
    as_text = isinstance(value, str)
    mine = _plain(held) if as_text else _number(held)
    if mine is None:
        return _sure(operator == FilterOperator.NE)
    if as_text and operator not in (FilterOperator.EQ, FilterOperator.NE):
        return PERHAPS  # an order of texts is a collation's
    return _sure(ORDERS[operator](mine, value if as_text else _number(value)))


def _fits_list(held: Any, operator: FilterOperator, known: list[Any], value: list[Any]) -> Sure:
    if operator in (FilterOperator.ANY, FilterOperator.ALL):
        if held is None or isinstance(held, (int, float)):
            return NO
        has = [str(each) in ([held] if isinstance(held, str) else held) for each in known]
        every = len(known) == len(value) and all(has)
        return _sure(any(has) if operator == FilterOperator.ANY else every)
    if isinstance(held, (list, dict)):
        return PERHAPS
    inside = held is not None and any(
        _plain(held) == each if isinstance(each, str) else _number(held) == _number(each)
        for each in known
    )
    return _sure(inside == (operator == FilterOperator.IN))


def _all_fit(metadata: dict[str, Any], filters: MetadataFilters) -> Sure:
    each = [
        _all_fit(metadata, one) if isinstance(one, MetadataFilters) else fits(metadata, one)
        for one in filters.filters
    ]
    together = all if filters.condition == FilterCondition.AND else any
    return together(must for must, _ in each), together(may for _, may in each)


def _value(draw: random.Random) -> Any:
    if draw.random() < 0.5:
        return draw.choice(VALUES)
    kinds: list[Callable[[], Any]] = [
        lambda: _text(draw),
        lambda: draw.choice([n for n in NUMBERS if not isinstance(n, bool)]),
        lambda: None,
    ]
    return draw.choice(kinds)()


def _filters(draw: random.Random, depth: int = 0) -> MetadataFilters:
    """One to three filters, some of them nested.

    Raises:
        ValueError: LlamaIndex itself takes no such value.
    """
    made: list[MetadataFilter | MetadataFilters] = []
    for _ in range(draw.randrange(1, 4)):
        if depth < 2 and draw.random() < 0.2:
            made.append(_filters(draw, depth + 1))
            continue
        key = draw.choice(KEYS) if draw.random() < 0.7 else _text(draw)
        operator = draw.choice(list(FilterOperator))
        listed = operator.value in ("in", "nin", "any", "all") or draw.random() < 0.03
        first = _value(draw)
        more = (_value(draw) for _ in range(draw.randrange(4)))
        value = [first, *(each for each in more if type(each) is type(first))] if listed else first
        made.append(MetadataFilter(key=key, value=value, operator=operator))
    condition = FilterCondition.AND if draw.random() < 0.5 else FilterCondition.OR
    return MetadataFilters(filters=made, condition=condition)


@pytest.fixture(scope="module")
def labelled(fuzzed: Fuzzed) -> str:
    """The database with a node a METADATA for each of two tenants."""
    with _writing(fuzzed.url) as store:
        for tenant in ("theirs", "ours"):
            nodes = [
                TextNode(id_=f"{tenant}-{n}", text=f"{n}", embedding=VECTOR, metadata=metadata)
                for n, metadata in enumerate(METADATA)
            ]
            store.of(tenant).add(nodes)
    return fuzzed.url


@COUNTS
async def test_filters_of_llamaindex(labelled: str, count: int) -> None:
    draw = random.Random(7)
    run = found_some = 0
    async with opened(labelled, pool_size=1) as everyone, _nothing_left(everyone):
        ours = everyone.of("ours")
        for _ in range(count):
            try:
                filters = _filters(draw)
                query = VectorStoreQuery(
                    query_embedding=VECTOR, similarity_top_k=100, filters=filters
                )
                found = ours.query(query).ids or []
            except ValueError:  # before any statement; an error of the database is no ValueError
                continue
            sure = {f"ours-{n}": _all_fit(each, filters) for n, each in enumerate(METADATA)}
            assert set(found) <= {name for name, (_, may) in sure.items() if may}, filters
            assert {name for name, (must, _) in sure.items() if must} <= set(found), filters
            assert len(found) == len(set(found))
            run += 1
            found_some += bool(found)
    assert run > count / 2 and run / 10 < found_some < run
