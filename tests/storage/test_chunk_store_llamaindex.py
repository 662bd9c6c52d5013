"""Any LlamaIndex code can use the ChunkStore, sync and async, and the stock store its tables."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import Document, NodeWithScore, TextNode
from llama_index.core.vector_stores.types import (
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from llama_index.vector_stores.postgres import PGVectorStore

from helix.errors import StoreUnavailable
from helix.language.sentences import sentences
from helix.store import ChunkStore
from pipelines.splitters import SectionSplitter
from tests.support.fake_embedder import WordEmbedding, opened, rows
from tests.support.wire.gemini import word_vector

DOCUMENTS = [
    Document(
        id_="refunds",
        text="Refunds take thirty days. Gift cards cannot be refunded. Refunds go to your card.",
        metadata={"title": "Refund Policy", "tenant": "a", "year": 2024},
    ),
    Document(
        id_="shipping",
        text="Shipping is free over fifty euros. Refunds of shipping are paid by us.",
        metadata={"tenant": "b' OR '1'='1", "year": 2025},
    ),
]
WORDS = WordEmbedding(model_name="words")
QUESTION = "How long do refunds take?"

BOTH_WAYS = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url) as store:
        yield store


def index_of(store: PGVectorStore) -> VectorStoreIndex:
    """DOCUMENTS, in chunks of one sentence."""
    return VectorStoreIndex.from_documents(
        DOCUMENTS,
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=WORDS,
        transformations=[
            SentenceSplitter(chunk_size=40, chunk_overlap=0, chunking_tokenizer_fn=sentences)
        ],
    )


async def retrieve(
    index: VectorStoreIndex, asynchronous: bool, question: str = QUESTION, **options: Any
) -> list[NodeWithScore]:
    retriever = index.as_retriever(similarity_top_k=4, **options)
    return await retriever.aretrieve(question) if asynchronous else retriever.retrieve(question)


@BOTH_WAYS
async def test_an_index_over_the_store_finds_what_it_put_in(
    store: ChunkStore, asynchronous: bool
) -> None:
    index = index_of(store)
    found = await retrieve(index, asynchronous)
    assert found[0].node.get_content().startswith("Refunds take thirty days.")
    assert found[0].node.metadata["title"] == "Refund Policy"
    assert found[0].node.ref_doc_id == "refunds"
    scores = [node.get_score() for node in found]
    assert scores == sorted(scores, reverse=True)
    again = VectorStoreIndex.from_vector_store(store, embed_model=WORDS)
    assert [n.node_id for n in await retrieve(again, asynchronous)] == [n.node_id for n in found]
    hits = await store.search(word_vector(QUESTION), 4)
    assert [hit.node_id for hit in hits] == [node.node_id for node in found]
    assert [1 - hit.distance for hit in hits] == pytest.approx(scores)


async def test_adopted_documents_have_a_title_and_their_slices(
    store: ChunkStore, database_url: str
) -> None:
    index_of(store)
    assert rows(database_url, "SELECT source_uri, title FROM documents ORDER BY id") == [
        ("refunds", "Refund Policy"),
        ("shipping", "shipping"),
    ]
    slices = rows(
        database_url,
        "SELECT content, substr(text, start_char + 1, end_char - start_char)"
        " FROM chunks c JOIN documents d ON d.id = document_id",
    )
    assert slices and all(content == cut for content, cut in slices)


@BOTH_WAYS
@pytest.mark.parametrize("mode", [VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR])
async def test_filters_are_bound(
    store: ChunkStore, asynchronous: bool, mode: VectorStoreQueryMode
) -> None:
    cases: list[tuple[str, str | int, set[str]]] = [
        ("tenant", "a", {"refunds"}),
        ("tenant", "b' OR '1'='1", {"shipping"}),
        ("tenant", "a' OR '1'='1", set()),
        ("tenant' = '' OR '1'='1", "x", set()),
        ("tenant", "O'Brien", set()),
        ("tenant", "a\x00", set()),
        ("tenant", "\ud800", set()),
        ("year", 2025, {"shipping"}),
        ("year", "2025", {"shipping"}),
        ("ref_doc_id", "refunds", {"refunds"}),
    ]
    index = index_of(store)
    for key, value, found in cases:
        filters = MetadataFilters(filters=[MetadataFilter(key=key, value=value)])
        nodes = await retrieve(index, asynchronous, filters=filters, vector_store_query_mode=mode)
        assert {node.node.ref_doc_id for node in nodes} == found, (key, value)


@BOTH_WAYS
async def test_mmr_prefers_what_differs(store: ChunkStore, asynchronous: bool) -> None:
    texts = ["refunds take days", "refunds take days too", "refunds elephants zebras lions"]
    await store.async_add(
        [TextNode(id_=text, text=text, embedding=word_vector(text)) for text in texts]
    )
    index = VectorStoreIndex.from_vector_store(store, embed_model=WORDS)
    retriever = index.as_retriever(
        similarity_top_k=2, vector_store_query_mode="mmr",
        vector_store_kwargs={"mmr_threshold": 0.1},
    )  # fmt: skip
    question = "refunds take days"
    nodes = await retriever.aretrieve(question) if asynchronous else retriever.retrieve(question)
    assert [node.node_id for node in nodes] == [texts[0], texts[2]]
    assert [n.node_id for n in (await retrieve(index, asynchronous, question))[:2]] == texts[:2]


@BOTH_WAYS
async def test_get_nodes_gives_them_back(store: ChunkStore, asynchronous: bool) -> None:
    node = TextNode(
        id_="n", text="Größe 退款", embedding=word_vector("x"), metadata={"tags": ["a"], "n": 1}
    )
    assert await store.async_add([node]) == ["n"]
    [back] = await store.aget_nodes(["n"]) if asynchronous else store.get_nodes(["n"])
    assert (back.node_id, back.get_content(), back.metadata) == ("n", "Größe 退款", node.metadata)
    assert np.allclose(np.asarray(back.embedding), word_vector("x"), atol=1e-6)


@BOTH_WAYS
async def test_deleting(store: ChunkStore, database_url: str, asynchronous: bool) -> None:
    async def left() -> set[str | None]:
        nodes = await retrieve(index, asynchronous)
        return {node.node.ref_doc_id for node in nodes}

    index = index_of(store)
    nodes = store.get_nodes(filters=MetadataFilters(filters=[]))
    of_shipping = [node.node_id for node in nodes if node.ref_doc_id == "shipping"]
    everything = {node.node_id for node in nodes}
    if asynchronous:
        await store.adelete_nodes(of_shipping[:1])
    else:
        store.delete_nodes(of_shipping[:1])
    assert {n.node_id for n in store.get_nodes([*everything])} == everything - {of_shipping[0]}
    if asynchronous:
        await index.adelete_ref_doc("shipping")
    else:
        index.delete_ref_doc("shipping")
    assert await left() == {"refunds"}
    [(document_id,)] = rows(database_url, "SELECT id FROM documents")
    for reference in ("nowhere", "' OR true --", str(document_id + 1)):
        await store.adelete(reference) if asynchronous else store.delete(reference)
    assert await left() == {"refunds"}
    await store.adelete(str(document_id)) if asynchronous else store.delete(str(document_id))
    assert await left() == set()
    index_of(store)
    await store.aclear() if asynchronous else store.clear()
    assert rows(database_url, "SELECT FROM chunks UNION ALL SELECT FROM documents") == []


async def test_a_node_added_twice_is_there_once(store: ChunkStore, database_url: str) -> None:
    for text in ("first", "second"):
        store.add([TextNode(id_="n", text=text, embedding=word_vector(text))])
    assert rows(database_url, "SELECT content FROM chunks") == [("second",)]
    assert store.add([]) == []


@BOTH_WAYS
async def test_index_settings_last_one_transaction(store: ChunkStore, asynchronous: bool) -> None:
    await retrieve(index_of(store), asynchronous)
    await retrieve(index_of(store), asynchronous, vector_store_query_mode="mmr")
    left = "SELECT current_setting('hnsw.ef_search'), current_setting('hnsw.iterative_scan')"
    if asynchronous:
        async with store._async_engine.connect() as connection:  # type: ignore[union-attr]
            assert (await connection.exec_driver_sql(left)).all() == [("40", "off")]
    else:
        with store.client.connect() as connection:
            assert connection.exec_driver_sql(left).all() == [("40", "off")]


async def test_a_query_may_ask_for_more_candidates(store: ChunkStore) -> None:
    index_of(store)
    query = VectorStoreQuery(query_embedding=word_vector(QUESTION), similarity_top_k=3)
    assert store.query(query, hnsw_ef_search=400).ids == (await store.aquery(query)).ids
    with pytest.raises(StoreUnavailable, match="refused the statement"):
        store.query(query, hnsw_ef_search=10**6)


# --- the stock store over the same tables


@BOTH_WAYS
async def test_the_stock_store_writes_and_reads_through_the_view(
    database_url: str, asynchronous: bool
) -> None:
    [(document_id,)] = rows(
        database_url,
        "INSERT INTO documents (title, source_uri, content_hash, text)"
        " VALUES ('Refund Policy', 'refunds.txt', '', %s) RETURNING id",
        DOCUMENTS[0].text,
    )
    url = database_url.replace("postgresql://", "postgresql+psycopg://")
    stock = PGVectorStore(
        url, url, table_name="chunks", embed_dim=1536, perform_setup=False, use_jsonb=True
    )
    document = Document(
        id_=str(document_id), text=DOCUMENTS[0].text, metadata={"source_uri": "refunds.txt"}
    )
    pipeline = IngestionPipeline(
        transformations=[SectionSplitter(chunk_tokens=16, overlap_tokens=0), WORDS],
        vector_store=stock,
        disable_cache=True,
    )
    if asynchronous:
        await pipeline.arun(documents=[document])
    else:
        pipeline.run(documents=[document])
    stored = rows(
        database_url,
        "SELECT document_id, ordinal, content = substr(text, start_char + 1, end_char - start_char)"
        " FROM chunks JOIN documents d ON d.id = document_id ORDER BY ordinal",
    )
    assert stored == [(document_id, ordinal, True) for ordinal in range(len(stored))] != []
    async with opened(database_url) as store:
        [hit, *_] = await store.search(word_vector(QUESTION), 5)
        assert (hit.title, hit.document_id) == ("Refund Policy", document_id)
        assert hit.content.startswith("Refunds take thirty days.")
        index = VectorStoreIndex.from_vector_store(stock, embed_model=WORDS)
        assert (await retrieve(index, asynchronous))[0].node_id == hit.node_id
        [node] = store.get_nodes([hit.node_id])
        assert json.loads(node.to_json())["text"] == hit.content
    await stock.adelete(str(document_id)) if asynchronous else stock.delete(str(document_id))
    assert rows(database_url, "SELECT FROM chunks") == []
    await stock.close()
