"""The offline provider: no key, no network, the same answer each time.

Vectors by WordLlama's token table, answers by quoting what a learned model says answers.
"""

from __future__ import annotations

from helix.errors import SettingsError
from helix.evidence.vectors import IDENTITY
from helix.providers.base import Embedder, LanguageModel
from helix.providers.offline.answerer import IDENTITY as ANSWERER_IDENTITY
from helix.providers.offline.answerer import OfflineLLM
from helix.providers.offline.embedding import MAX_BATCH, OfflineEmbedding
from helix.settings import Settings

MAX_DISTANCE = 0.78
"""The gate's default ceiling, a cosine distance: wide, for the answerer abstains by itself
(evals/CALIBRATION.md, decision record 0080)."""
TITLE = "No model: quotes only"
"""The answerer's ``LanguageModel.title``."""


def offline_embedder(settings: Settings, model: str, *, patient: bool = False) -> Embedder:
    """WordLlama's 256 numbers a text, padded with zeros to 1536; neither option means it anything.

    Raises:
        SettingsError: a model was named; there is one only.
    """
    _refuse_model("HELIX_EMBEDDER", model)
    return Embedder(
        model=OfflineEmbedding(model_name=IDENTITY, embed_batch_size=MAX_BATCH),
        identity=IDENTITY,
        max_distance=MAX_DISTANCE,
        max_batch=MAX_BATCH,
        local=True,
    )


def offline_llm(settings: Settings, model: str) -> LanguageModel:
    """The extractive answerer; raises as offline_embedder does."""
    _refuse_model("HELIX_LLM", model)
    return LanguageModel(
        model=OfflineLLM(risk=settings.offline_risk),
        identity=ANSWERER_IDENTITY,
        sees=False,
        reads_beside=True,
        title=TITLE,
    )


def _refuse_model(variable: str, model: str) -> None:
    if model:
        raise SettingsError(f"{variable}=offline takes no model name: set it to offline alone")
