"""Documents for POST /v1/query, the application that answers from them, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import TextNode

from helix.store import ChunkStore
from tests.support.fake_embedder import WordEmbedding, nodes_of, record, rows
from tests.support.live_server import live

QUESTION = "How long do I have to request a refund?"
REFUNDS = """\
Refunds are accepted within 30 days of purchase, request a refund by letter.

Gift cards cannot be returned once they were opened by the buyer.

Opened software stays with whoever bought it, süß ☃ 𝕏 and all."""
SHIPPING = "Standard parcels take four working days to Norway.\n\nExpress parcels take one day."
LABEL = "page 3 (printed 1)"
KEYS = [
    "answer", "citations", "abstained", "reason", "clarifying_question", "suggested_scope",
    "support", "reason_text", "closest", "model", "answer_id", "trace_id",
]  # fmt: skip
LONG = [
    "n", "kind", "chunk_id", "document_id", "title", "heading_path", "page", "label", "snippet",
    "quote", "start", "end", "by", "source_url",
    "version_id",
]  # fmt: skip


def store_text(
    store: ChunkStore,
    uri: str,
    title: str,
    text: str,
    tags: tuple[str, ...] = (),
    model: BaseEmbedding | None = None,
) -> int:
    """Store ``text`` as an ingest does, a chunk a paragraph, each under the heading ``Rules``."""
    document = replace(record(uri, text, title), tags=tags)
    reference = store.reserve(uri)
    nodes: list[TextNode] = nodes_of(document, str(reference))
    for node in nodes:
        node.id_ = f"{reference}-{node.id_}"
        node.metadata |= {"page": 3, "heading_path": [title, "Rules"], "label": LABEL}
        if model:
            node.embedding = model.get_text_embedding(node.text)
    store.stage(str(reference), document)
    store.add(nodes)
    return reference


@contextmanager
def a_store(url: str) -> Iterator[ChunkStore]:
    """A store on ``url`` that is filled by Gemini's embedder."""
    store = ChunkStore(url, "gemini:gemini-embedding-001:1536")
    yield store
    store.connections._writing.close()


@contextmanager
def a_client(url: str) -> Iterator[httpx.Client]:
    """A client of the application with Gemini behind it."""
    with live(
        url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8,
    ) as client:  # fmt: skip
        yield client


def store_documents(store: ChunkStore) -> dict[str, int]:
    """Ids by name; ``bare`` says of no chunk where it lies."""
    bare = TextNode(
        id_="bare", text="Warranty claims need a receipt.", embedding=WordEmbedding(model_name="w")
        .get_text_embedding("Warranty claims need a receipt."), metadata={"title": "Bare"},
    )  # fmt: skip
    store.add([bare])
    unmark = (
        "UPDATE chunks SET metadata_ = metadata_ - '{start_char,end_char}'::text[] RETURNING id"
    )
    rows(store.connections.url, unmark)
    ids = {
        "refunds": store_text(store, "a/refunds.md", "Refund Policy", REFUNDS, ("policy", "eu")),
        "shipping": store_text(store, "b/shipping.md", "Shipping", SHIPPING, ("policy",)),
        "acme": store_text(
            store.of("acme"), "a/refunds.md", "Acme", "Acme refunds a request never."
        ),
    }
    rows(
        store.connections.url,
        "UPDATE documents SET updated_at = '2020-01-01T12:00:00Z' WHERE id = %s RETURNING id",
        ids["shipping"],
    )
    return ids


def post(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/v1/query", json={"question": QUESTION, **body})


def asked(client: httpx.Client, **body: Any) -> dict[str, Any]:
    response = post(client, **body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def events_of(content: bytes) -> list[tuple[str, Any]]:
    frames = [frame for frame in content.decode().split("\n\n") if not frame.startswith(":")]
    assert frames.pop() == ""
    found = [re.fullmatch(r"event: (\w+)\ndata: (.*)", frame) for frame in frames]
    return [(match[1], json.loads(match[2])) for match in found if match or pytest.fail(str(found))]


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """The fields that two answers to one question have in common."""
    return {key: answer[key] for key in KEYS[:5]}
