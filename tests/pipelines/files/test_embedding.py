"""The embedding step: batches, what is stored, steps done in an earlier life, shared requests."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from llama_index.core.schema import MetadataMode, TextNode

from helix.domain.records import EMBEDDING_KEY, KNOWN
from helix.errors import UpstreamError
from helix.providers.base import Embedder
from helix.retrieval.embedding_cache import cache_key, with_cache
from helix.storage.cache_rows import Floats
from pipelines.files.embedding import Coalescer, EmbedNodes, requests_of
from tests.support.fake_embedder import IDENTITY, WordEmbedding, opened, rows, word_embedder
from tests.support.wire.gemini import word_vector


def nodes(count: int) -> list[TextNode]:
    return [
        TextNode(
            id_=f"n{place}",
            text=f"text {place}",
            metadata={"title": "A Title"},
            excluded_llm_metadata_keys=["title"],
            metadata_template="{value}",
        )
        for place in range(count)
    ]


def made(embedder: Embedder) -> list[str]:
    assert isinstance(embedder.model, WordEmbedding)
    return embedder.model.texts


class Heard(list[tuple[int, int]]):
    """The calls of a progress callback: (batches done, batches in all)."""

    async def __call__(self, done: int, total: int) -> None:
        self.append((done, total))


async def test_each_node_gets_its_vector_as_an_array_and_its_key() -> None:
    embedder, heard = word_embedder(), Heard()
    given = nodes(205)
    await EmbedNodes(embedder, progress=heard).acall(given)
    assert heard == [(0, 3), (1, 3), (2, 3), (3, 3)]
    for node in given:
        text = f"A Title\n\n{node.text}"
        assert isinstance(node.embedding, np.ndarray) and node.embedding.dtype == np.float32
        assert np.allclose(node.embedding, word_vector(text), atol=1e-6)
        assert node.metadata[EMBEDDING_KEY] == cache_key(IDENTITY, "document", text)
        assert node.get_content(MetadataMode.EMBED) == text  # the key is not embedded, nor shown
        assert node.get_content(MetadataMode.LLM) == node.text
    back = pickle.loads(pickle.dumps(given[0]))
    assert np.array_equal(np.asarray(back.embedding), np.asarray(given[0].embedding))


async def test_what_is_stored_is_not_embedded() -> None:
    embedder, heard = word_embedder(), Heard()
    known = {
        "n0": cache_key(IDENTITY, "document", "A Title\n\ntext 0"),
        "n1": cache_key(IDENTITY, "document", "Old Title\n\ntext 1"),
        "n2": cache_key("fake:other:1536", "document", "A Title\n\ntext 2"),
    }
    given = nodes(4)
    await EmbedNodes(embedder, known=known, progress=heard).acall(given)
    assert heard == [(0, 1), (1, 1)]
    assert [node.embedding is KNOWN for node in given] == [True, False, False, False]
    assert made(embedder) == [f"A Title\n\ntext {place}" for place in (1, 2, 3)]


async def test_a_batch_done_in_an_earlier_life_comes_from_the_cache(database_url: str) -> None:
    ran: list[int] = []

    def life(*done: int) -> Callable[[int, Callable[[], Awaitable[None]]], Awaitable[None]]:
        async def run_batch(index: int, embed: Callable[[], Awaitable[None]]) -> None:
            if index not in done:
                ran.append(index)
                await embed()

        return run_batch

    async with opened(database_url) as store:
        for lost in (False, True):
            first, second = word_embedder(), word_embedder()
            step = EmbedNodes(with_cache(first, store, 8), run_batch=life(2))
            await step.acall(nodes(200))
            if lost:
                rows(database_url, "DELETE FROM embedding_cache RETURNING 1")
            given = nodes(300)
            step = EmbedNodes(with_cache(second, store, 8), run_batch=life(0, 1))
            await step.acall(given)
            assert len(made(second)) == (300 if lost else 100)
            for node in given:
                vector = word_vector(f"A Title\n\n{node.text}")
                assert np.allclose(np.asarray(node.embedding), vector, atol=1e-6)
            rows(database_url, "DELETE FROM embedding_cache RETURNING 1")
    assert ran == [0, 1, 2] * 2


class Counting:
    """Requests under way, and those made."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.requests: list[list[str]] = []
        self.most = 0
        self._now = 0
        self._fails = fails

    async def embed(self, texts: Sequence[str]) -> list[Floats]:
        self.requests.append(list(texts))
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0.005)
        self._now -= 1
        if self._fails:
            raise self._fails
        return [np.asarray(word_vector(text), dtype=np.float32) for text in texts]


