"""Suggested questions: what tables, headings, limits and terms ask, each once, in turn."""

from __future__ import annotations

import pytest

from helix.domain.suggestions import Material, candidates
from helix.domain.tables import Cell, Table


def tabled(
    rows: tuple[tuple[str, ...], ...], column: tuple[str, ...], value: str = "$39,669"
) -> Material:
    text = " ".join([value] * len(rows))
    width = len(value) + 1
    cells = tuple(Cell(n, 0, n * width, n * width + len(value)) for n in range(len(rows)))
    table = Table(0, len(text), rows, (column,), cells)
    return Material(1, "Report", text, tables=(table,))


def questions(*materials: Material, most: int = 24) -> list[str]:
    return [one.question for one in candidates(materials, most)]


@pytest.mark.parametrize(
    ("row", "column", "subject"),
    [
        (("Total net sales",), ("Three Months Ended", "July 1, 2023"), "Total net sales"),
        (("Net sales:", "iPhone (1)"), ("2023",), "iPhone"),
        (("Hull",), ("2025",), "Hull"),
        (("Junior tutor",), ("Hours a week",), "Junior tutor"),
    ],
)
def test_a_row_with_a_number_asks_for_what_is_said_of_it(
    row: tuple[str, ...], column: tuple[str, ...], subject: str
) -> None:
    asked = questions(tabled((row,), column))
    assert asked == [f"What does “Report” say about {subject}?"]


def test_a_cells_question_knows_its_value_and_a_texts_none() -> None:
    [of_cell] = candidates([tabled((("Net loss",),), ("2023",), "$(39,669)")], 24)
    assert of_cell.is_met_by("Net loss: $(39,669) million, 2023 [1]")
    assert not of_cell.is_met_by("Other expense: (1,272) million, 2023 [1]")
    text = "Refunds are accepted within 30 days."
    assert candidates([Material(1, "Rules", text)], 1)[0].is_met_by("anything")


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [
        (("Team",), ("Price",), "on request"),
        ((), ("Price",), "$1"),
        (("12",), ("2023",), "$1"),
        (("x" * 70,), ("2023",), "$1"),
    ],
)
def test_what_is_no_number_of_something_asks_nothing(
    row: tuple[str, ...], column: tuple[str, ...], value: str
) -> None:
    assert questions(tabled((row,), column, value)) == []


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "Note. Refunds are accepted within 30 days of purchase.",
            "Within how many days are refunds accepted?",
        ),
        (
            "All invoices must be paid within thirty (30) business days.",
            "Within how many business days must all invoices be paid?",
        ),
        ("“Effective Date” means May 1.", "What does “Effective Date” mean?"),
    ],
)
def test_limits_and_terms_ask(text: str, question: str) -> None:
    assert questions(Material(1, "Policy", text)) == [question]


def test_documents_take_turns_and_a_question_is_asked_once() -> None:
    first = Material(1, "FAQ", "", headings=("May I return it?", "How long does it take?"))
    second = Material(2, "Old FAQ", "", headings=("may I return it?", "Who pays?"))
    found = candidates([first, second], 3)
    assert [(one.document_id, one.question) for one in found] == [
        (1, "May I return it?"),
        (1, "How long does it take?"),
        (2, "Who pays?"),
    ]


def test_a_heading_in_words_asks_what_is_said_of_it() -> None:
    headings = (
        "AMAZON.COM, INC.", "/s/ Anna Roe", "1 See “Measures” above.", "House rules",
        "Health and safety",
    )  # fmt: skip
    report = Material(1, "House rules", "", headings=headings)
    [asked] = candidates([report], 24)
    assert asked.question == "What does “House rules” say about Health and safety?"
    assert asked.heading == "Health and safety"


def test_a_question_that_is_a_heading_is_answered_under_it() -> None:
    [asked] = candidates([Material(1, "FAQ", "", headings=("May I return it?",))], 24)
    assert asked.heading == "May I return it?"
