"""Judging: whether an answer rests on its sources, by span support or by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from helix.answering.judging.model import JudgeFailed, ModelJudge
from helix.answering.judging.offline import OfflineJudge
from helix.domain.context import Source
from helix.domain.contract import Verdict
from helix.providers.base import LanguageModel
from helix.settings import Settings

__all__ = ["Judge", "JudgeFailed", "ModelJudge", "OfflineJudge", "build_judge"]


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


def build_judge(settings: Settings, llm: LanguageModel) -> Judge:
    """The judge for answers; opens no connection.

    ``llm`` is the model of HELIX_JUDGE, or where that is not set the one that answers; its owner
    closes it. The offline model only quotes: in its place answers are judged by span support.
    """
    if llm.identity.partition(":")[0] == "offline":
        return OfflineJudge()
    return ModelJudge(llm, timeout=settings.model_timeout)
