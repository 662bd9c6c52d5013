"""The judge that HELIX_JUDGE names, or the one of the model that answers."""

from __future__ import annotations

from helix.judging.base import Judge
from helix.judging.model import ModelJudge
from helix.judging.offline import OfflineJudge
from helix.providers.base import LanguageModel
from helix.settings import Settings


def build_judge(settings: Settings, llm: LanguageModel) -> Judge:
    """The judge for answers; opens no connection.

    ``llm`` is the model of HELIX_JUDGE, or where that is not set the one that answers; its owner
    closes it. The offline model only quotes: in its place answers are judged by span support.
    """
    if llm.identity.partition(":")[0] == "offline":
        return OfflineJudge()
    return ModelJudge(llm, timeout=settings.model_timeout)
