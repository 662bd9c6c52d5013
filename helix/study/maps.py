"""The arrangement of maps: the positions that a person gave to nodes, and the folded nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from helix.errors import BadRequest
from helix.library.access import Connected
from helix.study.item_storage import change_body, items_of, read_set
from helix.study.sets import no_set

_FARTHEST = 100_000.0


def arrange(
    connection: Connected,
    tenant: str,
    set_id: int,
    positions: Mapping[str, Sequence[float]] | None,
    folded: Mapping[str, bool],
) -> None:
    """Keep positions and folds by the nodes' ids; ``positions`` None forgets all positions.

    Raises:
        NotFound: there is no such map.
        BadRequest: an id is not one of its nodes, or a position is not two numbers in range.
    """
    study_map = read_set(connection, tenant, set_id)
    if study_map is None or study_map["kind"] != "map":
        raise no_set(set_id)
    nodes = {str(item["id"]): item["id"] for item in items_of(connection, tenant, set_id)}
    changes: dict[str, dict[str, Any]] = {}
    if positions is None:
        changes = {name: {"at": None} for name in nodes}
    for name, at in (positions or {}).items():
        if len(at) != 2 or not all(math.isfinite(c) and abs(c) <= _FARTHEST for c in at):
            raise BadRequest(f"the position of node {name[:20]} is not [x, y], each up to 100000")
        changes.setdefault(name, {})["at"] = list(at)
    for name, is_folded in folded.items():
        changes.setdefault(name, {})["folded"] = is_folded
    if strange := changes.keys() - nodes.keys():
        raise BadRequest(f"the map has no node {min(strange)[:20]}")
    for name, change in changes.items():
        change_body(connection, tenant, nodes[name], change)
