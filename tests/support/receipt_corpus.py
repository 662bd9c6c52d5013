"""A corpus of numbered facts behind the offline models, and questions that each have an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.records import DocumentRecord
from helix.domain.scope import Scope
from helix.providers.base import Embedder, LanguageModel
from helix.services import Services, open_services
from helix.settings import load_settings
from tests.support.fake_embedder import nodes_of, record
from tests.support.live_server import OFFLINE

PLACES = (
    "Aberdeen", "Bergen", "Cadiz", "Dresden", "Esbjerg", "Funchal", "Ghent", "Haifa", "Izmir",
    "Jaffa", "Kaunas", "Lisbon", "Malmo", "Narvik", "Oporto", "Piran", "Quimper", "Rijeka",
    "Sofia", "Trieste",
)  # fmt: skip


def question(number: int) -> str:
    """One that the fact ``number`` answers."""
    return f"How many crates were stored at the depot {number} in {PLACES[number % 20]}?"


def fact(number: int) -> str:
    """A paragraph of two sentences, the first of which answers ``question``."""
    place = PLACES[number % 20]
    return (
        f"At the depot {number} in {place} there were {100 + 7 * number} crates stored last spring."
        f" The keeper of depot {number} is paid monthly."
    )


def document(number: int, text: str | None = None) -> DocumentRecord:
    """The document of the fact ``number``, or another ``text`` in its place."""
    return record(f"depots/{number}.txt", text or f"About depots.\n\n{fact(number)}", f"D{number}")


@asynccontextmanager
async def services(
    url: str, llm: LanguageModel | None = None, **more: Any
) -> AsyncIterator[Services]:
    """The offline models over ``url``."""
    settings = load_settings(database_url=url, **{**OFFLINE, "workers": 0, **more})
    async with open_services(settings, llm=llm) as opened:
        yield opened


def embedder_of(services: Services) -> Embedder:
    """The one that questions are embedded by."""
    return services.engine.retriever.space.embedder


async def bring_in(services: Services, *documents: DocumentRecord, tenant: str = "default") -> None:
    """Write what an ingest does."""
    store, model = services.store.of(tenant), embedder_of(services).model
    for one in documents:
        reference = await asyncio.to_thread(store.reserve, one.source_uri)
        nodes = nodes_of(one, str(reference))
        vectors = await model.aget_text_embedding_batch([node.text for node in nodes])
        for node, vector in zip(nodes, vectors, strict=True):
            node.embedding = vector
        await store.write(one, nodes, reference)


async def ask(services: Services, asked: str, tenant: str = "default", **more: Any) -> Answer:
    """The whole answer, its receipt kept."""
    top_k = more.pop("top_k", None)
    scope, history = more.pop("scope", None) or Scope(tenant), more.pop("history", None)
    question = Question(asked, scope, top_k, history, debug=more.pop("debug", False))
    return await AnswerRequest(services.answering, question, **more).run()
