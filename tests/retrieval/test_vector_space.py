"""An embedder is known by its name and its width: another model under the name is told apart."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from helix.commands.transfer import _with_new_vectors
from helix.errors import EmbedderMismatch
from helix.providers import factories
from helix.providers.base import Embedder
from helix.providers.vendor_models import PaddedEmbedding
from helix.retrieval.embedding_cache import with_cache
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space, current_embedder
from helix.storage.document_writes import mismatch_message
from helix.store import ChunkStore
from pipelines.reembedding.change import change_embedder
from tests.support.fake_embedder import WordEmbedding, opened, rows
from tests.support.reembedding import text_of, write

NAME = "server:words"
STORED = "SELECT identity FROM embedding_space"


class NarrowEmbedding(WordEmbedding):
    """Vectors of ``width`` numbers, none of them zero."""

    width: int

    def _get_text_embedding(self, text: str) -> list[float]:
        seed = sum(text.encode())
        return [1.0 + (seed * (place + 7)) % 11 for place in range(self.width)]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def _served(width: int) -> Embedder:
    """The embedder of a server whose model gives vectors of ``width`` numbers, not asked yet."""
    model = PaddedEmbedding(NarrowEmbedding(model_name="words", width=width), NAME)
    return Embedder(model, f"{NAME}:1536", max_distance=1.9, width=model.width)


async def _fill(store: ChunkStore, embedder: Embedder) -> None:
    await embedder.learn_width()
    named = replace(embedder, identity=embedder.vector_space, width=None)
    await asyncio.to_thread(write, store, named, "a.txt", text_of(0))


def _searching(store: ChunkStore, embedder: Embedder) -> GatedRetriever:
    return GatedRetriever(store, Space(embedder, 1.9))


async def test_a_width_is_part_of_what_the_database_remembers(database_url: str) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
        assert rows(database_url, STORED) == [(f"{NAME}:1536/64",)]
        again = await current_embedder(store, [_served(64)])
        assert again.vector_space == f"{NAME}:1536/64"  # and nothing was asked of the model
        assert (await _searching(store, again).search("of version")).hits


@pytest.mark.parametrize("width", [32, 128])
async def test_another_width_under_the_name_is_refused_with_what_to_run(
    database_url: str, width: int
) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
        other = await current_embedder(store, [_served(width)])
        with pytest.raises(EmbedderMismatch, match="`helix reembed --to server:words`"):
            await _searching(store, other).search("of version")
        with pytest.raises(EmbedderMismatch, match=f"vectors of {width} numbers, and gave 64"):
            await with_cache(other, store, 8).model.aget_text_embedding("new")


async def test_a_width_that_is_known_before_the_database_is_filled_is_compared_too(
    database_url: str,
) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        early = await current_embedder(store, [_served(32)])
        assert not (await _searching(store, early).search("of version")).hits
        await _fill(store, _served(64))
        with pytest.raises(EmbedderMismatch, match="another width"):
            await _searching(store, early).search("of version")
        with pytest.raises(EmbedderMismatch, match="another width"):
            await current_embedder(store, [early])


def test_two_models_of_one_publisher_are_no_two_widths_of_one() -> None:
    assert "another width" in mismatch_message(
        "server:lab/small:1536/64", "server:lab/small:1536/8"
    )
    told = mismatch_message("server:lab/small:1536", "server:lab/large:1536")
    assert "another width" not in told and "server:lab/large:1536 is configured" in told


async def test_a_space_that_was_named_without_a_width_has_that_of_its_vectors(
    database_url: str,
) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
        rows(database_url, f"UPDATE embedding_space SET identity = '{NAME}:1536' RETURNING 1")
        same = await current_embedder(store, [_served(64)])
        assert same.vector_space == f"{NAME}:1536"  # what is paid for is found under it
        assert (await _searching(store, same).search("of version")).hits
        other = await current_embedder(store, [_served(32)])
        with pytest.raises(EmbedderMismatch, match="helix reembed"):
            await _searching(store, other).search("of version")


async def test_an_import_embeds_anew_under_the_name_that_the_database_has(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
    monkeypatch.setenv("DATABASE_URL", database_url)
    for name in ("HELIX_LLM", "HELIX_EMBEDDER"):
        monkeypatch.setenv(name, "offline")
    monkeypatch.setattr(factories, "build_embedder", lambda *_, **__: _served(64))

    async def name_of_new_vectors() -> str:
        return await _with_new_vectors(lambda anew: anew.identity if anew else "")

    assert await name_of_new_vectors() == f"{NAME}:1536/64"
    rows(database_url, f"UPDATE embedding_space SET identity = '{NAME}:1536' RETURNING 1")
    assert await name_of_new_vectors() == f"{NAME}:1536"


async def test_an_emptied_database_is_anybodys(database_url: str) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
        rows(database_url, "DELETE FROM documents RETURNING 1")
        other = await current_embedder(store, [_served(32)])
        await _fill(store, other)
        assert rows(database_url, STORED) == [(f"{NAME}:1536/32",)]


async def test_the_model_of_another_width_takes_over_under_the_same_name(database_url: str) -> None:
    async with opened(database_url, f"{NAME}:1536") as store:
        await _fill(store, _served(64))
        old, new = await current_embedder(store, [_served(32)]), _served(32)
        retriever = GatedRetriever(store, Space(old, 1.9), following=[Space(new, 1.9)])
        with pytest.raises(EmbedderMismatch):
            await retriever.search("of version")
        changing = _served(32)
        await changing.learn_width()
        await change_embedder(database_url, changing, batch=5, parallel=1, report=lambda _: None)
        assert rows(database_url, STORED) == [(f"{NAME}:1536/32",)]
        assert (await retriever.search("of version")).hits
