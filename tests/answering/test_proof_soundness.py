"""Proofs of any answer: quotes are stored bytes, alterations are found, endless texts end."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.proof import quotes_hold
from evals.proof_alterations import Altered, alterations
from evals.proof_answers import Case
from helix.answering.proof import Proof, prove
from helix.domain.context import Source, sources_of
from helix.domain.contract import REFUSAL
from helix.providers.offline.extract import answer_of
from helix.providers.offline.reading import Offered
from pipelines.splitters import chunk_spans
from tests.support.offline_answers import sources_over
from tests.support.proof_sources import HANDBOOK, SAMPLE, hit, source
from tests.support.texts import TEXTS


@cache
def _cases(every: int = 6) -> list[Case]:
    """Each sentence's own words as the question, so that the answerer finds something to quote.

    Of ``every`` so many lines one is asked, at 0.15 s of a processor.
    """
    documents = ["", SAMPLE, HANDBOOK]
    cases = []
    for number, text in ((1, SAMPLE), (2, HANDBOOK)):
        spans = chunk_spans(text, 120, 20)
        hits = [hit(10 * number + n, text, *span) for n, span in enumerate(spans)]
        hits = [replace(each, document_id=number) for each in hits]
        sources = sources_of(hits, apart=2)
        read = sources_over(*(each.content for each in sources))
        for line in text.replace(". ", ".\n").splitlines()[::every]:
            answer = answer_of(Offered(line, read))
            if line and answer != REFUSAL:
                cases.append(Case(answer, sources, documents))
    return cases


@pytest.mark.parametrize(("every", "least"), [(6, 5), pytest.param(1, 37, marks=pytest.mark.soak)])
def test_every_quote_of_an_offline_answer_is_the_stored_bytes(every: int, least: int) -> None:
    cases = _cases(every)
    assert len(cases) >= least
    for case in cases:
        proof = prove(case.answer, case.sources)
        assert quotes_hold(proof, case)
        assert proof.ratio == 1, case.answer


def test_every_alteration_of_an_offline_answer_is_found() -> None:
    draw = random.Random(1)
    names = ["Warsaw", "Lindqvist", "Norway", "Switzerland", "European", "March"]
    cases = _cases()
    altered = [one for case in cases for _ in range(3) for one in alterations(case, names, draw)]
    assert {one.kind for one in altered} >= {"marker", "digit", "not inserted", "not removed"}
    heading = "Refund and shipping policy"  # it claims nothing
    missed = [(one.kind, one.quote) for one in altered if not _found(one)]
    assert [one for one in missed if one != ("marker", heading)] == []


def _found(one: Altered) -> bool:
    return any(each.problem for each in prove(one.answer, one.case.sources).statements)


@settings(max_examples=40)
@given(st.lists(TEXTS, min_size=1, max_size=3), st.data())
def test_any_answer_is_proved_with_exact_slices(texts: list[str], data: st.DataObject) -> None:
    sources = [source(n, text) for n, text in enumerate(texts, 1)]
    piece = st.sampled_from(texts).flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, 80)).map(
            lambda at: text[at[0] : at[0] + at[1]]
        )
    )
    marker = st.sampled_from(["[1]", " [2]", "[1, 3]", "[9]", ". [1] ", "\n", ""])
    parts = data.draw(st.lists(st.one_of(piece, TEXTS, marker), max_size=6))
    answer = "".join(parts)
    proof = prove(answer, sources)
    _is_sound(proof, answer, sources)


def _is_sound(proof: Proof, answer: str, sources: Sequence[Source]) -> None:
    position = 0
    for statement in proof.statements:
        assert position <= statement.start < statement.end <= len(answer)
        position = statement.end
        assert bool(statement.supports) == (statement.problem is None)
        for span in statement.supports:
            content = sources[span.n - 1].content
            assert span.n in statement.numbers
            assert 0 <= span.start < span.end <= len(content)
            assert span.quote == content[span.start : span.end]


# Each would take hours if anything in it were quadratic, and minutes at a fiftieth of the length.
_ENDLESS = (
    ("a", 1_000_000), ("no end ", 150_000), ("wört", 100_000), ("1", 200_000), ("1,", 200_000),
    ("[1]", 100_000), (".", 300_000), ("- ", 200_000), ("twenty ", 100_000), ("Aa ", 200_000),
    ("not ", 100_000), ("e\u0301", 200_000), ("שלום עולם. ", 20_000), ("👩‍👩‍👧 ", 50_000),
    ("退款", 100_000), ("\n", 300_000), ("**_`~", 50_000), ("| a ", 100_000), ("U.S.", 50_000),
)  # fmt: skip


@pytest.mark.parametrize("piece", _ENDLESS, ids=lambda piece: piece[0])
def test_endless_texts_are_safe(piece: tuple[str, int]) -> None:
    _is_safe(piece[0] * (piece[1] // 50), 4_000)


@pytest.mark.soak
@pytest.mark.parametrize("piece", _ENDLESS, ids=lambda piece: piece[0])
def test_truly_endless_texts_are_safe(piece: tuple[str, int]) -> None:
    _is_safe(piece[0] * piece[1], 80_000)


def _is_safe(text: str, longest: int) -> None:
    text += "x"
    for answer in (text[:longest], f"{text[:300]} [1]", "Refunds are accepted in 30 days. [1]"):
        _is_sound(prove(answer, [source(1, text)]), answer, [source(1, text)])
