"""The parts of an answer besides its text: the question back, and candidates for debugging."""

from __future__ import annotations

import asyncio

import pytest

from helix.answering.question import clarifying_question, one_line
from helix.domain.context import sources_of
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.retrieval import LISTED, Fusion, Reason, Retrieval, SearchSpace, Trace
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.vector_space import Space
from helix.store import ChunkStore
from tests.support.fake_embedder import opened, record, word_embedder, write
from tests.support.texts import paragraphs

SPACE = SearchSpace("fake", 0.5)


def _hit(document: int, distance: float, title: str, *headings: str) -> Hit:
    text = f"text {document}"
    return Hit(document, document, title, "u", 0, text, 0, len(text), "", distance, None, headings)


def _refused(*hits: Hit) -> Retrieval:
    best = min(hit.distance for hit in hits)
    return Retrieval(
        list(hits), GateDecision(False, best), Trace(), SPACE, sources_of(hits), "below_gate"
    )


def test_what_is_asked_back() -> None:
    far, near, nearer = (
        _hit(1, 0.59, "Far"),
        _hit(2, 0.58, "Near"),
        _hit(3, 0.51, "In\n\x00it", "H"),
    )

    def ask(retrieval: Retrieval, reason: Reason | None, question: str = "?") -> str | None:
        return clarifying_question(question, retrieval, reason)

    assert ask(_refused(far), "below_gate") is None
    assert ask(_refused(_hit(4, float("nan"), "None")), "below_gate") is None
    assert ask(_refused(near, nearer), "below_gate") == (
        'Do you mean something in "In it" ("H") or "Near"?'
    )
    kinds: tuple[Reason | None, ...] = (None, "no_documents", "filtered_empty")
    for reason in kinds:
        assert ask(_refused(nearer), reason) is None
    third = _hit(5, 0.5, "Third")
    asked = "What is near H?"
    assert ask(_refused(far, near, nearer, third), "model_refused", asked) == (
        'Do you mean something in "Near" or "In it" ("H")?'
    )
    assert ask(_refused(far), "model_refused", "How far is it?") is None, "beyond the margin"
    assert ask(_refused(third), "model_refused", "What is near?") is None, "another heading"


def test_names_are_safe_to_quote() -> None:
    assert one_line('a "b"\r\n\tc\u202e\u2066d\u200b\ud800') == "a 'b' cd"
    assert one_line("x" * 101) == "x" * 99 + "…"
    assert one_line("\u2028\x1b") == ""


class _Terms:
    """A rewriter that knows one thing."""

    async def terms(self, question: str) -> str | None:
        return "bread butter sugar " + question


def _fill(store: ChunkStore) -> None:
    for n, text in enumerate(paragraphs(80, 3)):
        write(store, record(f"{n}.txt", text))


@pytest.mark.parametrize("rewriter", [None, _Terms()], ids=["plain", "rewritten"])
@pytest.mark.parametrize("fusion", [None, Fusion(0.5), Fusion()], ids=["dense", "sum", "rrf"])
async def test_more_candidates_change_no_hit(
    module_database_url: str, fusion: Fusion | None, rewriter: _Terms | None
) -> None:
    async with opened(module_database_url, ef_search=10) as store:
        if not await store.has_chunks():
            await asyncio.to_thread(_fill, store)
        space = Space(word_embedder(), 2.0, fusion)
        retriever = GatedRetriever(store, space, rewriter=rewriter)
        for question in ("the water of the mountain river", "teacher and student at school"):
            plain = await retriever.search(question, top_k=4)
            deep = await retriever.search(question, top_k=4, deep=True)
            assert (plain.hits, plain.decision) == (deep.hits, deep.decision)
            assert len(plain.trace.candidates) < len(deep.trace.candidates)
            first = deep.trace.candidates[: len(plain.trace.candidates)]
            assert first == plain.trace.candidates
            wanted = 10 if fusion is None else LISTED
            assert len(deep.trace.candidates) >= wanted
