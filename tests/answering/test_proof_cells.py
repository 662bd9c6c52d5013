"""Statements about cells: the cell with its row, column and unit is proof, any other is none."""

from __future__ import annotations

import pytest

from helix.answering.proof import Statement, prove
from helix.domain.relevance import SourcePlace
from tests.support.report_rows import report_sources

SOURCES = report_sources()


def statement(claim: str) -> Statement:
    (found,) = prove(claim, SOURCES).statements
    return found


@pytest.mark.parametrize(
    ("claim", "quotes"),
    [
        (
            "Lamps: $39,669 million, three months ended July 1, 2023 [1]",
            [
                "Lamps | Three Months Ended › July 1, 2023: $39,669",
                "Net sales by category (in millions)",
            ],
        ),
        (
            "Orchard's lamp net sales were $39,669 million in the quarter ended July 1, 2023. [1]",
            [
                "Lamps | Three Months Ended › July 1, 2023: $39,669",
                "Net sales by category (in millions)",
            ],
        ),
        (
            "Earnings per share › Diluted: $1.26, three months ended July 1, 2023 [2]",
            ["Earnings per share › Diluted | Three Months Ended › July 1, 2023: $1.26"],
        ),
        (
            "Net income (loss): (2,768) million, three months ended Apr 1, 2023 [4]",
            [
                "Net income (loss) | Three Months Ended › Apr 1, 2023: (2,768)",
                "(In Millions, Except Per Share Amounts; Unaudited)",
            ],
        ),
    ],
)
def test_a_cell_is_supported_by_its_row_and_its_unit(claim: str, quotes: list[str]) -> None:
    found = statement(claim)
    assert found.problem is None
    assert [support.quote for support in found.supports] == quotes


def test_shares_are_counted_as_the_exception_says() -> None:
    shares = (
        "Shares used in computing › Diluted: 15,775,021 {}, three months ended July 1, 2023 [2]"
    )
    assert statement(shares.format("thousand")).problem is None
    assert statement(shares.format("million")).problem == "number"


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("Lamps: $39,668 million, three months ended July 1, 2023 [1]", "number"),
        ("Lamps: $40,665 million, three months ended July 1, 2023 [1]", "number"),
        ("Lamps: $39,669 million, three months ended June 25, 2022 [1]", "number"),
        ("Lamps: $39,669 million, nine months ended July 1, 2023 [1]", "number"),
        ("Lamps: $39,669 million, three months ended July 1, 2022 [1]", "number"),
        ("Lamps: $39,669 million, three months ended July 1, 2024 [1]", "number"),
        ("Lamps: $39,669 billion, three months ended July 1, 2023 [1]", "number"),
        ("Lamps: $39,669, three months ended July 1, 2023 [1]", "number"),
        ("Lamps: €39,669 million, three months ended July 1, 2023 [1]", "number"),
        ("Chairs: $39,669 million, three months ended July 1, 2023 [1]", "name"),
        ("Sofas: $39,669 million, three months ended July 1, 2023 [1]", "name"),
        ("Lamp shades: $39,669 million, three months ended July 1, 2023 [1]", "words"),
        ("Lamps: $39,669 million, three months ended July 1, 2023 [2]", "number"),
        ("Quarry's lamp net sales were $39,669 million in the quarter ended July 1, 2023 [1]",
         "words"),
        ("Services: 6,248 million, three months ended July 1, 2023 [2]", "name"),
        ("Net sales › Services: 6,248 million, three months ended July 1, 2023 [2]", "name"),
        ("Earnings per share › Diluted: $1.26 million, three months ended July 1, 2023 [2]",
         "number"),
        ("Earnings per share › Basic: $1.26, three months ended July 1, 2023 [2]", "name"),
        ("Net income (loss): 2,768 million, three months ended Apr 1, 2023 [4]", "number"),
        ("Greater Bay: 8 million, three months ended change [3]", "number"),
        ("Lamp net sales were not $39,669 million in the quarter ended July 1, 2023. [1]",
         "negation"),
    ],
)  # fmt: skip
def test_what_is_another_cell_s_is_not_supported(claim: str, problem: str) -> None:
    assert statement(claim).problem == problem


COUNTRIES = """Country: Bhutan | Capital: Thimphu | Largest city: Thimphu | Landlocked: yes
Country: Palau | Capital: Ngerulmud | Largest city: Koror | Landlocked: no | Isle: yes"""


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("Bhutan, Capital: Thimphu [1]", None),
        ("Palau, Largest city: Koror [1]", None),
        ("Bhutan, Landlocked: yes [1]", None),
        ("Palau, Capital: Koror [1]", "words"),
        ("Palau, Capital: Thimphu [1]", "words"),
        ("Palau, Landlocked: yes [1]", "words"),
        ("Capital: Thimphu [1]", "words"),
        ("Palau, no Isle: yes [1]", "words"),
        ("The largest city of Bhutan is also its capital: Thimphu [1]", "words"),
    ],
)
def test_a_cell_of_text_is_supported_by_its_row_and_its_column(
    claim: str, problem: str | None
) -> None:
    sources = report_sources([(COUNTRIES, SourcePlace("Countries"))])
    (found,) = prove(claim, sources).statements
    assert found.problem == problem
