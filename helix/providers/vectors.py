"""Checks of every embedder's vectors: counted, padded to 1536, finite, L2-normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError


def unit_vectors(rows: Sequence[Sequence[float]], count: int, source: str) -> list[list[float]]:
    """Give ``count`` rows of at most 1536 numbers as rows of 1536 with an L2 norm of 1.

    Padding with zeros changes no cosine. ``source`` names the embedder in messages.

    Raises:
        UpstreamError: another count than was asked for, rows of unequal width, or a row that
            has no direction (all zeros, or a number that is not finite).
        SettingsError: rows wider than 1536, which no column of ours can hold.
    """
    if len(rows) != count:
        raise UpstreamError(f"{source} gave {len(rows)} vectors for {count} texts: try again")
    if not rows:
        return []
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise UpstreamError(f"{source} gave vectors of unequal width: try again")
    width = widths.pop()
    if width > EMBEDDING_DIMENSIONS:
        raise SettingsError(
            f"{source} gives vectors of {width} numbers:"
            f" choose an embedding model of at most {EMBEDDING_DIMENSIONS}"
        )
    matrix = np.zeros((count, EMBEDDING_DIMENSIONS))
    matrix[:, :width] = rows
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise UpstreamError(f"{source} gave a vector of zeros or of no finite length: try again")
    unit: list[list[float]] = (matrix / norms).tolist()
    return unit
