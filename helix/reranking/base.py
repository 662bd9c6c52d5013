"""What a reranker gives: how well each text answers a question, as one number a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A model that reads a question and a text together.

    ``identity`` names it, ``kind:model``; scores of two identities cannot be compared.
    ``min_score`` is the score below which no text is relevant, in the scale of ``scores``; None
    where nobody has calibrated one. Call it through helix.reranking.ordering, which survives its
    failures.
    """

    @property
    def identity(self) -> str: ...

    @property
    def min_score(self) -> float | None: ...

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, in the order of ``texts``, higher is better; those here give 0 to 1.

        Nothing but the question and the texts leaves the process.

        Raises:
            UpstreamError: the model failed, or gave another number of scores.
        """
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads; does not wait for a call under way."""
        ...
