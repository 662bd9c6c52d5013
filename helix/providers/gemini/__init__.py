"""Gemini: LlamaIndex's GoogleGenAIEmbedding and GoogleGenAI over one hardened client.

The subclasses skip LlamaIndex's constructors, which build a client each and read the
environment otherwise than the SDK does: any value of ``GOOGLE_GENAI_USE_VERTEXAI``, ``false``
too, makes the embedding drop the key and look for Google Cloud credentials.
"""

from __future__ import annotations

from helix.contract import EMBEDDING_DIMENSIONS
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder, LanguageModel
from helix.providers.gemini.embedding import GeminiEmbedding
from helix.providers.gemini.errors import Target
from helix.providers.gemini.http import connect
from helix.providers.gemini.llm import GeminiLLM
from helix.providers.retries import INTERACTIVE, PATIENT, RetryPolicy
from helix.settings import Settings

MAX_DISTANCE = 0.55
"""The contract's default gate for Gemini, a cosine distance."""


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
        aclose=connection.aclose,
    )


def gemini_llm(
    settings: Settings, model: str = "", *, policy: RetryPolicy = INTERACTIVE
) -> LanguageModel:
    """Chat with ``model``, or ``GEMINI_MODEL`` where it is empty; opens no connection.

    Raises:
        SettingsError: ``GEMINI_API_KEY`` is missing or malformed.
    """
    variable = "HELIX_LLM" if model else "GEMINI_MODEL"
    connection = connect(settings, Target(model or settings.gemini_model, variable), policy)
    return LanguageModel(
        model=GeminiLLM(connection),
        identity=f"gemini:{connection.target.model}",
        hears=True,
        thinking=GeminiLLM(connection, thoughts=True),
        aclose=connection.aclose,
    )
