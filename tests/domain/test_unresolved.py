"""What a turn speaks of that nothing names: asked back, and never where it was told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helix.domain.history import EarlierTurn, History
from helix.domain.records import Candidate, Hit
from helix.domain.unresolved import SPREAD, unresolved

ABOUT_LOANS = History((EarlierTurn("Who grants mortgages?", "The bank grants a loan of 5 years."),))
HIT = Hit(1, 1, "T", "t", 0, "x", 0, 1, "n", 0.2)


def _found(step: float) -> list[Candidate]:
    return [Candidate(replace(HIT, chunk_id=n), 1 - n * step, n + 1) for n in range(5)]


CLOSE, APART = _found(SPREAD / 5), _found(SPREAD)


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("What awards did this actor receive?", "actor"),
        ("Which papers does that insurance company ask for?", "insurance company"),
        ("How many crates did this captain order?", "captain"),
        ("Could this harbour pilot steer in winter?", "harbour pilot"),
        ("How long does this loan run?", None),
        ("An actor may apply; is this actor paid?", None),
        ("Is this about mortgages?", None),
        ("What about those?", None),
        ("Where is the factory that assembles the phone?", None),
        ("Which clerk that stamps passports is on duty?", None),
        ("Who signs that contract?", "contract"),
        ("Does it have to be paid back?", None),
    ],
)
def test_a_demonstrative_without_its_thing_is_asked_back(question: str, phrase: str | None) -> None:
    assert unresolved(question, ABOUT_LOANS, APART) == phrase


def test_a_document_that_was_put_to_the_conversation_is_the_thing() -> None:
    own = [replace(each, hit=replace(each.hit, attached=True)) for each in CLOSE]
    for question in ("Which language is spoken in the country?", "Who signed this contract?"):
        assert unresolved(question, ABOUT_LOANS, CLOSE) is not None
        assert unresolved(question, ABOUT_LOANS, own) is None
        assert unresolved(question, ABOUT_LOANS, [own[0], *CLOSE[1:]]) is None
        assert unresolved(question, ABOUT_LOANS, [CLOSE[0], *own[1:]]) is not None


def test_a_definite_thing_is_asked_back_only_where_passages_compete() -> None:
    question = "Which language is spoken in the country?"
    assert unresolved(question, ABOUT_LOANS, CLOSE) == "country"
    assert unresolved(question, ABOUT_LOANS, APART) is None
    assert unresolved(question, ABOUT_LOANS, CLOSE[:4]) is None
    assert unresolved(question, History(), CLOSE) is None, "a first question has no other way"
    assert unresolved("How long does the loan run?", ABOUT_LOANS, CLOSE) is None
