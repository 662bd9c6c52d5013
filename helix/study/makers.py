"""The maker that goes with the model that answers."""

from __future__ import annotations

from helix.providers.base import LanguageModel
from helix.settings import Settings
from helix.study.maker import Maker, OfflineMaker
from helix.study.model_maker import ModelMaker


def build_maker(settings: Settings, llm: LanguageModel) -> Maker:
    """The maker of items for ``llm``, which its owner closes; by rule where it only quotes."""
    if llm.identity.partition(":")[0] == "offline":
        return OfflineMaker()
    return ModelMaker(llm, timeout=settings.model_timeout)
