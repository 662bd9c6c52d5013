"""LlamaIndex metadata filters as SQL with every key and value bound.

The library's own builder pastes both into the statement's text: a value ``b' OR '1'='1`` returned
every row. Numbers compare as numbers only where both sides are; a missing key matches only the
negative operators, as LlamaIndex's in-memory filters have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter
from sqlalchemy import ColumnElement, String, case, cast, false, func, literal, not_, or_, true
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, array
from sqlalchemy.types import Numeric

_NEGATIVE = (FilterOperator.NE, FilterOperator.NIN, FilterOperator.IS_EMPTY)
_LISTS = (FilterOperator.IN, FilterOperator.NIN, FilterOperator.ANY, FilterOperator.ALL)

_ORDER: dict[FilterOperator, Callable[[Any, Any], ColumnElement[bool]]] = {
    FilterOperator.EQ: lambda column, value: column == value,
    FilterOperator.NE: lambda column, value: column.is_distinct_from(value),
    FilterOperator.GT: lambda column, value: column > value,
    FilterOperator.GTE: lambda column, value: column >= value,
    FilterOperator.LT: lambda column, value: column < value,
    FilterOperator.LTE: lambda column, value: column <= value,
}
_TEXT_MATCHES: dict[FilterOperator, Callable[[Any, str], ColumnElement[bool]]] = {
    FilterOperator.TEXT_MATCH: lambda text, value: text.contains(value, autoescape=True),
    FilterOperator.TEXT_MATCH_INSENSITIVE: lambda text, value: text.icontains(
        value, autoescape=True
    ),
}


def filter_clause(metadata: Any, filter_: MetadataFilter) -> ColumnElement[bool]:
    """``filter_`` over the jsonb column ``metadata``.

    A key or value that Postgres cannot hold (a NUL, a lone surrogate), NaN and None can equal
    nothing stored: such a filter matches no row, or every row for a negative operator; in a list
    such a value counts for nothing.

    Raises:
        ValueError: an operator or a kind of value that cannot be compared.
    """
    operator, value = filter_.operator, filter_.value
    equals_nothing = true() if operator in _NEGATIVE else false()
    if not _storable(filter_.key):
        return equals_nothing
    field = metadata[filter_.key]
    if operator == FilterOperator.IS_EMPTY:
        return or_(field.astext.is_(None), field.astext == "", field == literal([], JSONB))
    if operator in _LISTS:
        return _membership(field, operator, value)
    if isinstance(value, list):
        raise ValueError(f"the filter operator {operator.value} takes one value, not a list")
    if not _storable(value):
        return equals_nothing
    if operator in _ORDER:
        return _compare(field, operator, value)
    if operator in _TEXT_MATCHES:
        return _TEXT_MATCHES[operator](field.astext, str(value))
    if operator == FilterOperator.CONTAINS:
        if value in (math.inf, -math.inf):  # JSON has no infinity
            return equals_nothing
        contains: ColumnElement[bool] = field.contains(literal([value], JSONB))
        return contains
    raise ValueError(f"the filter operator {operator.value} is not supported")


def _compare(field: Any, operator: FilterOperator, value: Any) -> ColumnElement[bool]:
    if isinstance(value, (int, float)):
        return _ORDER[operator](_number(field), _numeric(value))
    return _ORDER[operator](field.astext, value)


def _number(field: Any) -> Any:
    return case((func.jsonb_typeof(field) == "number", cast(field.astext, Numeric)))


def _numeric(value: float) -> Any:
    """``value`` as numeric, bound by its shortest digits, which are what JSON has stored.

    A float parameter would be rounded to 15 digits, and an integer has at most 64 bits.
    """
    return literal(Decimal(str(value)), Numeric)


def _membership(field: Any, operator: FilterOperator, values: Any) -> ColumnElement[bool]:
    if not isinstance(values, list):
        raise ValueError("this filter operator takes a list of values")
    known = [value for value in values if _storable(value)]
    texts = [str(value) for value in known]
    clause: ColumnElement[bool]
    if operator == FilterOperator.ANY:
        clause = field.has_any(_text_array(texts))
    elif operator == FilterOperator.ALL:
        clause = field.has_all(_text_array(texts)) if len(known) == len(values) else false()
    else:
        clause = _any_of(field, known)
        clause = clause if operator == FilterOperator.IN else not_(clause)
    return clause


def _any_of(field: Any, values: list[Any]) -> ColumnElement[bool]:
    texts = [value for value in values if isinstance(value, str)]
    numbers = [_numeric(value) for value in values if not isinstance(value, str)]
    found = or_(false(), field.astext.in_(texts), _number(field).in_(numbers))
    return func.coalesce(found, false())


def _text_array(values: list[str]) -> Any:
    return cast(array(values, type_=String), ARRAY(String))


def _storable(value: Any) -> bool:
    """True if something stored could equal ``value``."""
    if not isinstance(value, str):
        return value is not None and value == value  # NaN equals nothing
    if "\x00" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
