"""Boosted trees of one depth, read by numpy: a log-odds for each row of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from helix.evidence.words import Floats


@dataclass(frozen=True)
class Trees:
    """Whole binary trees, the root first, then level by level.

    ``columns`` and ``cuts``, shape (trees, 2**depth - 1): a row whose column is above the cut goes
    right. ``leaves``, shape (trees, 2**depth), are added up over the trees to ``base``.
    """

    columns: NDArray[np.uint8]
    cuts: Floats
    leaves: Floats
    base: float

    def log_odds(self, rows: Floats) -> Floats:
        """The log-odds of each row of features: shape (rows,)."""
        trees, inner = self.columns.shape
        every = np.arange(trees)
        at = np.zeros((len(rows), trees), dtype=np.intp)
        number = np.arange(len(rows))[:, None]
        for _ in range(int(inner + 1).bit_length() - 1):
            values = rows[number, self.columns[every, at]]
            at = 2 * at + 1 + (values > self.cuts[every, at])
        return np.asarray(self.leaves[every, at - inner].sum(axis=1) + self.base, dtype=np.float32)
