"""Metadata filters: every key and value bound, and LlamaIndex's own in-memory filters agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)
from llama_index.core.vector_stores.utils import build_metadata_filter_fn

from helix.store import ChunkStore
from tests.support.fake_embedder import IDENTITY
from tests.support.wire.gemini import word_vector

METADATA: list[dict[str, Any]] = [
    {"tenant": "a", "year": 2024, "tags": ["red", "blue"], "ratio": 0.1 + 0.2},
    {"tenant": "b", "year": 2025, "tags": ["blue"], "O'Brien": "O'Brien"},
    {"tenant": "b' OR '1'='1", "year": 123, "note": "100% of a_b\\c"},
    {"tenant": "123", "year": 2024.5, "tags": []},
    {"tenant": "", "note": "Straße", "deep": {"tenant": "a"}},
    {"year": -1, "note": None, "a') OR true --": "x"},
]
KEYS = sorted({key for metadata in METADATA for key in metadata})

ODD_TEXT = [
    "b' OR '1'='1", "O'Brien", "123", "'; DROP TABLE chunks; --", "%", "_", "\\", "/", '"', "",
    ":x", "%(x)s", "\x00", "a\x00b", "\ud800", "$1", "{}", "?", "NaN", "null",
]  # fmt: skip
TEXT = st.one_of(st.sampled_from(ODD_TEXT), st.text(st.characters(exclude_categories=())))
NUMBERS = st.one_of(st.integers(), st.floats(), st.sampled_from([2**31, 2**63, 10**40, -0.0]))
VALUES = st.one_of(
    TEXT, NUMBERS, st.none(), st.lists(TEXT), st.lists(st.integers()), st.lists(st.floats())
)


@pytest.fixture(scope="module")
def store(module_database_url: str) -> Iterator[ChunkStore]:
    store = ChunkStore(module_database_url, IDENTITY)
    nodes = [
        TextNode(id_=str(n), text=f"{n}", embedding=word_vector(f"w{n}"), metadata=metadata)
        for n, metadata in enumerate(METADATA)
    ]
    store.add(nodes)
    yield store
    store.client.dispose()
    store.connections.close_writing()


def found(
    store: ChunkStore, *filters: MetadataFilter | MetadataFilters, any_of: bool = False
) -> set[int]:
    condition = FilterCondition.OR if any_of else FilterCondition.AND
    nodes = store.get_nodes(filters=MetadataFilters(filters=[*filters], condition=condition))
    return {int(node.node_id) for node in nodes}


def test_the_injection_of_the_stock_store_finds_only_what_says_so(store: ChunkStore) -> None:
    injected = "b' OR '1'='1"
    assert found(store, MetadataFilter(key="tenant", value=injected)) == {2}
    assert found(store, MetadataFilter(key="x' = '' OR '1'='1", value="1")) == set()
    assert found(store, MetadataFilter(key="a') OR true --", value="x")) == {5}
    assert found(store, MetadataFilter(key="O'Brien", value="O'Brien")) == {1}


@pytest.mark.parametrize(
    ("key", "operator", "value", "expected"),
    [
        ("tenant", "==", "123", {3}),
        ("tenant", "==", "123.0", set()),
        ("tenant", "==", 123, set()),
        ("year", "==", 123, {2}),
        ("year", "==", 2024.0, {0}),
        ("year", ">", 2024, {1, 3}),
        ("year", "<=", 123, {2, 5}),
        ("year", ">", float("nan"), set()),
        ("year", "<", 10**40, {0, 1, 2, 3, 5}),
        ("ratio", "==", 0.1 + 0.2, {0}),
        ("year", "in", [2024.0, 123.0], {0, 2}),
        ("year", "nin", [10**30], {0, 1, 2, 3, 4, 5}),
        ("tenant", "!=", "a", {1, 2, 3, 4, 5}),
        ("tenant", "==", "a\x00", set()),
        ("tenant", "!=", "\ud800", {0, 1, 2, 3, 4, 5}),
        ("tenant", "==", None, set()),
        ("tenant", "in", ["a", "\x00"], {0}),
        ("tenant", "in", [], set()),
        ("tenant", "nin", ["a", "\x00"], {1, 2, 3, 4, 5}),
        ("tags", "any", ["red", "\ud800"], {0}),
        ("tags", "all", ["blue"], {0, 1}),
        ("tags", "all", ["blue", "\x00"], set()),
        ("tags", "contains", "red", {0}),
        ("tags", "contains", "re", set()),
        ("tags", "contains", 10**30, set()),
        ("note", "text_match", "100% of a_b\\", {2}),
        ("note", "text_match", "1__%", set()),
        ("note", "text_match_insensitive", "STRASSE", set()),
        ("note", "text_match_insensitive", "STRAß", {4}),
        ("tags", "is_empty", None, {2, 3, 4, 5}),
        ("tenant", "is_empty", "\x00", {4, 5}),
        ("\x00", "is_empty", None, {0, 1, 2, 3, 4, 5}),
        ("\x00", "==", "a", set()),
        ("deep.tenant", "==", "a", set()),
        ("", "==", "", set()),
    ],
)
def test_operators(
    store: ChunkStore, key: str, operator: str, value: Any, expected: set[int]
) -> None:
    one = MetadataFilter(key=key, value=value, operator=FilterOperator(operator))
    assert found(store, one) == expected


def test_conditions_nest(store: ChunkStore) -> None:
    tenants = [MetadataFilter(key="tenant", value=value) for value in ("a", "b")]
    either = MetadataFilters(filters=[*tenants], condition=FilterCondition.OR)
    late = MetadataFilter(key="year", value=2025, operator=FilterOperator.GTE)
    assert found(store, either) == {0, 1}
    assert found(store, either, late) == {1}
    assert found(store, *tenants, late, any_of=True) == {0, 1}


def test_a_value_of_the_wrong_kind_is_named(store: ChunkStore) -> None:
    with pytest.raises(ValueError, match="takes a list of values"):
        found(store, MetadataFilter(key="a", value="b", operator=FilterOperator.IN))
    with pytest.raises(ValueError, match="takes one value, not a list"):
        found(store, MetadataFilter(key="a", value=["b"], operator=FilterOperator.GT))


@pytest.mark.parametrize("examples", [150, pytest.param(2000, marks=pytest.mark.soak)])
def test_no_filter_breaks_the_statement_or_brings_an_extra_row(
    store: ChunkStore, examples: int
) -> None:
    @settings(max_examples=examples)
    @given(st.one_of(st.sampled_from(KEYS), TEXT), VALUES, st.sampled_from(FilterOperator))
    @example("tenant", "b' OR '1'='1", FilterOperator.EQ)
    @example("tags", 2**40, FilterOperator.CONTAINS)
    @example("year", [10**30], FilterOperator.IN)
    def holds(key: str, value: Any, operator: FilterOperator) -> None:
        one = MetadataFilter(key=key, value=value, operator=operator)
        try:
            rows = found(store, one)
        except ValueError as refused:  # before any statement; an SQL error is no ValueError
            assert "filter operator" in str(refused)
            return
        if (expected := in_memory(one)) is not None:
            assert rows == expected
        unlimited = operator in (FilterOperator.NE, FilterOperator.NIN, FilterOperator.IS_EMPTY)
        if key not in KEYS:
            assert rows == (set(range(len(METADATA))) if unlimited else set())

    holds()


def in_memory(one: MetadataFilter) -> set[int] | None:
    """Rows that LlamaIndex's own filter finds; None where it cannot tell or means another thing."""
    ordered = one.operator in (
        FilterOperator.GT, FilterOperator.GTE, FilterOperator.LT, FilterOperator.LTE,
    )  # fmt: skip
    substring = FilterOperator.CONTAINS, FilterOperator.ANY, FilterOperator.ALL
    if one.key in ("deep", "tags") and one.operator not in substring:
        return None  # the text of an object or an array is Postgres's own
    if ordered and isinstance(one.value, str):
        return None  # an order of texts is a collation's; Python knows one only
    matches = build_metadata_filter_fn(
        lambda place: METADATA[int(place)], MetadataFilters(filters=[one])
    )
    rows = set()
    for place, metadata in enumerate(METADATA):
        if one.operator in substring and not isinstance(metadata.get(one.key), (list, type(None))):
            return None  # a part of a text, in memory; here it must be an array
        try:
            if matches(str(place)):
                rows.add(place)
        except TypeError:  # incomparable kinds: no match
            continue
    return rows


def test_the_table_is_still_there_after_all_of_it(
    store: ChunkStore, module_database_url: str
) -> None:
    for odd in ODD_TEXT:
        found(store, MetadataFilter(key=odd, value=odd))
        store.delete_nodes(filters=MetadataFilters(filters=[MetadataFilter(key=odd, value=odd)]))
    with psycopg.connect(module_database_url) as connection:
        left = connection.execute("SELECT count(*) FROM chunks").fetchone()
    assert left == (len(METADATA) - 1,)  # O'Brien's, by its own name
