"""A reranker behind a wire or a script, and hits to put in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from helix.domain.records import Hit
from helix.retrieval.reranking import Reranker, build_reranker
from tests.support.wire.rerank import RerankWire

KEY = "not-a-real-key"
KEYS = {"COHERE_API_KEY": SecretStr(f" {KEY}\n"), "VOYAGE_API_KEY": SecretStr(KEY)}
QUESTION = "may sold items be refunded"
TEXTS = ["Shipping takes a day.", "Sold items may be refunded.", "Items leave on Monday."]
VENDORS = ["cohere", "voyage"]
SECRETS = [KEY, QUESTION, *TEXTS]


def hit(content: str, number: int = 0) -> Hit:
    return Hit(
        chunk_id=number,
        document_id=7,
        title="A secret title",
        source_uri="secret.txt",
        ordinal=number,
        content=content,
        start_char=0,
        end_char=len(content),
        node_id=f"node-{number}",
        distance=0.1 * number,
        heading_path=("A secret heading",),
    )


HITS = [hit(text, number) for number, text in enumerate(TEXTS)]


@dataclass
class Scripted:
    """A reranker that gives ``values``, after what ``before`` does."""

    values: Sequence[float]
    before: Callable[[], None] = field(default=lambda: None)
    identity: str = "scripted:one"
    min_score: float | None = None

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        self.before()
        return list(self.values)

    async def aclose(self) -> None:
        return None


@asynccontextmanager
async def opened(wire: RerankWire, choice: str, timeout: float = 60.0) -> AsyncIterator[Reranker]:
    reranker = build_reranker(choice, keys=KEYS, timeout=timeout, base_url=wire.base_url)
    assert reranker is not None
    try:
        yield reranker
    finally:
        await reranker.aclose()
