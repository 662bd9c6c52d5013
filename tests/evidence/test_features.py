"""Features of questions and units: what each column must see, whatever was learned of it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from helix.evidence.features import ANSWERS, question_features
from helix.evidence.words import words_of
from helix.language.sentences import Passage, units_of


def columns(name: str, question: str, *passages: Passage) -> list[float]:
    rows = question_features(question, passages, units_of(passages))
    assert rows.shape[1] == len(ANSWERS)
    return [round(float(value), 3) for value in rows[:, ANSWERS.index(name)]]


def test_an_identifier_that_a_unit_lacks_is_seen() -> None:
    codes = Passage("Code 505C means a full tank. Code 606D means an empty one.")
    assert columns("identifiers missing", "What is 606D?", codes) == [0.5, 0.0]
    assert columns("identifiers missing", "What is 707E?", codes) == [1.0, 1.0]


def test_a_number_is_met_by_itself_alone() -> None:
    years = Passage("It began in 1954. It ended in 1955.")
    assert columns("numbers met", "What happened in 1955?", years) == [0.0, 1.0]
    assert columns("numbers met nearby", "What happened in 1955?", years) == [1.0, 1.0]


def test_neighbours_are_of_the_same_passage() -> None:
    ends, begins = Passage("Kettles boil."), Passage("Pumps whirr.")
    assert columns("covered after", "pumps", ends, begins) == [0.0, 0.0]
    assert columns("covered after", "pumps", Passage("Kettles boil. Pumps whirr.")) == [1.0, 0.0]


def test_headings_meet_a_question() -> None:
    assert columns("covered by headings", "kettles", Passage("They boil.", "Kettles")) == [1.0]


def test_forms_of_a_word_meet() -> None:
    assert columns("covered exactly", "repaired", Passage("Repairs are free.")) == [1.0]


def test_words_of_scripts_without_spaces_are_pairs() -> None:
    assert [word.form for word in words_of("谁领导了 606D")] == ["谁领", "领导", "导了", "606d"]


@given(st.text(max_size=80), st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_text_has_features_that_are_numbers(question: str, text: str) -> None:
    passages = [Passage(text, question)]
    units = units_of(passages)
    rows = question_features(question, passages, units)
    assert rows.shape == (len(units), len(ANSWERS))
    assert all(text[unit.start : unit.end] == unit.text for unit in units)
    assert not (rows != rows).any()
