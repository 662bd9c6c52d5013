"""The gate's two signals: distance, and a chunk with every word of a question by identifier."""

from __future__ import annotations

from itertools import product

import pytest

from helix.domain.gate import GateDecision, LexicalMatch, decide, is_identifier

NAN = float("nan")
EXACT = LexicalMatch(words=2, identifiers=1, together=2)


@pytest.mark.parametrize(
    "word", ["404b", "§3", "covid-19", "foo_bar2", "001-36743", "36743", "10.1", "a.1.2"]
)
def test_an_identifier(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize("word", ["", "refund", "us-gaap", "1963", "12", "7", "1,000", "1,000.50"])
def test_a_word_a_year_or_a_count_is_none(word: str) -> None:
    assert not is_identifier(word)


@pytest.mark.parametrize("distances", [[0.9], [NAN], [NAN, 0.9], []])
def test_an_exact_match_passes_what_the_distance_refuses(distances: list[float]) -> None:
    decision = decide(distances, 0.7, EXACT)
    assert decision.passed and decision.by_name
    assert decision.best == decide(distances, 0.7).best


def test_the_distance_goes_first() -> None:
    assert decide([0.6], 0.7, EXACT) == GateDecision(passed=True, best=0.6)


@pytest.mark.parametrize(
    "lexical",
    [
        None,
        LexicalMatch(words=0, identifiers=0, together=0),  # function words only
        LexicalMatch(
            words=2, identifiers=0, together=2
        ),  # no rare identifier: near misses have these
        LexicalMatch(words=2, identifiers=1, together=1),  # the other is elsewhere, or nowhere
        LexicalMatch(words=1, identifiers=1, together=0),  # the identifier is not stored
    ],
)
def test_less_than_an_exact_match_changes_nothing(lexical: LexicalMatch | None) -> None:
    for distances in ([0.6], [0.9], [NAN], []):
        assert decide(distances, 0.7, lexical) == decide(distances, 0.7)


@pytest.mark.parametrize("distances", [[0.9], [NAN], []])
def test_documents_of_the_conversation_that_answer_pass_from_afar(distances: list[float]) -> None:
    decision = decide(distances, 0.7, answers=True)
    assert decision.passed and decision.by_evidence and not decision.by_name
    assert not decide([0.6], 0.7, answers=True).by_evidence, "the distance is enough"


def test_more_words_to_meet_never_admit_more() -> None:
    for words, identifiers, together in product(range(4), range(4), range(4)):
        if identifiers > words or together > words:
            continue
        more = decide([0.9], 0.7, LexicalMatch(words + 1, identifiers, together))
        assert not more.passed
        fewer_met = decide([0.9], 0.7, LexicalMatch(words, identifiers, max(together - 1, 0)))
        if fewer_met.passed:
            assert decide([0.9], 0.7, LexicalMatch(words, identifiers, together)).passed
