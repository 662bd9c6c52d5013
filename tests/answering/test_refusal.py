"""Refusals: what is known is told, and the closest passages as the model got them."""

from __future__ import annotations

from datetime import UTC, datetime

from helix.answering.refusal import closest_passages, reason_text
from helix.domain.context import sources_of
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.retrieval import Retrieval, SearchSpace, Trace

SPACE = SearchSpace("offline", 0.7)
TEXTS = (
    "Costs rose. The lamp is made of brass. It is heavy.",
    "Lamps are sold in May.",
    "Chairs are not.",
)


def retrieval(*texts: str) -> Retrieval:
    hits = [
        Hit(n, n, f"Document {n}", "u", 0, text, 10, 10 + len(text), "", 0.4, 2, ("Goods",), "p 2")
        for n, text in enumerate(texts)
    ]
    return Retrieval(hits, GateDecision(True, 0.4), Trace(), SPACE, sources_of(hits), None)


def test_the_reason_says_what_is_known() -> None:
    found = retrieval(*TEXTS)
    question = "Who designed the lamp?"
    assert reason_text(question, found, None) is None
    assert reason_text(question, found, "model_refused") == (
        "2 passages mention lamp; none was judged to answer."
    )
    assert reason_text("Are chairs heavy, Norway?", retrieval(TEXTS[2]), "model_refused") == (
        "1 passage mentions chairs; it was not judged to answer."
    )
    several = retrieval("Presets of the compressor: none is set.", "A preset is a level.")
    assert reason_text("Which preset is taken if none is given?", several, "model_refused") == (
        "2 passages mention preset; none was judged to answer."
    )
    assert reason_text("Norway?", found, "below_gate") == (
        "3 passages came closest; none is near enough to the question."
    )
    assert reason_text(question, found, "no_documents") == "The library holds no documents."
    assert reason_text(question, found, "no_documents", datetime(2020, 1, 1, tzinfo=UTC)) == (
        "The library has no document that was there at 2020-01-01T00:00:00+00:00."
    )


def test_the_closest_open_at_their_best_sentence_with_the_question_s_words_marked() -> None:
    found = closest_passages("Who designed the lamp?", retrieval(*TEXTS), "model_refused")
    assert found is not None
    assert [each["chunk_id"] for each in found] == [0, 1, 2], "in the model's order"
    first = found[0]
    best = "The lamp is made of brass."
    start = 10 + TEXTS[0].index(best)
    assert (first["start"], first["end"]) == (start, start + len(best))
    assert [first["text"][slice(*mark)] for mark in first["marks"]] == ["lamp"]
    assert closest_passages("Who?", retrieval(*TEXTS), None) is None
    assert closest_passages("Who?", retrieval(*TEXTS), "ungrounded") == [], "it was withheld"


def test_one_that_probably_answers_is_told_apart_and_opens_there() -> None:
    text = "The lamp is sold in May. Anna Berg designed the lamp in 1931. It is heavy."
    question = "Who designed the lamp?"
    found = closest_passages(question, retrieval(*TEXTS, text), "model_refused") or []
    assert [each["likely"] for each in found] == [False, False, False, True]
    best = "Anna Berg designed the lamp in 1931."
    assert found[3]["start"] == 10 + text.index(best)
    back = closest_passages(question, retrieval(text), "underspecified") or []
    assert [each["likely"] for each in back] == [False], "what is asked about is not known"


def test_a_long_passage_is_told_around_its_best_sentence() -> None:
    filler = "Nothing is said here of it. " * 40
    text = f"{filler}The lamp is made of brass. {filler}"
    (only,) = closest_passages("Of what is the lamp made?", retrieval(text), "model_refused") or []
    assert "The lamp is made of brass." in only["text"]
    assert len(only["text"]) <= 240
