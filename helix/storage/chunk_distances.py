"""The distance of given chunks from a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pgvector import Vector

from helix.domain.scope import Scope
from helix.storage.search_scope import Vector1536
from helix.storage.statements import chunks as sql


def nearest_of(
    vector: Vector1536, chunk_ids: Sequence[int], scope: Scope
) -> tuple[str, dict[str, Any]]:
    """The least ``distance`` of the chunks of the tenant of ``scope``, in one row."""
    values = {"vector": Vector(np.asarray(vector, np.float32)), "ids": list(chunk_ids)}
    return sql.NEAREST, {**values, "tenant": scope.tenant}
