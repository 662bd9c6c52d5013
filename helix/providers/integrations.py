"""Other vendors: LlamaIndex's own integrations, each an optional extra named as its kind.

``HELIX_LLM`` and ``HELIX_EMBEDDER`` name them ``kind:model``; keys and addresses come from the
variables that each vendor's client reads by itself (``OPENAI_API_KEY``, ``OLLAMA_HOST``, …).
LlamaIndex ends a cut or blocked answer as it ends a whole one, so each vendor's row says where its
raw responses keep the finish reason; an answer without one that ends it whole is an UpstreamError.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from pydantic import PrivateAttr

from helix.contract import EMBEDDING_DIMENSIONS
from helix.errors import HelixError, SettingsError, UpstreamError
from helix.providers.base import ENCODER_DENSE_WEIGHT, Embedder, LanguageModel
from helix.providers.vectors import unit_vectors
from helix.providers.vendor_retries import ATTEMPTS as PATIENT_ATTEMPTS
from helix.providers.vendor_retries import atried, tried
from helix.settings import Settings

OUTPUT_TOKENS = 8192
"""Anthropic's API wants a limit with each request, and LlamaIndex's default of 512 cuts answers."""

MAX_DISTANCES: Mapping[str, float] = {
    "huggingface:all-MiniLM-L6-v2": 0.537,
    "huggingface:sentence-transformers/all-MiniLM-L6-v2": 0.537,
}
"""Calibrated gates (SQuAD articles, 80% coverage); other models need RETRIEVAL_MAX_DISTANCE."""


ATTEMPTS = 2
"""For OpenAI's embeddings, where client and LlamaIndex both retry, their defaults making 110."""

LENGTH_REASONS = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
"""The finish reasons, over all vendors, of an answer that met a limit."""


@dataclass(frozen=True)
class Integration:
    """Where LlamaIndex keeps a vendor's class, and what to construct it with."""

    module: str
    class_name: str
    options: Callable[[Settings, str], dict[str, Any]]


@dataclass(frozen=True)
class ChatIntegration(Integration):
    """Adds how a vendor's answers end.

    ``finish_reason`` reads it from a ``ChatResponse.raw``, a stream's or a whole answer's; None
    where that one does not say. ``whole`` are the reasons of an answer that nothing cut.
    """

    finish_reason: Callable[[Any], str | None]
    whole: frozenset[str]


def openai_finish_reason(raw: Any) -> str | None:
    """Of a chunk or an answer: its first choice's. A chunk of token counts has no choices."""
    reason: str | None = raw.choices[0].finish_reason if raw.choices else None
    return reason


def ollama_finish_reason(raw: Any) -> str | None:
    """``done_reason`` of the response that is ``done``."""
    reason: str | None = raw.get("done_reason") if raw.get("done") else None
    return reason


def anthropic_finish_reason(raw: Any) -> str | None:
    """``stop_reason`` of a message, or of a stream's ``message_delta`` event."""
    reason: str | None = raw.get("stop_reason") or getattr(raw.get("delta"), "stop_reason", None)
    return reason


def _ollama_address() -> dict[str, str]:
    """``OLLAMA_HOST`` as Ollama's own client reads it; LlamaIndex hands that client localhost."""
    return {"base_url": host} if (host := os.environ.get("OLLAMA_HOST")) else {}


def _openai_embedding(settings: Settings, model: str) -> dict[str, Any]:
    # The third generation gives any width on demand; the large one would be too wide by itself.
    shorter = {"dimensions": EMBEDDING_DIMENSIONS} if model.startswith("text-embedding-3-") else {}
    return {
        "model_name": model,
        "timeout": settings.model_timeout,
        "max_retries": ATTEMPTS,
        **shorter,
    }


def _ollama_context(settings: Settings) -> int:
    """Tokens for rules, question and answer, and for each source twice the splitter's 500.

    Left to itself LlamaIndex asks the server, in a call that blocks the event loop, and takes the
    model's whole window, whose memory few machines have. Ollama drops what exceeds the window.
    """
    return 8192 + 1024 * settings.retrieval_top_k


