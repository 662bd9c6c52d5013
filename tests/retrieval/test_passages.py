"""The excerpt that a plain search shows of a passage: the words hit, and their sentence."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.retrieval.passages import SNIPPET_CHARS, _best_sentence, _snippet, marks

TEXT = "Shipping is free. Refunds are accepted within 30 days. We refund the card that paid."


def hit(text: str, query: str, last: str = "") -> list[str]:
    return [text[start:end] for start, end in marks(text, query, last)]


def test_words_are_hit_by_their_stems_and_while_they_are_typed() -> None:
    assert hit(TEXT, "refund days") == ["Refunds", "days", "refund"]
    assert hit(TEXT, "ship", "ship") == ["Shipping"]
    assert hit(TEXT, "sh", "sh") == []
    assert hit(TEXT, "the of") == []


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("未休的年假应在次年休完。", "年假", ["年假"]),
        ("通信費として月額を支給する。", "通信費", ["通信費"]),
        ("Umsatz 1.310.200,00 €", "1.310.200,00", ["1.310.200,00"]),
        ("a total of 1,234.5 euros", "1,234.5", ["1,234.5"]),
        (unicodedata.normalize("NFD", "Schönhauser Straße"), "Schönhauser", ["Scho\u0308nhauser"]),
    ],
)
def test_marks_are_whole_words_of_every_script(text: str, query: str, expected: list[str]) -> None:
    assert hit(text, query) == expected


def test_the_sentence_with_most_of_the_words_is_shown() -> None:
    hits = marks(TEXT, "refund days")
    first, end = _best_sentence(TEXT, hits)
    assert TEXT[first:end] == "Refunds are accepted within 30 days."
    snippet, shown = _snippet(TEXT, first, hits)
    assert snippet.startswith("…Refunds are accepted")
    assert [snippet[start:stop] for start, stop in shown] == ["Refunds", "days", "refund"]


def test_a_heading_is_shown_without_its_marks() -> None:
    text = "# Terms\n\n## Refunds\nA refund takes #3 days."
    snippet, shown = _snippet(text, 0, marks(text, "refund"))
    assert " ".join(snippet.split()) == "Terms Refunds A refund takes #3 days."
    assert [snippet[start:stop] for start, stop in shown] == ["Refunds", "refund"]


@given(st.text("ab 🦓.#\n", max_size=900), st.sampled_from(["ab", "a b", "🦓"]))
def test_marks_are_the_characters_that_were_hit(text: str, query: str) -> None:
    hits = marks(text, query)
    first, end = _best_sentence(text, hits)
    assert 0 <= first <= end <= len(text)
    snippet, shown = _snippet(text, first, hits)
    assert len(snippet) <= SNIPPET_CHARS + 42
    words = {text[start:stop] for start, stop in hits}
    assert {snippet[start:stop] for start, stop in shown} <= words
