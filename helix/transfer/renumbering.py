"""Ids of exported rows, raised by one number a table wherever they stand. Pure.

A row names documents and chunks in columns and in the JSON of columns, as numbers and as text
(LlamaIndex's metadata). Every value under a key of ``REFERENCES`` is an id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from helix.transfer.tables import REFERENCES, Table

Offsets = Mapping[str, int]
"""By numbered table, or by key, the number that is added to ids."""
_NODE_COPY = "_node_content"
"""LlamaIndex's own copy of a node: JSON as text, with the metadata again."""
_SOURCE_NODE, _DOCUMENT = "1", "4"


def renumbered(row: dict[str, Any], table: Table, offsets: Offsets) -> dict[str, Any]:
    """A row of ``table`` with the offsets added to every id in it."""
    by_key = {key: offsets[other] for key, other in {**REFERENCES, **table.references}.items()}
    moved: dict[str, Any] = _moved(row, by_key)
    if table.numbered:
        moved["id"] += offsets[table.name]
    for column, other in table.keyed.items():
        if isinstance(kept := moved.get(column), dict):
            moved[column] = {_shifted(key, offsets[other]): kept[key] for key in kept}
    return moved


def _moved(value: Any, by_key: Offsets) -> Any:
    if isinstance(value, list):
        return [_moved(each, by_key) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _moved_at(key, each, by_key) for key, each in value.items()}


def _moved_at(key: str, value: Any, by_key: Offsets) -> Any:
    if (by := by_key.get(key)) is not None:
        is_many = isinstance(value, list)
        return [_shifted(each, by) for each in value] if is_many else _shifted(value, by)
    if key == _NODE_COPY and isinstance(value, str):
        return _moved_copy(value, by_key)
    return _moved(value, by_key)


def _moved_copy(text: str, by_key: Offsets) -> str:
    """LlamaIndex's copy of a node; its document is one of its relationships."""
    node = _moved(json.loads(text), by_key)
    source = (node.get("relationships") or {}).get(_SOURCE_NODE)
    if isinstance(source, dict) and source.get("node_type") == _DOCUMENT:
        source["node_id"] = _shifted(source["node_id"], by_key["document_id"])
    return json.dumps(node)


def _shifted(value: Any, by: int) -> Any:
    """An id plus ``by``; a value that is no id, such as null, stays."""
    if isinstance(value, str):
        return str(int(value) + by) if value.isascii() and value.isdigit() else value
    return value + by if type(value) is int else value