EMBEDDINGS: Mapping[str, Integration] = {
    "openai": Integration("llama_index.embeddings.openai", "OpenAIEmbedding", _openai_embedding),
    "ollama": Integration(
        "llama_index.embeddings.ollama",
        "OllamaEmbedding",
        lambda settings, model: {
            "model_name": model,
            "client_kwargs": {"timeout": settings.model_timeout},
            **_ollama_address(),
        },
    ),
    "huggingface": Integration(
        "llama_index.embeddings.huggingface",
        "HuggingFaceEmbedding",
        lambda settings, model: {"model_name": model},
    ),
}

CHATS: Mapping[str, ChatIntegration] = {
    "openai": ChatIntegration(
        "llama_index.llms.openai",
        "OpenAI",
        lambda settings, model: {
            "model": model,
            "temperature": 0.0,
            "timeout": settings.model_timeout,
        },
        openai_finish_reason,
        frozenset({"stop"}),
    ),
    "ollama": ChatIntegration(
        "llama_index.llms.ollama",
        "Ollama",
        lambda settings, model: {
            "model": model,
            "temperature": 0.0,
            "context_window": _ollama_context(settings),
            "request_timeout": settings.model_timeout,
            **_ollama_address(),
        },
        ollama_finish_reason,
        frozenset({"stop"}),
    ),
    "anthropic": ChatIntegration(
        "llama_index.llms.anthropic",
        "Anthropic",
        lambda settings, model: {
            "model": model,
            "temperature": 0.0,
            "max_tokens": OUTPUT_TOKENS,
            "timeout": settings.model_timeout,
        },
        anthropic_finish_reason,
        frozenset({"end_turn", "stop_sequence"}),
    ),
}


def integration_embedder(settings: Settings, model: str, *, patient: bool = False) -> Embedder:
    """The embedder that ``HELIX_EMBEDDER`` names, its vectors padded to 1536.

    ``patient`` tries a batch of texts again as helix.providers.vendor_retries says.

    Raises:
        SettingsError: no model after the colon, the extra is not installed, or the vendor's
            class refuses the model or its own environment.
    """
    name = settings.embedder
    kind = _kind("HELIX_EMBEDDER", name, model)
    cls = _load("HELIX_EMBEDDER", kind, EMBEDDINGS[kind])
    options = EMBEDDINGS[kind].options(settings, model)
    if patient and "max_retries" in options:
        options["max_retries"] = 0  # or the vendor's attempts and ours would multiply
    inner = _construct("HELIX_EMBEDDER", name, cls, options)
    padded = PaddedEmbedding(inner, name, PATIENT_ATTEMPTS if patient else 1)
    return Embedder(
        model=padded,
        identity=f"{name}:{EMBEDDING_DIMENSIONS}",
        max_distance=MAX_DISTANCES.get(name),
        max_batch=padded.embed_batch_size,
        dense_weight=ENCODER_DENSE_WEIGHT,
    )


def integration_llm(settings: Settings, model: str) -> LanguageModel:
    """The language model that ``HELIX_LLM`` names; raises as integration_embedder does."""
    name = settings.llm
    kind = _kind("HELIX_LLM", name, model)
    vendor = _load("HELIX_LLM", kind, CHATS[kind])
    cls = type(vendor)(vendor.__name__, (_HeldToItsEnd, vendor), {"__module__": __name__})

    def known(**options: Any) -> Any:
        chat = cls(**options)
        _ = chat.metadata  # each chat asks for it, and it raises for a model that nobody knows
        return chat

    chat = _construct("HELIX_LLM", name, known, CHATS[kind].options(settings, model))
    chat._name, chat._integration = name, CHATS[kind]
    return LanguageModel(model=chat, identity=name)


def _kind(variable: str, name: str, model: str) -> str:
    kind = name.partition(":")[0]
    if not model:
        raise SettingsError(f"{variable} names no model: set it to {kind}:<model>")
    return kind


def _load(variable: str, kind: str, integration: Integration) -> Any:
    try:
        return getattr(import_module(integration.module), integration.class_name)
    except ImportError:
        raise SettingsError(
            f"{variable} is {kind}, which is not installed: pip install 'helix-answers[{kind}]'"
        ) from None


def _construct(variable: str, name: str, cls: Any, options: dict[str, Any]) -> Any:
    """An instance, or one line that leaves the vendor's text out, for it may hold a key."""
    try:
        return cls(**options)
    except Exception as error:  # noqa: BLE001
        kind = type(error).__name__
        raise SettingsError(
            f"{variable}={name} cannot be set up ({kind}):"
            " check the model's name and the vendor's own variables, such as its API key"
        ) from None