async def test_what_was_embedded_once_is_not_embedded_again_after_a_failed_write() -> None:
    embedder = word_embedder()
    step = EmbedNodes(embedder)
    first, again = nodes(3), nodes(3)
    await step.acall(first)
    await step.acall(again)
    assert len(made(embedder)) == 3
    for before, after in zip(first, again, strict=True):
        assert np.array_equal(np.asarray(before.embedding), np.asarray(after.embedding))


async def test_a_limit_holds_for_all_documents_of_a_process() -> None:
    counting, limit = Counting(), asyncio.Semaphore(2)
    coalescers = [Coalescer(counting.embed, most=3, limit=limit) for _ in range(8)]
    steps = [EmbedNodes(word_embedder(), each.embed) for each in coalescers]
    await asyncio.gather(*(step.acall(nodes(3)) for step in steps))
    assert counting.most == 2 and len(counting.requests) == 8
    assert await requests_of(word_embedder())(["one"])


async def test_small_files_share_requests() -> None:
    counting = Counting()
    coalescer = Coalescer(counting.embed, most=20)
    files = [[f"file {n}, chunk {m}" for m in range(n % 4 + 1)] for n in range(50)]
    found = await asyncio.gather(*(coalescer.embed(texts) for texts in files))
    for texts, vectors in zip(files, found, strict=True):
        assert np.allclose(vectors, [word_vector(text) for text in texts], atol=1e-6)
    sizes = [len(request) for request in counting.requests]
    assert sum(sizes) == sum(map(len, files)) and max(sizes) <= 20
    assert len(sizes) <= sum(sizes) / 17 + 1


async def test_one_alone_does_not_wait_for_ever_and_a_full_one_not_at_all() -> None:
    counting = Counting()
    assert len(await Coalescer(counting.embed, most=20).embed(["one"])) == 1
    full = Coalescer(counting.embed, most=2, wait=3600)
    assert len(await full.embed(["one", "two"])) == 2


async def test_an_error_goes_to_everybody_who_asked() -> None:
    coalescer = Coalescer(Counting(UpstreamError("quota", transient=False)).embed, most=20)
    found = await asyncio.gather(
        *(coalescer.embed([str(n)]) for n in range(3)), return_exceptions=True
    )
    assert [str(error) for error in found] == ["quota"] * 3


async def test_one_who_leaves_takes_nothing_from_the_others() -> None:
    counting = Counting()
    coalescer = Coalescer(counting.embed, most=20)
    leaving = asyncio.create_task(coalescer.embed(["leaving"]))
    staying = asyncio.create_task(coalescer.embed(["staying"]))
    await asyncio.sleep(0)
    leaving.cancel()
    assert np.allclose(await staying, [word_vector("staying")], atol=1e-6)
    assert counting.requests == [["staying"]]


async def test_a_request_is_put_together_when_it_is_its_turn() -> None:
    sent: list[list[str]] = []
    first_goes = asyncio.Event()

    async def slow(texts: Sequence[str]) -> Sequence[Floats]:
        sent.append(list(texts))
        await first_goes.wait()
        return [np.asarray(word_vector(text), dtype=np.float32) for text in texts]

    coalescer = Coalescer(slow, most=20, wait=0, limit=asyncio.Semaphore(1))
    first = asyncio.create_task(coalescer.embed(["first"]))
    await asyncio.sleep(0.01)
    others = [asyncio.create_task(coalescer.embed([str(n)])) for n in range(5)]
    await asyncio.sleep(0.01)
    first_goes.set()
    await asyncio.gather(first, *others)
    assert sent == [["first"], ["0", "1", "2", "3", "4"]]


async def test_a_refused_text_fails_its_own_file_only() -> None:
    asked: list[list[str]] = []

    async def picky(texts: Sequence[str]) -> Sequence[Floats]:
        asked.append(list(texts))
        if "bad" in texts:
            raise UpstreamError("refused", transient=False, about_input=True)
        return [np.asarray(word_vector(text), dtype=np.float32) for text in texts]

    coalescer = Coalescer(picky, most=20, callers=lambda: 3)
    found = await asyncio.gather(
        *(coalescer.embed([text]) for text in ("good", "bad", "fine")), return_exceptions=True
    )
    assert [isinstance(answer, UpstreamError) for answer in found] == [False, True, False]
    assert asked == [["good", "bad", "fine"], ["good"], ["bad"], ["fine"]]
