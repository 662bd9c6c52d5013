"""Other vendors' embedders held to our rules: widths of vectors, errors, retries."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import httpx
import numpy as np
import pytest
from pydantic import Field

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError
from helix.providers import factories
from helix.providers.base import Embedder
from helix.providers.bounded_embedding import MOST_THREADS, BoundedEmbedding
from helix.providers.factories import build_embedder
from helix.providers.retries import INTERACTIVE, PATIENT
from helix.providers.vendor_models import ONE_ATTEMPT, PaddedEmbedding
from tests.support.vendor_packages import (
    EMBEDDINGS,
    KEY,
    LetterEmbedding,
    install,
    settings,
)


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


async def test_a_plugins_embedder_is_held_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def letters(*_: object, patient: bool) -> Embedder:
        return Embedder(LetterEmbedding(fails=patient), "letters:26", max_distance=None)

    monkeypatch.setattr(factories, "plugins", lambda _: {"letters": SimpleNamespace(call=letters)})
    monkeypatch.setattr(factories, "PATIENT", ONE_ATTEMPT)  # which would wait for 11 seconds
    chosen = settings(embedder="letters")
    vectors = np.array(await build_embedder(chosen).model.aget_text_embedding_batch(["ab", "c"]))
    assert vectors.shape == (2, EMBEDDING_DIMENSIONS)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    with pytest.raises(UpstreamError, match="zeros"):
        await build_embedder(chosen).model.aget_query_embedding("42")
    with pytest.raises(UpstreamError, match=r"letters failed \(ConnectionError\)"):
        await build_embedder(chosen, patient=True).model.aget_query_embedding("ab")


class Hanging(LetterEmbedding):
    """Never gives a vector, and gives way to others meanwhile."""

    async def _aget_query_embedding(self, query: str) -> list[float]:
        await asyncio.sleep(600)
        return []

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(600)
        return []


class Blocking(LetterEmbedding):
    """Never gives a vector, and holds whoever calls it; LlamaIndex's own way beside it is that."""

    released: ClassVar[threading.Event] = threading.Event()

    def _get_text_embedding(self, text: str) -> list[float]:
        self.released.wait(600)
        return []


@pytest.mark.parametrize("inner", [Hanging, Blocking])
async def test_a_plugins_embedder_that_hangs_ends_in_time(
    inner: type[LetterEmbedding], monkeypatch: pytest.MonkeyPatch
) -> None:
    def hanging(*_: object, patient: bool) -> Embedder:
        return Embedder(inner(), "hanging:26", max_distance=None)

    monkeypatch.setattr(factories, "plugins", lambda _: {"hanging": SimpleNamespace(call=hanging)})
    chosen = settings(embedder="hanging").model_copy(update={"model_timeout": 0.1})
    for patient in (False, True):
        model = build_embedder(chosen, patient=patient).model
        for asked in (model.aget_query_embedding("a"), model.aget_text_embedding_batch(["a"])):
            with pytest.raises(UpstreamError, match="hanging was silent for too long"):
                await asked
    if inner is Blocking:
        with pytest.raises(UpstreamError, match="silent for too long"):
            build_embedder(chosen).model.get_text_embedding("a")
        Blocking.released.set()


async def test_calls_of_a_plugin_that_hang_take_a_bounded_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Blocking, "released", threading.Event())
    model = BoundedEmbedding(Blocking(), 0.2)
    before = threading.active_count()
    asked = [model.aget_text_embedding("a") for _ in range(3 * MOST_THREADS)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(result) for result in results} == {TimeoutError}
    with pytest.raises(TimeoutError):
        await asyncio.to_thread(model.get_text_embedding, "a")
    assert threading.active_count() - before <= MOST_THREADS + 1  # that of to_thread
    Blocking.released.set()  # those that were left come back, and nobody asks for the rest
    assert await model.aget_text_embedding("a") == []


class Pooled(LetterEmbedding):
    """Keeps what belongs to the loop that made it, as clients keep connections."""

    loops: ClassVar[list[asyncio.AbstractEventLoop]] = []

    async def _aget_text_embedding(self, text: str) -> list[float]:
        self.loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return self._get_text_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await self._aget_text_embedding(query)

    async def aclose(self) -> None:
        self.loops.append(asyncio.get_running_loop())


def test_a_plugins_embedder_has_one_event_loop_whoever_asks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def pooled(*_: object, patient: bool) -> Embedder:
        inner = Pooled()
        return Embedder(inner, "pooled:26", max_distance=None, aclose=inner.aclose)

    monkeypatch.setattr(factories, "plugins", lambda _: {"pooled": SimpleNamespace(call=pooled)})
    monkeypatch.setattr(Pooled, "loops", [])
    embedder = build_embedder(settings(embedder="pooled"))
    for ask in (embedder.model.aget_query_embedding, embedder.model.aget_text_embedding):
        assert len(asyncio.run(ask("ab"))) == EMBEDDING_DIMENSIONS

    async def close() -> None:
        await embedder.aclose()

    asyncio.run(close())
    assert len(Pooled.loops) == 3
    assert len({*map(id, Pooled.loops)}) == 1


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


class Busy(Exception):
    """The error of a vendor's client: a status, and the response with its headers."""

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
async def test_a_batch_of_an_ingest_is_tried_five_times_and_a_question_four(
    monkeypatch: pytest.MonkeyPatch, asynchronous: bool
) -> None:
    for name, policy in {"PATIENT": PATIENT, "INTERACTIVE": INTERACTIVE}.items():
        fast = replace(policy, first_wait=0.001)
        monkeypatch.setattr(f"helix.providers.integrations.{name}", fast)
    options: dict[str, Any] = {}

    def embedding(**given: Any) -> BusyEmbedding:
        options.update(given)
        return BusyEmbedding()

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", embedding)

    async def attempts(failures: list[Any], patient: bool) -> tuple[int, bool]:
        name = settings(embedder="openai:some-model")
        model: Any = build_embedder(name, patient=patient).model
        assert options["max_retries"] == 0
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
    assert await attempts([Busy(429, "0"), Busy(503, "31")], patient=True) == (2, False)
    assert await attempts([Busy(401)], patient=True) == (1, False)
    assert await attempts([Busy(429, code="insufficient_quota")], patient=True) == (1, False)
    assert await attempts([TimeoutError()], patient=True) == (1, False)
    assert await attempts([Busy(503)] * 3, patient=False) == (4, True)
    assert await attempts([Busy(503)] * 4, patient=False) == (4, False)
