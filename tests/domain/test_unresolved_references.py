"""References of a turn that nothing names: asked back, and never where it was told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from helix.domain.history import EarlierTurn, History
from helix.domain.records import Candidate, Hit
from helix.domain.unresolved_references import SPREAD, unnamed, unresolved, which

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
        ("Is this free for all members?", None),
        ("Is that animal from Norway?", "animal"),
        ("Does this kind of paint dry in the sun?", None),
        ("Is this captain's ship insured?", "captain"),
        ("Was this harbour recently repaired?", "harbour"),
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


def _of_several_documents(found: list[Candidate]) -> list[Candidate]:
    return [
        replace(each, hit=replace(each.hit, document_id=place)) for place, each in enumerate(found)
    ]


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Which awards did the actor receive?", "actor"),
        ("What is the animal's breed?", "animal"),
        ("How has the Prime Minister's role changed?", "Prime Minister"),
        ("Which awards did the actor who played Hamlet receive?", None),
        ("Which awards did the first actor receive?", None),
        ("Who won the championship in 1998?", None),
        ("How large is the city of Bergen?", None),
        ("How large is the largest city?", None),
        ("What does the Danish author say?", None),
        ("An actor may apply; is the actor paid?", None),
        ("Where is the office?", None),
    ],
)
def test_one_of_many_is_asked_back_where_several_documents_were_found(
    question: str, phrase: str | None
) -> None:
    assert unresolved(question, History(), _of_several_documents(APART)) == phrase
    assert unresolved(question, History(), APART) is None, "of one document"


def test_what_only_an_answer_of_long_ago_said_is_not_told() -> None:
    long_ago = History((*ABOUT_LOANS.turns, EarlierTurn("Who pays?", "The debtor does.")))
    assert unresolved("How long does this loan run?", ABOUT_LOANS, APART) is None
    assert unresolved("How long does this loan run?", long_ago, APART) == "loan"
    asked = History((EarlierTurn("What is a loan?", "Money."), *long_ago.turns))
    assert unresolved("How long does this loan run?", asked, APART) is None


def test_a_pronoun_is_asked_back_where_what_competes_is_of_something_else() -> None:
    on_topic = [
        replace(each, hit=replace(each.hit, content="The bank grants mortgages.")) for each in CLOSE
    ]
    for question in ("Did it win an award?", "How can we enhance its value?"):
        assert unresolved(question, ABOUT_LOANS, CLOSE) in ("it", "its")
        assert unresolved(question, ABOUT_LOANS, on_topic) is None
        assert unresolved(question, ABOUT_LOANS, APART) is None
        assert unresolved(question, History(), CLOSE) is None


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What did the actor say?", "actor"),
        ("Did it win an award?", "it"),
        ("Are they safer than bonds?", "they"),
        ("Is it possible to pay by card?", None),
        ("Does the policy say what it covers?", None),
        ("Where is the office?", None),
    ],
)
def test_what_a_refused_turn_does_not_name(question: str, thing: str | None) -> None:
    assert unnamed(question, ABOUT_LOANS) == thing


def test_the_question_back_asks_which_thing_is_meant() -> None:
    assert which("actor") == "Which actor do you mean?"
    assert which("its") == 'What do you mean by "its"?'
