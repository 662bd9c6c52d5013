"""Other vendors' integrations: their extras, their widths, their errors."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.custom import CustomLLM

from helix.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError
from helix.providers import EMBEDDERS, LANGUAGE_MODELS, build_embedder, build_llm
from helix.providers.integrations import CHATS, EMBEDDINGS, PaddedEmbedding
from helix.settings import Settings, load_settings

HELLO = [ChatMessage(role=MessageRole.USER, content="hello there")]
KEY = "sk-not-a-real-key"


class LetterEmbedding(BaseEmbedding):
    """Counts letters; ``width`` wide, and wrong on demand."""

    width: int = 26
    fails: bool = False

    def _get_text_embedding(self, text: str) -> list[float]:
        if self.fails:
            raise ConnectionError(f"401 for {KEY}: {text}")
        return [float(text.count(chr(97 + place))) for place in range(self.width)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def _settings(**names: str) -> Settings:
    return load_settings(
        database_url="embedded", **{"llm": "offline", "embedder": "offline", **names}
    )


def _install(monkeypatch: pytest.MonkeyPatch, module: str, name: str, value: Any) -> None:
    fake = ModuleType(module)
    setattr(fake, name, value)
    monkeypatch.setitem(sys.modules, module, fake)


@pytest.mark.parametrize("width", [26, 1536])
async def test_narrow_vectors_are_padded_and_scaled_without_changing_a_cosine(width: int) -> None:
    inner = LetterEmbedding(width=width)
    padded = PaddedEmbedding(inner, "tiny:letters")
    texts = ["abba", "cabbage", "zebra"]
    plain = np.array([inner.get_text_embedding(text) for text in texts])
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    blocking = np.array(padded.get_text_embedding_batch(texts))
    waiting = np.array(await padded.aget_text_embedding_batch(texts))
    assert blocking.shape == (3, EMBEDDING_DIMENSIONS)
    assert np.array_equal(blocking, waiting)
    assert np.allclose(np.linalg.norm(blocking, axis=1), 1)
    assert np.allclose(blocking @ blocking.T, plain @ plain.T)
    assert padded.get_query_embedding("abba") == await padded.aget_query_embedding("abba")
    assert np.allclose(padded.get_text_embedding("abba"), blocking[0])
    assert np.allclose(await padded.aget_text_embedding("abba"), blocking[0])


async def test_wider_vectors_are_refused() -> None:
    padded = PaddedEmbedding(LetterEmbedding(width=3072), "tiny:wide")
    with pytest.raises(SettingsError, match="tiny:wide gives vectors of 3072 numbers"):
        padded.get_query_embedding("abba")
    with pytest.raises(SettingsError, match="at most 1536"):
        await padded.aget_text_embedding_batch(["abba"])


async def test_a_vector_without_direction_or_a_failing_vendor_is_an_upstream_error() -> None:
    with pytest.raises(UpstreamError, match="zeros"):
        PaddedEmbedding(LetterEmbedding(), "tiny:letters").get_text_embedding("42")
    broken = PaddedEmbedding(LetterEmbedding(fails=True), "tiny:letters")
    for embed in (broken.aget_query_embedding, broken.aget_text_embedding):
        with pytest.raises(
            UpstreamError, match=r"tiny:letters failed \(ConnectionError\)"
        ) as caught:
            await embed("abba")
        assert KEY not in str(caught.value)


@pytest.mark.parametrize("kind", ["openai", "ollama", "huggingface"])
def test_an_embedder_whose_extra_is_missing_names_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, EMBEDDINGS[kind].module, None)  # as if not installed
    with pytest.raises(SettingsError) as caught:
        build_embedder(_settings(embedder=f"{kind}:some-model"))
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)
    assert "HELIX_EMBEDDER" in str(caught.value)


@pytest.mark.parametrize("kind", ["openai", "ollama", "anthropic"])
def test_a_model_whose_extra_is_missing_names_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, CHATS[kind].module, None)
    with pytest.raises(SettingsError) as caught:
        build_llm(_settings(llm=f"{kind}:some-model"))
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)
    assert "HELIX_LLM" in str(caught.value)


def test_a_kind_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(SettingsError, match=r"HELIX_EMBEDDER names no model: .* openai:<model>"):
        build_embedder(_settings(embedder="openai"))
    with pytest.raises(SettingsError, match=r"HELIX_LLM names no model: .* anthropic:<model>"):
        build_llm(_settings(llm="anthropic"))


def test_the_tables_agree() -> None:
    ours = {kind for kind, factory in EMBEDDERS.items() if "integrations" in factory}
    assert ours == set(EMBEDDINGS)
    ours = {kind for kind, factory in LANGUAGE_MODELS.items() if "integrations" in factory}
    assert ours == set(CHATS)


@pytest.mark.parametrize(
    ("model", "gate"),
    [
        ("all-MiniLM-L6-v2", 0.537),
        ("sentence-transformers/all-MiniLM-L6-v2", 0.537),
        ("BAAI/bge-small-en-v1.5", None),
    ],
)
def test_an_installed_embedder_brings_its_identity_and_its_gate(
    monkeypatch: pytest.MonkeyPatch, model: str, gate: float | None
) -> None:
    module = EMBEDDINGS["huggingface"].module
    _install(monkeypatch, module, "HuggingFaceEmbedding", LetterEmbedding)
    embedder = build_embedder(_settings(embedder=f"huggingface:{model}"))
    assert embedder.identity == f"huggingface:{model}:1536"
    assert embedder.max_distance == gate
    assert len(embedder.model.get_query_embedding("abba")) == EMBEDDING_DIMENSIONS


def test_a_constructor_that_fails_is_one_line_without_the_vendors_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise ValueError(f"bad key {KEY}")

    _install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", refuse)
    with pytest.raises(SettingsError, match=r"cannot be set up \(ValueError\)") as caught:
        build_embedder(_settings(embedder="openai:text-embedding-3-large"))
    assert KEY not in str(caught.value)


def test_openais_third_generation_is_asked_for_1536(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def embedding(**options: Any) -> LetterEmbedding:
        asked.update(options)
        return LetterEmbedding()

    _install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", embedding)
    build_embedder(_settings(embedder="openai:text-embedding-3-large"))
    assert (asked["model_name"], asked["dimensions"]) == ("text-embedding-3-large", 1536)
    asked.clear()
    build_embedder(_settings(embedder="openai:text-embedding-ada-002"))
    assert "dimensions" not in asked


class Vendor(CustomLLM):
    """A vendor's LLM that takes a vendor's options, and fails after ``deltas`` deltas."""

    model: str
    temperature: float
    request_timeout: float
    deltas: int = 2

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self.model)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        raise ConnectionError(f"401 for {KEY}")

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        async def stream() -> AsyncGenerator[ChatResponse, None]:
            for number in range(self.deltas):
                yield ChatResponse(message=messages[0], delta=str(number))
            raise ConnectionError(f"cut for {KEY}")

        return stream()


async def test_a_vendors_failures_become_ours_and_its_class_stays_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _install(monkeypatch, CHATS["ollama"].module, "Ollama", Vendor)
    llm = build_llm(_settings(llm="ollama:llama3"))
    assert isinstance(llm.model, Vendor)
    assert llm.identity == "ollama:llama3"
    assert (llm.model.model, llm.model.temperature) == ("llama3", 0.0)
    with pytest.raises(UpstreamError, match=r"failed \(ConnectionError\)") as caught:
        await llm.model.achat(HELLO)
    assert KEY not in str(caught.value)
    received: list[str | None] = []
    with pytest.raises(UpstreamError, match=r"failed \(ConnectionError\)"):
        async for response in await llm.model.astream_chat(HELLO):
            received.append(response.delta)  # noqa: PERF401
    assert received == ["0", "1"]
