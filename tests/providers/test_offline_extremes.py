"""Questions for the greatest, the least or what is below a number: cells compared, or nothing."""

from __future__ import annotations

import pytest

from helix.answering.proof.cells import Rows
from helix.domain.contract import REFUSAL
from helix.providers.offline.extremes import asks_for_extreme, extreme_of
from tests.support.offline_answers import ask_over, sources_over

YEAR = "Year Ended December 31, › "


def row(label: str, *values: str) -> str:
    years = ("2019", "2018", "2017")
    named = (f"{YEAR}{year}: {value}" for year, value in zip(years, values, strict=False))
    return " | ".join([label, *named])


TABLE = "\n".join(
    [
        "Revenue by segment (in thousands)",
        row("Cloud", "5,000", "6,000", "3,000"),
        row("Devices", "2,000", "1,000", "3,500"),
        row("Total revenue", "7,000", "7,000", "6,500"),
    ]
)
TWO_KINDS = "\n".join(
    ["Results by segment (in thousands)", row("Revenue", "9", "8"), row("Cost", "7", "6")]
)


def ask(question: str, text: str = TABLE) -> str:
    return ask_over(question, text)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("In which year was Cloud revenue the largest?",
         "Cloud: 6,000 thousand, year ended December 31, 2018, the highest of 3 periods [1]"),
        ("When was Devices revenue highest?",
         "Devices: 3,500 thousand, year ended December 31, 2017, the highest of 3 periods [1]"),
        ("Which year had the lowest cloud revenue?",
         "Cloud: 3,000 thousand, year ended December 31, 2017, the lowest of 3 periods [1]"),
        ("Which segment had the largest revenue in 2017?",
         "Devices: 3,500 thousand, year ended December 31, 2017, the highest of 2 rows [1]"),
        ("Which segment had the least revenue in 2018?",
         "Devices: 1,000 thousand, year ended December 31, 2018, the lowest of 2 rows [1]"),
    ],
)  # fmt: skip
def test_the_cell_that_the_comparison_finds_answers_and_is_proved(
    question: str, answer: str
) -> None:
    assert ask(question) == answer
    proof = Rows(TABLE, "").prove(answer.removesuffix(" [1]"))
    assert proof is not None
    assert proof.problem is None


def test_a_total_beside_the_periods_is_no_rival_of_the_one_asked_for() -> None:
    names = ("Q1 2024", "Q2 2024", "Total")
    rows = {"Hulls": (4, 9, 13), "Engines": (5, 8, 13), "Services": (3, 3, 6)}
    text = "\n".join(
        " | ".join(
            [f"Segment: {label}", *(f"{n}: {v}" for n, v in zip(names, values, strict=True))]
        )
        for label, values in rows.items()
    )
    answer = "Hulls: 9, Q2 2024, the highest of 3 rows [1]"
    question = "Which segment was highest in Q2 2024?"
    assert ask(question, text).startswith(answer)
    copies = sources_over(*(f"{text}\n\n{number}" for number in range(12)))
    assert extreme_of(question, copies) == (0, answer.removesuffix(" [1]"))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("In which year was total revenue the highest?", TABLE),  # two years are equal
        ("Which segment had the largest revenue in 2019?", TWO_KINDS),  # no parts of one total
        ("In which year was Cloud revenue from abroad the largest?", TABLE),
        ("In which year was Cloud revenue largest?", TABLE.replace("3,000", "—")),
    ],
)
def test_nothing_is_said_where_the_comparison_is_not_clear(question: str, text: str) -> None:
    assert "highest" not in ask(question, text)
    assert ask(question, text) == REFUSAL


@pytest.mark.parametrize(
    "claim",
    [
        "Cloud: 5,000 thousand, year ended December 31, 2019, the highest of 3 periods",
        "Cloud: 6,000 thousand, year ended December 31, 2018, the highest of 4 periods",
        "Cloud: 5,000 thousand, year ended December 31, 2019, the lowest of 2 rows",
    ],
)
def test_a_false_comparison_is_not_proved(claim: str) -> None:
    proof = Rows(TABLE, "").prove(claim)
    assert proof is not None
    assert proof.problem is not None


def test_other_questions_compare_nothing() -> None:
    assert not asks_for_extreme("What was revenue in 2019?")
    assert not asks_for_extreme("")


PLANTS = "Plant: {} | Country: {} | Employees: {}"


def test_a_row_that_was_compared_with_no_other_is_no_answer() -> None:
    lines = [PLANTS.format(*one) for one in (("Oslo", "Norway", "172"), ("Tartu", "Estonia", "96"))]
    question = "Which plant in Norway is the biggest of all plants?"
    assert ask(question, "\n".join(lines)) == REFUSAL
    told = "\n".join([*lines, PLANTS.format("Largest plant in Norway", "Norway", "172")])
    assert "172" in ask("How many employees has the largest plant in Norway?", told)
