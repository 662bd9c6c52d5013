"""Gemini: LlamaIndex's GoogleGenAIEmbedding and GoogleGenAI over one hardened client.

The subclasses skip LlamaIndex's constructors, which build a client each and read the
environment otherwise than the SDK does: any value of ``GOOGLE_GENAI_USE_VERTEXAI``, ``false``
too, makes the embedding drop the key and look for Google Cloud credentials.
"""

from __future__ import annotations

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder, LanguageModel
from helix.providers.gemini.embedding import GeminiEmbedding, gemini_title
from helix.providers.gemini.errors import Target
from helix.providers.gemini.families import cost_usd, embedding_family_of, family_of
from helix.providers.gemini.http import connect
from helix.providers.gemini.llm import BRIEF, GeminiLLM
from helix.providers.gemini.models_list import best_model, listed_models
from helix.providers.retries import INTERACTIVE, PATIENT, RetryPolicy
from helix.providers.schemas import gemini_schema
from helix.settings import Settings
from helix.telemetry.usage_meter import today

MAX_DISTANCE = 0.55
"""The contract's default gate for Gemini, a cosine distance; measured for none of its embedding
models, for want of a key (docs/calibration.md)."""
AUTO = "auto"
"""The name that stands for the best current model."""


def gemini_embedder(
    settings: Settings,
    model: str = "",
    *,
    patient: bool = False,
    policy: RetryPolicy | None = None,
) -> Embedder:
    """Embed with ``model``, or ``EMBED_MODEL`` where it is empty; opens no connection.

    ``policy`` wins over the one that ``patient`` chooses.

    Raises:
        SettingsError: ``GEMINI_API_KEY`` is missing or malformed.
    """
    variable = "HELIX_EMBEDDER" if model else "EMBED_MODEL"
    policy = policy or (PATIENT if patient else INTERACTIVE)
    connection = connect(settings, Target(model or settings.embed_model, variable), policy)
    embedding = GeminiEmbedding(connection)
    return Embedder(
        model=embedding,
        identity=f"gemini:{connection.target.model}:{EMBEDDING_DIMENSIONS}",
        max_distance=MAX_DISTANCE,
        max_batch=embedding.embed_batch_size,
        raw_norm=lambda: embedding.raw_norm,
        dense_weight=ENCODER_DENSE_WEIGHT,
        lifetime=embedding_family_of(connection.target.model).lifetime(
            connection.target.model, variable
        ),
        aclose=connection.aclose,
    )


def gemini_llm(
    settings: Settings, model: str = "", *, policy: RetryPolicy = INTERACTIVE
) -> LanguageModel:
    """Chat with ``model``, or ``GEMINI_MODEL`` where it is empty.

    Reads the list of models, for a few seconds at most, where none of today is kept: ``auto``
    stands for the best of it, and a model that is not on it has gone. Opens no other connection.

    Raises:
        SettingsError: ``GEMINI_API_KEY`` is missing or malformed.
    """
    variable = "HELIX_LLM" if model else "GEMINI_MODEL"
    name, listed = model or settings.gemini_model, listed_models(settings)
    if name.lower() == AUTO:
        name = best_model(listed or (), today())
    gone = listed is not None and name.rpartition("/")[2] not in listed
    connection = connect(settings, Target(name, variable), policy)
    return LanguageModel(
        model=GeminiLLM(connection),
        identity=f"gemini:{connection.target.model}",
        hears=True,
        thinking=GeminiLLM(connection, thoughts=True),
        title=gemini_title(connection.target.model),
        title_of=gemini_title,
        brief=BRIEF,
        cost=lambda usage: cost_usd(usage, today()),
        lifetime=family_of(name).lifetime(name, variable, gone=gone),
        schema_options=gemini_schema,
        aclose=connection.aclose,
    )
