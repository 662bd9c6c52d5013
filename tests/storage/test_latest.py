"""Latest only: what is found, and what an answer is certified by, is of the stored version."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from helix.domain.records import DocumentRecord
from helix.domain.retrieval import Fusion
from helix.domain.scope import Scope
from helix.providers.factories import build_embedder
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from helix.settings import load_settings
from helix.store import ChunkStore
from tests.support.fake_embedder import nodes_of, opened, record, word_embedder, write
from tests.support.live_server import OFFLINE, live
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

PARAGRAPHS = 5
VERSIONS = 25
QUESTION = "How deep is the water of the mountain?"


def _version(number: int) -> DocumentRecord:
    """Every paragraph is another one, so that no chunk of the version before stays."""
    parts = [f"Version{number} of the mountain water, part {n}." for n in range(PARAGRAPHS)]
    return record("well.txt", "\n\n".join(parts))


def _versions_in(texts: list[str]) -> list[int]:
    return [int(number) for text in texts for number in re.findall(r"Version(\d+)", text)]


async def test_searches_see_one_version_and_never_an_older_one(database_url: str) -> None:
    """Of searches beside a writer, blocking and awaited, by every statement there is."""
    async with opened(database_url) as store:
        await asyncio.to_thread(write, store, record("else.txt", "Other mountain water."))
        await asyncio.to_thread(write, store, _version(0))
        committed, seen = [0], set[int]()

        def replace() -> None:
            session = store.session()
            for number in range(1, VERSIONS):
                write(session, _version(number))
                committed.append(number)

        async def search(scope: Scope | None, fusion: Fusion | None) -> None:
            embedder = word_embedder()
            retriever = GatedRetriever(store, Space(embedder, 2.0, fusion), top_k=20)
            while not writing.done():
                oldest = committed[-1]
                found = await retriever.search(QUESTION, scope)
                numbers = _versions_in([hit.content for hit in found.hits])
                assert len(numbers) == PARAGRAPHS and len(set(numbers)) == 1
                assert numbers[0] >= oldest
                # none of the sources that a model is given is of another version either
                assert set(_versions_in([source.content for source in found.sources])) == {
                    numbers[0]
                }
                seen.add(numbers[0])

        writing = asyncio.ensure_future(asyncio.to_thread(replace))
        searches = [
            search(scope, fusion)
            for scope in (None, Scope(source_prefix="well"))
            for fusion in (None, Fusion(), Fusion(0.5))
        ]
        await asyncio.gather(writing, *searches)
        assert len(seen) > 2  # they ran beside the writer


class _Held(Answer):
    """An answer that waits after its first piece until it is let go."""

    def __init__(self, let_go: threading.Event) -> None:
        object.__setattr__(self, "deltas", ("It is ", "four feet ", "deep [1]."))
        object.__setattr__(self, "model_version", "held")  # whole: the wire has none to add
        object.__setattr__(self, "usage", {})
        object.__setattr__(self, "_turns", iter((None, let_go)))

    @property
    def delay(self) -> float:
        if event := next(self._turns, None):  # type: ignore[attr-defined]
            event.wait(30)  # holds the wire's loop, which has nothing else to do
        return 0.0


@dataclass(frozen=True)
class Asked:
    """The service with a model whose streams can be held, and a writer of its documents."""

    client: httpx.Client
    wire: GeminiWire
    change: Callable[[Callable[[ChunkStore], None]], None]

    def stream(self, meanwhile: Callable[[ChunkStore], None]) -> str:
        """All that /ask sends when ``meanwhile`` happens after its first token."""
        let_go = threading.Event()
        self.wire.script(_Held(let_go), on="generate")
        try:
            with self.client.stream("GET", "/ask", params={"q": QUESTION}) as response:
                assert response.status_code == 200
                parts = response.iter_text()
                told = next(parts)
                assert "It is" in told and "deep" not in told
                self.change(meanwhile)
                let_go.set()
                return told + "".join(parts)
        finally:
            let_go.set()


@pytest.fixture(scope="module")
def asked(module_database_url: str) -> Iterator[Asked]:
    embedder = build_embedder(load_settings(database_url=module_database_url, **OFFLINE))

    def change(action: Callable[[ChunkStore], None]) -> None:
        async def opened_for_it() -> None:
            async with opened(module_database_url, embedder.identity) as store:
                await asyncio.to_thread(action, store)

        asyncio.run(opened_for_it())

    with GeminiWire() as wire, pytest.MonkeyPatch.context() as patch:
        patch.setenv("GOOGLE_GEMINI_BASE_URL", wire.base_url)
        gemini: dict[str, object] = {"llm": "gemini", "gemini_api_key": "wire-test-key"}
        with live(module_database_url, retrieval_max_distance=2.0, **gemini) as client:
            yield Asked(client, wire, change)


def _put(store: ChunkStore, document: DocumentRecord) -> None:
    """``write`` with vectors of the offline embedder, which is the service's."""
    embedder = build_embedder(load_settings(database_url=store.connections.url, **OFFLINE))
    reference = store.reserve(document.source_uri)
    nodes = nodes_of(document, str(reference))
    for node in nodes:
        node.embedding = embedder.model.get_text_embedding(node.text)
    store.stage(str(reference), document)
    store.add(nodes)


FIRST = record("well.txt", "The mountain water is four feet deep.")
SECOND = record("well.txt", "The mountain water is nine feet deep.")


def _nothing(store: ChunkStore) -> None:
    pass


def _replaced(store: ChunkStore) -> None:
    _put(store, SECOND)


def _deleted(store: ChunkStore) -> None:
    store.delete("well.txt")


def _read_again(store: ChunkStore) -> None:
    _put(store, FIRST)


def _another_added(store: ChunkStore) -> None:
    _put(store, record("else.txt", "Of something else."))


def _another_tenants(store: ChunkStore) -> None:
    _put(store.of("other"), SECOND)
    store.of("other").clear()


@pytest.mark.parametrize(
    ("meanwhile", "certified"),
    [(_nothing, True), (_read_again, True), (_another_added, True), (_another_tenants, True),
     (_replaced, False), (_deleted, False)],
)  # fmt: skip
def test_an_answer_from_a_version_that_is_gone_is_cut(
    asked: Asked, meanwhile: Callable[[ChunkStore], None], certified: bool
) -> None:
    asked.change(_read_again)
    told = asked.stream(meanwhile)
    assert "".join(re.findall(r'"t":"([^"]*)"', told)) == "It is four feet deep [1]."
    assert told.count("event: citations") == certified
    assert ('"document_title":"A Title"' in told) == certified
    # and the next question is answered from what there is then
    if meanwhile is _replaced:
        again = asked.client.get("/ask", params={"q": QUESTION}).text
        assert "nine feet" in again and "four feet" not in again
