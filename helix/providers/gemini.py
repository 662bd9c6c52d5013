"""Gemini: LlamaIndex's GoogleGenAIEmbedding and GoogleGenAI over one hardened client.

The subclasses skip LlamaIndex's constructors, which build a client each and read the
environment otherwise than the SDK does: any value of ``GOOGLE_GENAI_USE_VERTEXAI``, ``false``
too, makes the embedding drop the key and look for Google Cloud credentials.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from typing import Any

import anyio
import httpx
from google.genai.types import Content, EmbedContentResponse, GenerateContentConfig
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.embeddings.google_genai import GoogleGenAIEmbedding
from llama_index.llms.google_genai import GoogleGenAI
from llama_index.llms.google_genai.utils import prepare_chat_params

from helix.contract import EMBEDDING_DIMENSIONS
from helix.errors import UpstreamError
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder, LanguageModel
from helix.providers.gemini_answer import Answer, whole_answer
from helix.providers.gemini_faults import DEFAULT_POLICY, RetryPolicy, Target, in_our_words
from helix.providers.gemini_http import GeminiConnection, connect, noting_responses
from helix.providers.vectors import unit_vectors
from helix.settings import Settings

MAX_DISTANCE = 0.55
"""The contract's default gate for Gemini, a cosine distance."""

MAX_BATCH = 100
"""Most texts the API takes in one batchEmbedContents request; more is a 400."""

CONTEXT_TOKENS = 1_048_576
"""Input limit of Gemini 2.0 and later Flash and Pro models."""

OUTPUT_TOKENS = 8192
"""What LlamaIndex reserves for an answer. Not sent: thinking counts towards the limit on the
wire, so the model's own ceiling holds there."""

PATIENT_POLICY = RetryPolicy(
    attempts=5, first_wait=1.0, longest_wait=30.0, budget=180.0, through_silence=True
)
"""For ingestion: four waits of the 30 seconds that Google may ask for fit in, jitter included."""

CLOSE_SECONDS = 1.0
"""Longest wait for an upstream connection to close once nobody reads its stream any more."""


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
    policy = policy or (PATIENT_POLICY if patient else DEFAULT_POLICY)
    connection = connect(settings, Target(model or settings.embed_model, variable), policy)
    embedding = GeminiEmbedding(connection)
    return Embedder(
        model=embedding,
        identity=f"gemini:{connection.target.model}:{EMBEDDING_DIMENSIONS}",
        max_distance=MAX_DISTANCE,
        max_batch=MAX_BATCH,
        raw_norm=lambda: embedding.raw_norm,
        dense_weight=ENCODER_DENSE_WEIGHT,
        aclose=connection.aclose,
    )


def gemini_llm(
    settings: Settings, model: str = "", *, policy: RetryPolicy = DEFAULT_POLICY
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
        aclose=connection.aclose,
    )


class GeminiEmbedding(GoogleGenAIEmbedding):
    """Embeds texts as RETRIEVAL_DOCUMENT and questions as RETRIEVAL_QUERY.

    Vectors are 1536 wide and L2-normalised here: below 3,072 dimensions Gemini's are not.
    Every method raises UpstreamError when Gemini fails.
    """

    _target: Target
    _raw_norm: float | None = None

    def __init__(self, connection: GeminiConnection) -> None:
        super(GoogleGenAIEmbedding, self).__init__(
            model_name=connection.target.model, embed_batch_size=MAX_BATCH, retries=1
        )
        self._client = connection.sdk
        self._target = connection.target

    @property
    def raw_norm(self) -> float | None:
        """L2 norm of the last vector as Gemini sent it; None before the first."""
        return self._raw_norm

    def _embed_texts(self, texts: list[str], task_type: str | None = None) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in _batches(texts):
            with in_our_words(self._target):
                response = self._client.models.embed_content(**self._request(batch, task_type))
            vectors += self._checked(response, len(batch))
        return vectors

    async def _aembed_texts(
        self, texts: list[str], task_type: str | None = None
    ) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in _batches(texts):
            with in_our_words(self._target):
                response = await self._client.aio.models.embed_content(
                    **self._request(batch, task_type)
                )
            vectors += self._checked(response, len(batch))
        return vectors

    def _request(self, texts: list[str], task_type: str | None) -> dict[str, Any]:
        # One content a text: gemini-embedding-2 fuses a plain list of strings into one vector.
        return {
            "model": self.model_name,
            "contents": [[text] for text in texts],
            "config": {"task_type": task_type, "output_dimensionality": EMBEDDING_DIMENSIONS},
        }

    def _checked(self, response: EmbedContentResponse, count: int) -> list[list[float]]:
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


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), MAX_BATCH):
        yield texts[start : start + MAX_BATCH]