@contextmanager
def _in_our_words(name: str) -> Iterator[None]:
    """Turn what a vendor's client raises into UpstreamError: vendors' errors share no root."""
    try:
        yield
    except HelixError:
        raise
    except Exception as error:  # noqa: BLE001
        # From None: a log that prints causes would print the key or the prompt they may hold.
        kind = type(error).__name__
        remedy = "check that it runs, its key and the model's name"
        raise UpstreamError(f"{name} failed ({kind}): {remedy}") from None


class PaddedEmbedding(BaseEmbedding):
    """Another embedding whose vectors come out 1536 wide, with zeros at the end, and of length 1.

    Padding and scaling change no cosine. Raises SettingsError where the vectors are wider, and
    UpstreamError where the other embedding fails ``attempts`` times (questions: once) or gives no
    usable vector.
    """

    _inner: BaseEmbedding
    _attempts: int

    def __init__(self, inner: BaseEmbedding, name: str, attempts: int = 1) -> None:
        super().__init__(model_name=name, embed_batch_size=inner.embed_batch_size)
        self._inner = inner
        self._attempts = attempts

    @classmethod
    def class_name(cls) -> str:
        return "PaddedEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        with _in_our_words(self.model_name):
            row = self._inner.get_query_embedding(query)
        return unit_vectors([row], 1, self.model_name)[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        with _in_our_words(self.model_name):
            row = await self._inner.aget_query_embedding(query)
        return unit_vectors([row], 1, self.model_name)[0]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with _in_our_words(self.model_name):
            rows = tried(lambda: self._inner.get_text_embedding_batch(texts), self._attempts)
        return unit_vectors(rows, len(texts), self.model_name)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return (await self._aget_text_embeddings([text]))[0]

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with _in_our_words(self.model_name):
            rows = await atried(
                lambda: self._inner.aget_text_embedding_batch(texts), self._attempts
            )
        return unit_vectors(rows, len(texts), self.model_name)


class _HeldToItsEnd(BaseLLM):
    """Put before a vendor's class: the chats that Helix calls fail as ours, and end whole or fail.

    Nothing here implements an abstract method: ``super()`` is the vendor's class.
    """

    _name: str = PrivateAttr()
    _integration: ChatIntegration = PrivateAttr()

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        end = _End(self._name, self._integration)
        with _in_our_words(self._name):
            response = super().chat(messages, **kwargs)  # type: ignore[safe-super]
            end.take(response, response.message.content)
        end.check()
        return response

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        end = _End(self._name, self._integration)
        with _in_our_words(self._name):
            response = await super().achat(messages, **kwargs)  # type: ignore[safe-super]
            end.take(response, response.message.content)
        end.check()
        return response

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        with _in_our_words(self._name):
            stream = await super().astream_chat(messages, **kwargs)  # type: ignore[safe-super]
        return _held(stream, _End(self._name, self._integration))


async def _held(
    stream: AsyncGenerator[ChatResponse, None], end: _End
) -> AsyncGenerator[ChatResponse, None]:
    try:
        with _in_our_words(end.name):
            async for response in stream:
                end.take(response, response.delta)
                yield response
    finally:
        await stream.aclose()
    end.check()


class _End:
    """What an answer's responses said of its end, for one that may come in many."""

    def __init__(self, name: str, integration: ChatIntegration) -> None:
        self.name = name
        self._integration = integration
        self._reason: str | None = None
        self._spoke = False

    def take(self, response: ChatResponse, text: str | None) -> None:
        # The last one that says: a chunk of token counts may follow it.
        self._reason = self._integration.finish_reason(response.raw) or self._reason
        self._spoke = self._spoke or bool(text)

    def check(self) -> None:
        """Raise UpstreamError unless there was text, and a reason that means that it is all."""
        reason = self._reason
        if not reason:
            raise UpstreamError(f"{self.name} ended its answer before it was finished: try again")
        if reason in LENGTH_REASONS:
            problem = f"{self.name}'s answer was cut at its length limit ({reason})"
            raise UpstreamError(f"{problem}: ask for less at once", transient=False)
        if reason not in self._integration.whole:
            problem = f"{self.name} broke off its answer ({reason})"
            raise UpstreamError(f"{problem}: ask in other words", transient=False)
        if not self._spoke:
            raise UpstreamError(f"{self.name} finished without an answer: try again")
