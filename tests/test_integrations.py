"""Other vendors' integrations: their extras, their widths, their errors."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest
from pydantic import Field

from helix.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError
from helix.providers import EMBEDDERS, LANGUAGE_MODELS, build_embedder, build_llm, vendor_retries
from helix.providers.integrations import CHATS, EMBEDDINGS, PaddedEmbedding
from tests.vendors import KEY, LetterEmbedding, install, settings


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
        build_embedder(settings(embedder=f"{kind}:some-model"))
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)
    assert "HELIX_EMBEDDER" in str(caught.value)


def test_a_kind_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(SettingsError, match=r"HELIX_EMBEDDER names no model: .* openai:<model>"):
        build_embedder(settings(embedder="openai"))
    with pytest.raises(SettingsError, match=r"HELIX_LLM names no model: .* anthropic:<model>"):
        build_llm(settings(llm="anthropic"))


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
    install(monkeypatch, module, "HuggingFaceEmbedding", LetterEmbedding)
    embedder = build_embedder(settings(embedder=f"huggingface:{model}"))
    assert embedder.identity == f"huggingface:{model}:1536"
    assert embedder.max_distance == gate
    assert len(embedder.model.get_query_embedding("abba")) == EMBEDDING_DIMENSIONS


def test_a_constructor_that_fails_is_one_line_without_the_vendors_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise ValueError(f"bad key {KEY}")

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", refuse)
    with pytest.raises(SettingsError, match=r"cannot be set up \(ValueError\)") as caught:
        build_embedder(settings(embedder="openai:text-embedding-3-large"))
    assert KEY not in str(caught.value)


def test_openais_third_generation_is_asked_for_1536(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def embedding(**options: Any) -> LetterEmbedding:
        asked.update(options)
        return LetterEmbedding()

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", embedding)
    build_embedder(settings(embedder="openai:text-embedding-3-large"))
    assert (asked["model_name"], asked["dimensions"]) == ("text-embedding-3-large", 1536)
    asked.clear()
    build_embedder(settings(embedder="openai:text-embedding-ada-002"))
    assert "dimensions" not in asked


class Busy(Exception):
    """As a vendor's client raises it: a status, and the response with its headers."""

    def __init__(self, status: int | None, retry_after: str | None = None, code: str = "") -> None:
        super().__init__(f"{status} for {KEY}")
        self.status_code = status
        self.code = code
        headers = {} if retry_after is None else {"Retry-After": retry_after}
        self.response = SimpleNamespace(headers=httpx.Headers(headers))


class BusyEmbedding(LetterEmbedding):
    """Fails as often as it is told to; ``requests`` counts."""

    failures: list[Any] = Field(default_factory=list)
    requests: int = 0

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        self.requests += 1
        if self.failures:
            raise self.failures.pop(0)
        return super()._get_text_embeddings(texts)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._get_text_embeddings(texts)


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_batch_of_an_ingest_is_tried_five_times_and_a_question_once(
    monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    monkeypatch.setattr(vendor_retries, "FIRST_WAIT", 0.001)
    options: dict[str, Any] = {}

    def embedding(**given: Any) -> BusyEmbedding:
        options.update(given)
        return BusyEmbedding()

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", embedding)

    async def attempts(failures: list[Any], patient: bool) -> tuple[int, bool]:
        name = settings(embedder="openai:some-model")
        model: Any = build_embedder(name, patient=patient).model
        assert (options["max_retries"] == 0) is patient
        model._inner.failures = [*failures]
        try:
            if asynchronous:
                await model.aget_text_embedding_batch(["abba"])
            else:
                model.get_text_embedding_batch(["abba"])
        except UpstreamError:
            return model._inner.requests, False
        return model._inner.requests, True

    assert await attempts([Busy(503)] * 4, patient=True) == (5, True)
    assert await attempts([Busy(429), ConnectionError("refused")], patient=True) == (3, True)
    assert await attempts([Busy(503)] * 5, patient=True) == (5, False)
    assert await attempts([Busy(401)], patient=True) == (1, False)
    assert await attempts([Busy(429, code="insufficient_quota")], patient=True) == (1, False)
    assert await attempts([TimeoutError()], patient=True) == (1, False)
    assert await attempts([Busy(503)], patient=False) == (1, False)


def test_how_long_an_ingest_waits_for_a_vendor() -> None:
    waits = [vendor_retries.wait_after(Busy(503), n, 9, chance=1.0) for n in range(1, 9)]
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
    assert vendor_retries.wait_after(Busy(429, "7"), 1, 5, chance=0.0) == 7
    assert vendor_retries.wait_after(Busy(429, "31"), 1, 5, chance=0.0) is None
