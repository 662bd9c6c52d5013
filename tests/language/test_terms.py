"""Terms: identifiers whole and in parts, English stemmed, other languages left as they are."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.language.terms import (
    ENGLISH,
    SIMPLE,
    STOP_WORDS,
    language_of,
    question_words,
    term_counts,
    terms,
)
from helix.language.words import words
from helix.storage.packed_terms import LEVELS, key_of, slot_of, term_row

GERMAN = (
    "Die Frist beginnt mit dem Tag, an dem die Ware beim Käufer eintrifft. Wer sie zurückgibt, hat"
    " den Kaufpreis nach § 3 Absatz 2 zurück zu erhalten, wenn nichts anderes vereinbart ist. Das"
    " gilt auch für Waren, die der Käufer geöffnet hat, solange er sie nicht mehr als nötig nutzt."
)
ENGLISH_PROSE = (
    "The period begins with the day on which the goods arrive at the buyer. Whoever returns them is"
    " to be given the price back under section 3, if nothing else was agreed. This holds for goods"
    " that the buyer has opened too, as long as they are used no more than is needed for that."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("under § 3 Absatz 2", ["§3", "absatz", "2"]),
        ("error 404B", ["error", "404b"]),
        ("call foo_bar()", ["call", "foo", "bar", "foo_bar"]),
        ("see A.1.2", ["see", "1.2", "a.1.2"]),
        ("GPT-4 models", ["gpt-4", "model", "gpt", "4"]),
        ("and/or well-known", ["well", "known"]),
        ("the buyer's policies", ["buyer", "polici"]),
        ("", []),
    ],
)
def test_terms_of_english(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_what_is_not_english_is_left_as_it_is() -> None:
    assert terms("die Waren", SIMPLE) == ["die", "waren"]


@pytest.mark.parametrize(
    ("text", "language"), [(GERMAN, SIMPLE), (ENGLISH_PROSE, ENGLISH), ("Ware 12", ENGLISH)]
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


_SOME = ["the", "it's", "Ware", "§ 3", "gpt-4", "é", "of,the", "退款", "x" * 50]


@given(st.lists(st.sampled_from(_SOME)).map(" ".join))
def test_the_language_is_told_by_the_share_of_function_words(text: str) -> None:
    found = words(text)
    share = sum(word in STOP_WORDS for word in found) / max(len(found), 1)
    assert (language_of(text) == ENGLISH) == (len(found) < 30 or share >= 0.12)


def test_a_question_matches_either_language() -> None:
    assert list(question_words("What are the policies?")) == ["polici", "policies"]
    assert question_words("what is it") == {}


@given(st.text(max_size=300), st.sampled_from([ENGLISH, SIMPLE]))
def test_a_question_of_a_texts_own_words_finds_its_terms(text: str, language: str) -> None:
    asked = set(question_words(text))
    assert {term for term in terms(text, language) if term not in STOP_WORDS} <= asked


@given(st.lists(st.sampled_from("abcdefgh"), max_size=60))
def test_rows_hold_every_term_at_every_level(found: list[str]) -> None:
    length, keys, impacts = term_row(Counter(found))
    assert length == len(found) and len(set(keys)) == len(keys)
    assert list(impacts) == sorted(impacts)
    for term in set(found):
        levels = [level for level, least in enumerate(LEVELS) if found.count(term) >= least]
        assert {key_of(term) + level for level in levels} <= set(keys)
        assert 0 < impacts[slot_of(key_of(term))] < 1


_PIECES = (
    "1,2.5 2.5 gpt-4 GPT-4-5 x1.5 the the's running runs a_b foo.bar1 ’ é e\u0301 Straße isn't n't"
    " and/or 3 § . , / - _ 中文字 's 'twas İ \u2011 : ( ) ;"
).split()


@given(
    st.lists(st.sampled_from([*_PIECES, " ", " ", ", ", ". ", "\n"]), max_size=30).map("".join)
    | st.text(max_size=100),
    st.sampled_from([ENGLISH, SIMPLE]),
)
def test_counts_are_those_of_the_terms(text: str, language: str) -> None:
    assert list(term_counts(text, language).items()) == list(Counter(terms(text, language)).items())


def test_a_run_of_a_million_letters_is_read_once() -> None:
    # looked through from each of its letters it would keep a server busy for half an hour
    assert terms("x" * 1_000_000 + " AB-12", SIMPLE)[1:] == ["ab-12", "ab", "12"]
