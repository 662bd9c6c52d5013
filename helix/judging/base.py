"""What a judge is to those who ask it: question, answer and sources in, a verdict out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from helix.context import Source
from helix.contract import Verdict
from helix.errors import UpstreamError


class JudgeFailed(UpstreamError):
    """The model that judges gave no verdict that could be read, or none in time."""


class Judge(Protocol):
    """Judges one whole answer. ``identity`` names it as models are named: ``gemini:…``."""

    @property
    def identity(self) -> str: ...

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Verdict:
        """The verdict on ``answer``, whose markers number ``sources`` from 1.

        Raises:
            UpstreamError: the model's service failed, or (JudgeFailed) gave no usable verdict.
        """
        ...
