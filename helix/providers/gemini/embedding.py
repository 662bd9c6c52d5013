"""Gemini's embeddings: 1536 numbers a text, L2-normalised, at most 100 texts a request."""

from __future__ import annotations

import math
from typing import Any

from google.genai.types import EmbedContentResponse
from llama_index.core.utils import iter_batch
from llama_index.embeddings.google_genai import GoogleGenAIEmbedding

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import UpstreamError
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder
from helix.providers.gemini.errors import Target
from helix.providers.gemini.families import EmbeddingFamily, embedding_family_of
from helix.providers.gemini.http import GeminiConnection, connect, upstream_errors
from helix.providers.retries import INTERACTIVE, PATIENT, RetryPolicy
from helix.providers.vectors import unit_vectors
from helix.settings import Settings

MAX_BATCH = 100
"""Most texts the API takes in one batchEmbedContents request; more is a 400."""

MAX_DISTANCE = 0.55
"""The contract's default gate for Gemini, a cosine distance; measured for none of its embedding
models, for want of a key (docs/calibration.md)."""

_QUERY = "RETRIEVAL_QUERY"


class GeminiEmbedding(GoogleGenAIEmbedding):
    """Embeds texts and questions by their task: RETRIEVAL_DOCUMENT or RETRIEVAL_QUERY.

    ``gemini-embedding-001`` is told it in a field, later models in the text (families.py).

    Vectors are 1536 wide and L2-normalised here: below 3,072 dimensions Gemini's are not.
    Every method raises UpstreamError when Gemini fails.
    """

    _target: Target
    _family: EmbeddingFamily
    _raw_norm: float | None = None

    def __init__(self, connection: GeminiConnection) -> None:
        super(GoogleGenAIEmbedding, self).__init__(
            model_name=connection.target.model, embed_batch_size=MAX_BATCH, retries=1
        )
        self._client = connection.sdk
        self._family = embedding_family_of(connection.target.model)
        self._target = connection.target

    @property
    def raw_norm(self) -> float | None:
        """L2 norm of the last vector as Gemini sent it; None before the first."""
        return self._raw_norm

    def _embed_texts(self, texts: list[str], task_type: str | None = None) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in iter_batch(texts, MAX_BATCH):
            with upstream_errors(self._target):
                response = self._client.models.embed_content(**self._request(batch, task_type))
            vectors += self._unit_vectors(response, len(batch))
        return vectors

    async def _aembed_texts(
        self, texts: list[str], task_type: str | None = None
    ) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in iter_batch(texts, MAX_BATCH):
            request = self._request(batch, task_type)
            with upstream_errors(self._target):
                response = await self._client.aio.models.embed_content(**request)
            vectors += self._unit_vectors(response, len(batch))
        return vectors

    def _request(self, texts: list[str], task_type: str | None) -> dict[str, Any]:
        # One content a text: gemini-embedding-2 fuses a plain list of strings into one vector.
        config: dict[str, Any] = {"output_dimensionality": EMBEDDING_DIMENSIONS}
        if self._family.takes_task_type:
            config["task_type"] = task_type
        else:
            frame = self._family.query if task_type == _QUERY else self._family.passage
            texts = [frame.replace("{}", text) for text in texts]
        return {
            "model": self.model_name,
            "contents": [[text] for text in texts],
            "config": config,
        }

    def _unit_vectors(self, response: EmbedContentResponse, count: int) -> list[list[float]]:
        rows = [embedding.values or [] for embedding in response.embeddings or ()]
        for row in rows:
            if len(row) != EMBEDDING_DIMENSIONS:
                raise UpstreamError(
                    f"Gemini gave a vector of {len(row)} numbers, not {EMBEDDING_DIMENSIONS}:"
                    f" set {self._target.variable} to a model that can give that many",
                    transient=False,
                )
        unit = unit_vectors(rows, count, "Gemini")
        self._raw_norm = math.hypot(*rows[-1])
        return unit


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