class GeminiLLM(GoogleGenAI):
    """Chats at temperature 0; every answer, streamed or whole, ends in STOP or raises.

    Raises UpstreamError for a failed request, a refused prompt (before the first delta), and
    an answer that was blocked, cut at its length limit, broken off or left without an end (after
    the deltas that did arrive). Each ChatResponse of a stream carries a new ``delta`` and the
    same message object, whose text grows.
    """

    _target: Target

    def __init__(self, connection: GeminiConnection) -> None:
        super(GoogleGenAI, self).__init__(
            model=connection.target.model,
            temperature=0.0,
            context_window=CONTEXT_TOKENS,
            max_retries=0,
            file_mode="inline",
        )
        self._client = connection.sdk
        self._target = connection.target
        self._max_tokens = OUTPUT_TOKENS
        self._generation_config = {
            "temperature": 0.0,
            # The SDK would call functions and resume cut answers by requests of its own.
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
        }

    async def _request(
        self, messages: Sequence[ChatMessage], options: dict[str, Any]
    ) -> dict[str, Any]:
        """LlamaIndex's messages and options as arguments of the SDK's generate_content."""
        config = {**self._generation_config, **options.pop("generation_config", {})}
        last, chat, _ = await prepare_chat_params(
            self.model,
            _system_first(messages),
            self.file_mode,
            self._client,
            generation_config=config,
            **options,
        )
        contents: list[Content] = [*chat["history"], last]
        prepared: GenerateContentConfig = chat["config"]
        return {"model": self.model, "contents": contents, "config": prepared}

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        request = asyncio_run(self._request(messages, kwargs))
        with in_our_words(self._target):
            response = self._client.models.generate_content(**request)
        return whole_answer(response)

    async def _achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        request = await self._request(messages, kwargs)
        with in_our_words(self._target):
            response = await self._client.aio.models.generate_content(**request)
        return whole_answer(response)

    def _stream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> Generator[ChatResponse, None, None]:
        if kwargs.get("tools"):  # calls of tools come as parts that LlamaIndex's own stream reads
            stock: Generator[ChatResponse, None, None] = super()._stream_chat(messages, **kwargs)
            return stock
        return self._deltas(asyncio_run(self._request(messages, kwargs)))

    async def _astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        if kwargs.get("tools"):
            stock: AsyncGenerator[ChatResponse, None] = await super()._astream_chat(
                messages, **kwargs
            )
            return stock
        return self._adeltas(await self._request(messages, kwargs))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        """LlamaIndex's astream_chat, callbacks and all, whose ``aclose`` closes the upstream too.

        The stock one leaves its inner generator, and the socket, to the garbage collector.
        """
        inner = await self._astream_chat(messages, **kwargs)

        @llm_chat_callback()
        async def reported(_: GeminiLLM, __: Sequence[ChatMessage], **___: Any) -> Any:
            return inner

        return _closing(await reported(self, messages, **kwargs), inner)

    def _deltas(self, request: dict[str, Any]) -> Generator[ChatResponse, None, None]:
        answer, responses = Answer(), list[httpx.Response]()
        try:
            chunks = self._client.models.generate_content_stream(**request)
            while True:
                with noting_responses(responses), in_our_words(self._target):
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                if response := answer.take(chunk):
                    yield response
                answer.check_going()
            answer.check_finished()
        finally:
            for upstream in responses:
                upstream.close()

    async def _adeltas(self, request: dict[str, Any]) -> AsyncGenerator[ChatResponse, None]:
        answer, responses = Answer(), list[httpx.Response]()
        try:
            with in_our_words(self._target):
                chunks = await self._client.aio.models.generate_content_stream(**request)
            while True:
                with noting_responses(responses), in_our_words(self._target):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                if response := answer.take(chunk):
                    yield response
                answer.check_going()
            answer.check_finished()
        finally:
            # Shielded: a client that leaves cancels us, and closing is what it should bring about.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                for upstream in responses:
                    await upstream.aclose()


async def _closing(
    outer: AsyncGenerator[ChatResponse, None], inner: AsyncGenerator[ChatResponse, None]
) -> AsyncGenerator[ChatResponse, None]:
    """Yield what ``outer`` does, and close the generator it reads as soon as it is closed."""
    try:
        async for response in outer:
            yield response
    finally:
        await outer.aclose()
        await inner.aclose()


def _system_first(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """All system messages as one at the front, which LlamaIndex sends as systemInstruction.

    It sends any other one as a user's, and merges neighbours into the caller's own lists: so
    the rest are copies.
    """
    rest = [m for m in messages if m.role != MessageRole.SYSTEM]
    system = "\n\n".join(m.content or "" for m in messages if m.role == MessageRole.SYSTEM)
    copies = [m.model_copy(update={"blocks": list(m.blocks)}) for m in rest]
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), *copies] if system else copies
