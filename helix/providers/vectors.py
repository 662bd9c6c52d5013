"""Checks of every embedder's vectors: counted, of one width, padded, finite, L2-normalised."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import EmbedderMismatch, SettingsError, UpstreamError


class RawWidth:
    """The numbers of a model's own vectors, before zeros are added; None until one is known.

    A server may have another model under the same name. Its vectors differ in width mostly, and
    padded they would be searched among the others without a word.

    ``named`` says that the width is part of the vector space's name. It is not where the space was
    named before widths were: vectors that are paid for are found by that name.
    """

    numbers: int | None = None
    named: bool = True

    def adopt(self, numbers: int, *, named: bool) -> None:
        """Take the width of vectors that are stored, unless another is known already."""
        if self.numbers in (None, numbers):
            self.numbers, self.named = numbers, named

    def hold(self, numbers: int, source: str) -> None:
        """Take the width of vectors that ``source`` gave.

        Raises:
            EmbedderMismatch: those before were of another.
        """
        if self.numbers not in (None, numbers):
            raise EmbedderMismatch(
                f"{source} gives vectors of {numbers} numbers, and gave {self.numbers} before:"
                " it is another model under the same name. Serve the one of before, or run"
                f" `helix reembed --to {source}`"
            )
        self.numbers = numbers


def unit_vectors(
    rows: Sequence[Sequence[float]], count: int, source: str, held: RawWidth | None = None
) -> list[list[float]]:
    """Give ``count`` rows of at most 1536 numbers as rows of 1536 with an L2 norm of 1.

    Padding with zeros changes no cosine. ``source`` names the embedder in messages, ``held`` is the
    width that its vectors have.

    Raises:
        UpstreamError: another count than was asked for, rows of unequal width, or a row that
            has no direction (all zeros, or a number that is not finite).
        SettingsError: rows wider than 1536, which no column of ours can hold.
        EmbedderMismatch: rows of another width than ``held``.
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
    if held is not None:
        held.hold(width, source)
    matrix = np.zeros((count, EMBEDDING_DIMENSIONS))
    matrix[:, :width] = rows
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise UpstreamError(f"{source} gave a vector of zeros or of no finite length: try again")
    unit: list[list[float]] = (matrix / norms).tolist()
    return unit
