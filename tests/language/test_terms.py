"""Terms: identifiers whole and in parts, words stemmed in the language that they are told to be."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.language.identification import ENGLISH, OTHERS, SIMPLE
from helix.language.terms import (
    STOP_WORDS,
    forms_elsewhere,
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


def test_what_has_no_stemmer_is_left_as_it_is() -> None:
    assert terms("die Waren", SIMPLE) == ["die", "waren"]


FRENCH = "Les congés sont accordés après un an de travail, et le salarié en choisit les dates."
SPANISH = "Los contratos se firman en la oficina y cada parte recibe una copia de los documentos."
JAPANESE = "契約は書面で終了できる。解約の予告期間は三か月である。" * 4


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "german"),
        (FRENCH, "french"),
        (SPANISH, "spanish"),
        (JAPANESE, SIMPLE),
        (ENGLISH_PROSE, ENGLISH),
        ("Ware 12", ENGLISH),
        ("Siemens, Bosch, Renault, Telefónica, Ikea, Nokia", ENGLISH),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("asked", "written", "language"),
    [
        ("Kündigungsfristen", "Kündigungsfrist", "german"),
        ("congés", "congé", "french"),
        ("contratos", "contrato", "spanish"),
        ("договоры", "договор", "russian"),
    ],
)
def test_other_forms_of_a_word_meet(asked: str, written: str, language: str) -> None:
    assert terms(asked, language) == terms(written, language)
    assert terms(asked, SIMPLE) != terms(written, SIMPLE)


_SOME = ["the", "it's", "Ware", "§ 3", "gpt-4", "é", "of,the", "退款", "x" * 50]


@given(st.lists(st.sampled_from(_SOME)).map(" ".join))
def test_english_is_told_by_the_share_of_function_words(text: str) -> None:
    found = words(text)
    share = sum(word in STOP_WORDS for word in found) / max(len(found), 1)
    if len(found) >= 30 and share >= 0.25:
        assert language_of(text) == ENGLISH
    assert language_of(text) != SIMPLE or (len(found) >= 30 and share < 0.12)


def test_function_words_of_a_questions_language_are_no_words_of_it() -> None:
    assert "die" not in question_words("Wie lang ist die Frist, und von wem wird sie gesetzt?")
    assert "die" in question_words("When did Otto von Bismarck die?")


def test_a_question_matches_either_language() -> None:
    assert list(question_words("What are the policies?")) == ["polici", "policies"]
    assert question_words("what is it") == {}


@given(st.text(max_size=300), st.sampled_from([ENGLISH, SIMPLE]))
def test_a_question_of_a_texts_own_words_finds_its_terms(text: str, language: str) -> None:
    asked = set(question_words(text))
    assert {term for term in terms(text, language) if term not in STOP_WORDS} <= asked


_FOREIGN = "Häuser congés días договоров iPhone-15 404b Straße's 中文字 2024年 nuits 1.5".split()


@given(st.lists(st.sampled_from(_FOREIGN)).map(" ".join), st.sampled_from(OTHERS))
def test_a_question_asks_for_its_words_in_every_language(text: str, language: str) -> None:
    own = question_words(text)
    further = [(term, word) for term, word, told in forms_elsewhere(text) if told == language]
    assert set(terms(text, language)) <= own.keys() | dict(further).keys()
    assert len(dict(further)) == len(further)
    assert not own.keys() & dict(further).keys()
    assert {word for _, word in further} <= set(own.values())


def test_a_term_of_two_languages_is_of_one_word() -> None:
    numbers: dict[str, set[int]] = {}
    for term, word, _ in forms_elsewhere("Die Frist der Fristen, les nuits de la nuit"):
        numbers.setdefault(term, set()).add(word)
    assert numbers and all(len(each) == 1 for each in numbers.values())


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
    st.sampled_from([ENGLISH, SIMPLE, "german", "turkish"]),
)
def test_counts_are_those_of_the_terms(text: str, language: str) -> None:
    assert list(term_counts(text, language).items()) == list(Counter(terms(text, language)).items())


def test_a_run_of_a_million_letters_is_read_once() -> None:
    # looked through from each of its letters it would keep a server busy for half an hour
    assert terms("x" * 1_000_000 + " AB-12", SIMPLE)[1:] == ["ab-12", "ab", "12"]
