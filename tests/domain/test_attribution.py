"""Citations of joined sources: the chunk named is the one that has what the answer says."""

from __future__ import annotations

import pytest

from helix.answering.answer import long_citations, short_snippet
from helix.domain.citations import attribute_citations, claims
from helix.domain.context import sources_of
from helix.domain.contract import LONGEST_SNIPPET_CHARS
from helix.domain.records import Hit

TEXT = (
    "Refunds are accepted within 30 days of purchase. Bring the receipt."
    " Shipping takes four days. Gift cards cannot be refunded."
)


def _hit(number: int, start: int, end: int) -> Hit:
    return Hit(number, 1, "Policy", "p.txt", number, TEXT[start:end], start, end, f"n{number}", 0.1)


def _hits() -> tuple[Hit, Hit]:
    middle = TEXT.index("Bring")
    return _hit(1, 0, TEXT.index("Shipping") - 1), _hit(2, middle, len(TEXT))


@pytest.mark.parametrize("best_first", [True, False])
@pytest.mark.parametrize(
    ("answer", "chunk"),
    [
        ("Refunds are accepted within 30 days of purchase. [1]", 1),
        ("Gift cards cannot be refunded. [1]", 2),
        ("You have 30 days [1].", 1),
        ("It takes four days to arrive [1][1].", 2),
    ],
)
def test_the_chunk_with_the_words_of_the_claim_is_named(
    answer: str, chunk: int, best_first: bool
) -> None:
    hits = _hits() if best_first else tuple(reversed(_hits()))
    sources = sources_of(hits, apart=0)
    assert len(sources) == 1 and len(sources[0].hits) == 2
    assert [hit.chunk_id for hit in attribute_citations(answer, sources)] == [chunk]


def test_what_both_have_is_the_more_relevant_ones() -> None:
    for hits in (_hits(), tuple(reversed(_hits()))):
        (found,) = attribute_citations("Bring the receipt. [1]", sources_of(hits, apart=0))
        assert found == hits[0]


def test_a_source_that_is_not_cited_has_its_best_hit() -> None:
    hits = _hits()
    assert attribute_citations("Nothing is cited.", sources_of(hits, apart=0)) == [hits[0]]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("A. [1] B. [2]", {1: ["A. "], 2: [" B. "]}),
        ("A [1][2].", {1: ["A "], 2: ["A "]}),
        ("A [1, 2] B [1]", {1: ["A ", " B "], 2: ["A "]}),
        ("no marker", {}),
        ("[3]", {3: [""]}),
    ],
)
def test_claims(answer: str, expected: dict[int, list[str]]) -> None:
    assert claims(answer) == expected


def test_a_citation_quotes_the_first_span_inside_the_chunk_it_names() -> None:
    sources = sources_of(_hits(), apart=0)
    first, last = "Refunds are accepted within 30 days. [1]", "Gift cards cannot be refunded. [1]"
    for answer, quote in (
        (f"{first} {last}", "Refunds are accepted within 30 days of purchase."),
        (f"{last} {first}", "Gift cards cannot be refunded."),
    ):
        (citation,) = long_citations(answer, sources)
        assert citation["quote"] == quote == TEXT[citation["start"] : citation["end"]]
        (hit,) = (hit for hit in sources[0].hits if hit.chunk_id == citation["chunk_id"])
        assert quote in hit.content


def test_a_snippet_begins_with_the_quote() -> None:
    sources = sources_of(_hits(), apart=0)
    (citation,) = long_citations("Gift cards cannot be refunded. [1]", sources)
    assert citation["snippet"].lstrip("…").startswith("Gift cards cannot be refunded.")
    (hit,) = (hit for hit in sources[0].hits if hit.chunk_id == citation["chunk_id"])
    assert citation["snippet"].startswith("…") == (not hit.content.startswith("Gift cards"))


@pytest.mark.parametrize(("lead", "whole"), [(0, True), (15, True), (21, False)])
def test_a_snippet_of_ask_begins_with_its_chunk_and_has_the_sentence_where_it_reaches(
    lead: int, whole: bool
) -> None:
    sentence = "Gift cards cannot be refunded."
    text = "Bring a receipt. " + "Mind it. " * lead + sentence + " It is so." * 20
    hit = Hit(1, 1, "Policy", "p.txt", 1, text, 40, 40 + len(text), "n1", 0.1)
    told = short_snippet(hit, 40 + text.index(sentence) + len(sentence))
    assert text.startswith(told.removesuffix("…"))
    assert (sentence in told) == whole and len(told) <= LONGEST_SNIPPET_CHARS + 1


def test_a_citation_that_no_statement_rests_on_has_no_quote() -> None:
    (citation,) = long_citations("Refunds are accepted within 90 days. [1]", sources_of(_hits()))
    assert (citation["quote"], citation["start"], citation["end"]) == (None, None, None)
    assert citation["snippet"]
