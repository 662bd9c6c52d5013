"""The distance of given chunks from a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pgvector import Vector

from helix.domain.scope import Scope
from helix.storage.search_scope import Vector1536

# `NaN` is above every number, so that it is the least only where there is no other.
_NEAREST = """
SELECT min(embedding <=> %(vector)b) AS distance FROM chunks
WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::bigint[])
"""


def nearest_of(
    vector: Vector1536, chunk_ids: Sequence[int], scope: Scope
) -> tuple[str, dict[str, Any]]:
    """The least ``distance`` of the chunks of the tenant of ``scope``, in one row."""
    values = {"vector": Vector(np.asarray(vector, np.float32)), "ids": list(chunk_ids)}
    return _NEAREST, {**values, "tenant": scope.tenant}
