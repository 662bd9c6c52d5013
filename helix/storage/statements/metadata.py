"""Metadata of documents: conditions on it, orders by it, edits of it."""

from __future__ import annotations

from collections.abc import Sequence

from helix.storage.statements import compose

# Looked up once, by the index of the kind. An EXISTS is evaluated for every document: to find a
# hundredth of 20,000 took 330 ms so, and takes 0.9 ms by this.
_AMONG = """id IN (
    {all} SELECT document_id FROM document_values v WHERE v.tenant_id = %(tenant)s
    AND v.key = %(metadata_{n}_key)s AND ({fits}))"""

# NOT IN would be looked through for each document as soon as it is more than fits work_mem.
_ALL_BUT = "SELECT o.id FROM documents o WHERE o.tenant_id = %(tenant)s EXCEPT"

# A kind of value has a column of its own, so that each has an index in its own order.
_COLUMNS = {
    "text": ("text_value", "text"),
    "number": ("number_value", "float8"),
    "date": ("date_value", "timestamptz"),
}

# A list holds a condition where one of its values does.
_ANY_OF = "v.{column} = ANY(%(metadata_{n}_{kind})s::{type}[])"
# Bound as a list too: one shape of values for every operator.
_BESIDE = "v.{column} {op} (%(metadata_{n}_{kind})s::{type}[])[1]"
# Held by documents without the key as well.
_OUTSIDE = ("!=", "absent")


def is_condition(name: str) -> bool:
    """True if ``name`` is that of a condition (helix/domain/conditions.py)."""
    return name.startswith("metadata ")


def condition(name: str) -> str:
    """The condition on ``documents`` of this name; binds what ``Condition.bound`` gives."""
    _, n, op, *kinds = name.split(" ")
    shape = _BESIDE if op in ("<", "<=", ">", ">=") else _ANY_OF
    fits = [
        compose(shape, n=n, kind=kind, column=_COLUMNS[kind][0], type=_COLUMNS[kind][1], op=op)
        for kind in kinds
    ]
    every = _ALL_BUT if op in _OUTSIDE else ""
    return compose(_AMONG, all=every, n=n, fits=" OR ".join(fits) or "true")


def conditions(names: Sequence[str]) -> str:
    """All of these conditions."""
    return " AND ".join(map(condition, names)) or "true"
