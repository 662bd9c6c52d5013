"""Ids of exported rows, raised by one number a table wherever they stand. Pure.

A row names documents and chunks in columns and in the JSON of columns, as numbers and as text
(LlamaIndex's metadata). Every value under a key of ``REFERENCES`` is an id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from helix.library.transfer.tables import REFERENCES, Table

Offsets = Mapping[str, int]
"""By numbered table, or by key, the number that is added to ids."""
_NODE_COPY = "_node_content"
"""LlamaIndex's own copy of a node: JSON as text, with the metadata again."""
_SOURCE_NODE, _DOCUMENT = "1", "4"


def renumbered(row: dict[str, Any], table: Table, offsets: Offsets) -> dict[str, Any]:
    """A row of ``table`` with the offsets added to every id in it."""
    by_key = {key: offsets[other] for key, other in {**REFERENCES, **table.references}.items()}
    result: dict[str, Any] = _renumbered_value(row, by_key)
    if table.numbered:
        result["id"] = _shifted(result["id"], offsets[table.name])
    for column, other in table.keyed.items():
        if isinstance(ids := result.get(column), dict):
            result[column] = {_shifted(key, offsets[other]): ids[key] for key in ids}
    return result


def _renumbered_value(value: Any, by_key: Offsets) -> Any:
    if isinstance(value, list):
        return [_renumbered_value(each, by_key) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _renumbered_at(key, each, by_key) for key, each in value.items()}


def _renumbered_at(key: str, value: Any, by_key: Offsets) -> Any:
    if (by := by_key.get(key)) is not None:
        is_many = isinstance(value, list)
        return [_shifted(each, by) for each in value] if is_many else _shifted(value, by)
    if key == _NODE_COPY and isinstance(value, str):
        return _renumbered_node(value, by_key)
    return _renumbered_value(value, by_key)


def _renumbered_node(text: str, by_key: Offsets) -> str:
    """LlamaIndex's copy of a node; its document is one of its relationships."""
    node = _renumbered_value(json.loads(text), by_key)
    source = (node.get("relationships") or {}).get(_SOURCE_NODE)
    if isinstance(source, dict) and source.get("node_type") == _DOCUMENT:
        source["node_id"] = _shifted(source["node_id"], by_key["document_id"])
    return json.dumps(node)


def _shifted(value: Any, by: int) -> Any:
    """An id plus ``by``; a value that is no id, such as null, stays, and so does 0: every tenant's
    library is the space 0."""
    if isinstance(value, str):
        return str(int(value) + by) if value.isascii() and value.isdigit() else value
    return value + by if type(value) is int and value else value
