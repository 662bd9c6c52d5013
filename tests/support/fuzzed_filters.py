"""LlamaIndex's filters made at random, and worked out in Python what each must find."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)

from tests.support.fuzzed_requests import NUMBERS, some_text

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
"""A pair: the row must be found, and it may be: the text of an array is Postgres's own."""
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
    """A pair: ``one`` must find a row of this metadata, and it may find it."""
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


def all_fit(metadata: dict[str, Any], filters: MetadataFilters) -> Sure:
    each = [
        all_fit(metadata, one) if isinstance(one, MetadataFilters) else fits(metadata, one)
        for one in filters.filters
    ]
    together = all if filters.condition == FilterCondition.AND else any
    return together(must for must, _ in each), together(may for _, may in each)


def _value(draw: random.Random) -> Any:
    if draw.random() < 0.5:
        return draw.choice(VALUES)
    kinds: list[Callable[[], Any]] = [
        lambda: some_text(draw),
        lambda: draw.choice([n for n in NUMBERS if not isinstance(n, bool)]),
        lambda: None,
    ]
    return draw.choice(kinds)()


def some_filters(draw: random.Random, depth: int = 0) -> MetadataFilters:
    """One to three filters, some of them nested.

    Raises:
        ValueError: LlamaIndex itself takes no such value.
    """
    made: list[MetadataFilter | MetadataFilters] = []
    for _ in range(draw.randrange(1, 4)):
        if depth < 2 and draw.random() < 0.2:
            made.append(some_filters(draw, depth + 1))
            continue
        key = draw.choice(KEYS) if draw.random() < 0.7 else some_text(draw)
        operator = draw.choice(list(FilterOperator))
        listed = operator.value in ("in", "nin", "any", "all") or draw.random() < 0.03
        first = _value(draw)
        more = (_value(draw) for _ in range(draw.randrange(4)))
        value = [first, *(each for each in more if type(each) is type(first))] if listed else first
        made.append(MetadataFilter(key=key, value=value, operator=operator))
    condition = FilterCondition.AND if draw.random() < 0.5 else FilterCondition.OR
    return MetadataFilters(filters=made, condition=condition)
