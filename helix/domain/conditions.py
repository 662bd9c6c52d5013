"""Conditions on documents' metadata: ``key op value``, as JSON, as text, and as bound values.

A list fits a condition where one of its items does. A value is compared with values of its own kind
alone. ``!=`` fits all that ``=`` does not, documents without the key among them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, get_args

from helix.domain.metadata import (
    Kind,
    Value,
    checked_key,
    inferred,
    json_of,
    kind_of,
    moment_of,
    value_as,
    value_of,
)
from helix.errors import BadRequest

Operator = Literal["=", "!=", "<", "<=", ">", ">=", "in", "exists"]
_OPERATORS: Mapping[Any, Operator] = {operator: operator for operator in get_args(Operator)}
MOST_CONDITIONS = 20
MOST_VALUES = 100
_WRITTEN = re.compile(
    r"\s*(?P<key>[^\s:=!<>]+)(?::(?P<type>\w+))?"
    r"(?:\s*(?P<op><=|>=|!=|=|<|>)(?P<value>.*)|\s+in\s(?P<values>.*))?",
    re.DOTALL,
)
_FORMS = "key=value, key!=value, key<value, key>=value, 'key in a; b', key or !key"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on documents' metadata. ``exists`` alone has no value: ``wanted`` or not."""

    key: str
    op: Operator
    values: tuple[Value, ...] = ()
    wanted: bool = True

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of its values, each once."""
        return tuple(sorted({kind_of(value) for value in self.values}))

    def name(self, n: int) -> str:
        """The name of the statement's part for it, the ``n``-th: it has no value in it."""
        op = self.op if self.wanted else "absent"
        return " ".join(["metadata", str(n), op, *self.kinds])

    def bound(self, n: int) -> dict[str, Any]:
        """The values that this part binds: its key, and a list of values for each kind."""
        values: dict[str, Any] = {f"metadata_{n}_key": self.key}
        for kind in self.kinds:
            of_kind = [_comparable(value) for value in self.values if kind_of(value) == kind]
            values[f"metadata_{n}_{kind}"] = of_kind
        return values

    def to_json(self) -> dict[str, Any]:
        """The condition as ``condition_of`` reads it."""
        if self.op == "exists":
            return {"key": self.key, "op": self.op, "value": self.wanted}
        values = [json_of(value) for value in self.values]
        return {"key": self.key, "op": self.op, "value": values if self.op == "in" else values[0]}


def _comparable(value: Value) -> Any:
    return moment_of(value) if isinstance(value, date) else value


def conditions_of(given: Iterable[Any]) -> tuple[Condition, ...]:
    """The conditions of a JSON list; errors name the place.

    Raises:
        BadRequest: one is none, or there are too many.
    """
    found = tuple(condition_of(one, f"metadata[{n}]") for n, one in enumerate(given))
    return _bounded(found)


def written_conditions(texts: Sequence[str]) -> tuple[Condition, ...]:
    """The conditions of texts such as ``year>=2024``; raises as ``conditions_of`` does."""
    return _bounded(tuple(map(written_condition, texts)))


def _bounded(found: tuple[Condition, ...]) -> tuple[Condition, ...]:
    if len(found) > MOST_CONDITIONS:
        raise BadRequest(
            f"there are {len(found)} conditions on metadata; the limit is {MOST_CONDITIONS}"
        )
    return found


def condition_of(given: Any, place: str = "metadata") -> Condition:
    """The condition of ``{"key", "op", "value"}``; without ``op`` it is ``=``.

    Raises:
        BadRequest: it is none; ``place`` is what the error calls it.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("key"), str):
        raise BadRequest(f'{place} is no condition: {{"key": "year", "op": ">=", "value": 2024}}')
    if strange := set(given) - {"key", "op", "value"}:
        raise BadRequest(f"{place} has {min(strange)[:80]!r}: there are key, op and value")
    key, value, wanted = checked_key(given["key"]), given.get("value"), given.get("op", "=")
    op = _OPERATORS.get(wanted) if isinstance(wanted, str) else None
    if op is None:
        raise BadRequest(f"{place}.op is none of {', '.join(_OPERATORS)}")
    if op == "exists":
        if not isinstance(value, bool | None):
            raise BadRequest(f"{place}.value of exists is true or false")
        return Condition(key, op, wanted=value is not False)
    if op != "in":
        return Condition(key, op, (value_of(f"{place}.value", value),))
    if not isinstance(value, list) or not 1 <= len(value) <= MOST_VALUES:
        raise BadRequest(f"{place}.value of in is a list of 1 to {MOST_VALUES} values")
    return Condition(key, op, tuple(value_of(f"{place}.value", one) for one in value))


def written_condition(text: str) -> Condition:
    """The condition that ``text`` writes, as ``year>=2024``, ``id:text=7``, ``due``; or its JSON.

    Raises:
        BadRequest: it writes none.
    """
    bare = text.strip()
    if bare.startswith("{"):
        return condition_of(_json(bare), "where")
    if bare.startswith("!"):
        return Condition(checked_key(bare[1:]), "exists", wanted=False)
    match = _WRITTEN.fullmatch(bare)
    if match is None:
        raise BadRequest(f"{bare[:80]!r} is no condition on metadata: {_FORMS}")
    key = checked_key(match["key"])
    name = f"the value of {key}"
    if match["values"] is not None:
        values = [one for one in match["values"].split(";") if one.strip()]
        if not 1 <= len(values) <= MOST_VALUES:
            raise BadRequest(f"{name}: 'key in a; b' has 1 to {MOST_VALUES} values")
        return Condition(key, "in", tuple(_written(name, match["type"], one) for one in values))
    if match["op"] is None:
        return Condition(key, "exists")
    return Condition(key, _OPERATORS[match["op"]], (_written(name, match["type"], match["value"]),))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None  # which is no condition


def _written(name: str, kind: str | None, text: str) -> Value:
    if kind is None:
        return inferred(name, text)
    if kind not in get_args(Kind):
        raise BadRequest(f"{name}: there is no type {kind[:80]!r}: text, number and date are")
    return value_as(name, kind, text)
