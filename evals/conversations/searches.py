"""The turns of MTRAG, asked in several ways of the pooled passages in a database of their own."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from evals.corpora import JudgedCorpus, store_corpus, whole_documents
from evals.datasets.mtrag import ConversationTurn
from evals.datasets.records import QuestionSet
from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.followups import FollowUp, follow_up
from helix.domain.history import EarlierTurn, History
from helix.domain.records import SearchResult
from helix.evidence.vectors import word_vectors
from helix.providers.base import Embedder
from helix.retrieval.searches import FOLLOWING, found_answer, question_vector
from helix.store import ChunkStore

LAST, SERVED, WHOLE, REWRITE = (
    "last turn alone", "**as served**", "whole history", "a person's rewrite"
)  # fmt: skip


@dataclass(frozen=True)
class Found:
    """The findings of one way of asking: places of passages, best first, and its seconds."""

    places: list[int]
    result: SearchResult
    seconds: float


def history_of(turn: ConversationTurn) -> History:
    """The turns before the turn, with the answers where the set has them."""
    pairs = zip_longest(turn.asked[:-1], turn.answers, fillvalue="")
    return History(tuple(EarlierTurn(question, answer) for question, answer in pairs))


def ways_of(turn: ConversationTurn) -> Mapping[str, FollowUp]:
    """The ways in which a turn is asked, by name."""
    ways = {
        LAST: FollowUp(turn.asked[-1]),
        SERVED: follow_up(turn.asked[-1], history_of(turn)),
        WHOLE: FollowUp("\n".join(turn.asked)),
    }
    return ways | ({REWRITE: FollowUp(turn.rewrite)} if turn.rewrite else {})


async def store_pool(store: ChunkStore, passages: QuestionSet) -> None:
    """Write the passages, a chunk each, as the offline embedder has them."""
    vectors = word_vectors().embed([document.text for document in passages.documents])
    chunks = whole_documents(passages)
    corpus = JudgedCorpus(passages, chunks, vectors, passages.name, [], vectors[:0], [])
    await store_corpus(store, corpus)


async def search_turns(
    store: ChunkStore, embedder: Embedder, turns: Sequence[ConversationTurn]
) -> list[dict[str, Found]]:
    """The findings of each way of asking each turn."""
    return [
        {name: await _search(store, embedder, asked) for name, asked in ways_of(turn).items()}
        for turn in turns
    ]


async def _search(store: ChunkStore, embedder: Embedder, asked: FollowUp) -> Found:
    began = time.perf_counter()
    vector = await question_vector(embedder, asked)
    result = await store.search_hybrid(asked.question, vector, DEFAULT_TOP_K, beside=asked.terms)
    if asked.tentative and not await found_answer(asked.question, result.hits, FOLLOWING):
        return await _search(store, embedder, FollowUp(asked.question))
    seconds = time.perf_counter() - began
    return Found([int(h.node_id.rpartition("-")[2]) for h in result.hits], result, seconds)
