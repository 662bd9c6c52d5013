"""Questions that a cell of a table answers: the right row, period, company and unit, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helix.answering.proof import prove
from helix.domain.context import Source
from helix.domain.contract import REFUSAL
from helix.domain.prompt import Beside, chat_messages
from helix.domain.relevance import SourcePlace
from tests.support.offline_answers import ask_of
from tests.support.report_rows import FLOWS, QUARRY, lines, report_sources

SOURCES = report_sources()


def ask(question: str, sources: Sequence[Source] = SOURCES) -> str:
    return ask_of(question, sources)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What was Orchard's lamp revenue in the quarter ended July 1, 2023?",
            "Lamps: $39,669 million, three months ended July 1, 2023 [1]",
        ),
        (
            "How much did lamp net sales come to in Q3 2023?",
            "Lamps: $39,669 million, three months ended July 1, 2023 [1]",
        ),
        (
            "What were Orchard's total net sales for the nine months ended June 25, 2022?",
            "Total net sales: $304,182 million, nine months ended June 25, 2022 [1]",
        ),
        (
            "How much did Orchard spend on R&D in the third quarter of fiscal 2023?",
            "Operating expenses › Research and development: 7,442 million,"
            " three months ended July 1, 2023 [2]",
        ),
        (
            "What was Orchard's diluted EPS for the quarter ended July 1, 2023?",
            "Earnings per share › Diluted: $1.26, three months ended July 1, 2023 [2]",
        ),
        (
            "What was the cost of sales of services in the quarter ended June 25, 2022?",
            "Cost of sales › Services: 5,589 million, three months ended June 25, 2022 [2]",
        ),
        (
            "What was Quarry's R&D in the quarter ended April 1, 2023?",
            "Research and development: 4,109 million, three months ended Apr 1, 2023 [4]",
        ),
        (
            "What was Quarry's net income in Q1 2023?",
            "Net income (loss): (2,768) million, three months ended Apr 1, 2023 [4]",
        ),
    ],
)
def test_a_cell_answers_and_is_proven(question: str, answer: str) -> None:
    assert ask(question) == answer
    assert [statement.problem for statement in prove(answer, SOURCES).statements] == [None]


@pytest.mark.parametrize(
    ("caption", "label", "value", "said"),
    [
        ("Sales (in thousands of pounds)", "Lamps", "27,915", "£27,915 thousand"),
        ("Sales (in thousands of pounds)", "Lamps", "(336)", "(336) thousand"),
        ("Sales (in thousands)", "Lamps", "27,915", "27,915 thousand"),
        ("Sales (Dollars in millions)", "Lamps sold, units", "15", "15 million"),
        ("Sales (Dollars in millions)", "Lamps", "€15", "€15 million"),
    ],
)
def test_a_sum_has_the_currency_that_its_table_is_in(
    caption: str, label: str, value: str, said: str
) -> None:
    rows = lines(caption, ["Year ended 31 December › 2025"], {label: value})
    place = SourcePlace("Orchard plc annual report, year ended 31 December 2025")
    answer = f"{label}: {said}, year ended 31 December 2025 [1]"
    sources = report_sources([(rows, place)])
    assert ask(f"What were the sales of {label.lower()} in 2025?", sources) == answer
    assert [statement.problem for statement in prove(answer, sources).statements] == [None]


@pytest.mark.parametrize(
    "question",
    [
        "What was Pebble's revenue in Q1 2023?",
        "What was Orchard's revenue in the quarter ended March 31, 2019?",
        "What was Quarry's lamp revenue?",
        "What was lamp revenue in Greater Bay?",
        "How many employees did Quarry plan to cut?",
        "Who is Orchard's chief executive officer?",
        "When was Orchard founded?",
        "What net loss did Quarry report in the quarter ended April 2, 2022?",
        "What was Quarry's unearned revenue in Q1 2023?",
    ],
)
def test_another_company_period_or_subject_is_refused(question: str) -> None:
    assert ask(question) == REFUSAL


def test_what_is_left_over_of_a_group_is_not_what_the_group_is_named_after() -> None:
    flows = report_sources([(FLOWS, QUARRY)])
    assert ask("What was Quarry's net income (loss) in Q1 2023?", flows) == REFUSAL
    asked = "What was Quarry's other expense (income), net, in Q1 2023?"
    assert "Other expense (income), net: (1,272) million" in ask(asked, flows)


def test_a_model_that_takes_nothing_beside_gets_the_prompt_alone() -> None:
    turn = chat_messages("lamps?", SOURCES)[-1]
    assert not turn.additional_kwargs
    beside = chat_messages("lamps?", SOURCES, beside=Beside("lamps?"))[-1]
    assert beside.content == turn.content


def table(*rows: str) -> list[Source]:
    return report_sources(
        [("\n".join(("Accounts of the mill (in thousands)", *rows)), SourcePlace())]
    )


YEARS = "Year Ended › March 31, 2019: {} | Year Ended › March 31, 2018: {}"


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        (
            "What was the milling income in 2018?",
            (f"Milling income | {YEARS.format('206,587', '254,127')}",),
            "Milling income: 254,127 thousand, year ended March 31, 2018 [1]",
        ),
        (
            "What were the other milling costs in 2018?",
            (
                f"Other milling costs | {YEARS.format('27', '33')}",
                f"Total other milling costs | {YEARS.format('166', '513')}",
            ),
            "Other milling costs: 33 thousand, year ended March 31, 2018 [1]",
        ),
        (
            "What is the fair value of the debt as of March 31, 2019?",
            ("Debt | March 31, 2019 › Carried at: 3,774 | March 31, 2019 › Fair value: 4,073",),
            "Debt: 4,073 thousand, March 31, 2019, Fair value [1]",
        ),
        (
            "What was the revenue from Ghent in 2018?",
            (
                "Revenue by town | Year 2019: $M | Year 2018: $M",
                "Ghent | Year 2019: 83 | Year 2018: 73",
            ),
            "Ghent: 73 thousand, year 2018 [1]",
        ),
        (
            "What were the operating leases for 2021?",
            ("2021 | Operating leases: 138 | Finance leases: 6",),
            "2021: 138 thousand, Operating leases [1]",
        ),
    ],
)
def test_the_cell_that_the_words_of_the_question_name(
    question: str, rows: Sequence[str], answer: str
) -> None:
    assert ask(question, table(*rows)) == answer


def test_two_tables_that_print_a_number_in_two_ways_agree() -> None:
    one = f"Mill › Income | {YEARS.format('$6,976', '$5,403')}"
    other = f"Income › Mill | {YEARS.format('6,976', '5,403')}"
    assert "6,976" in ask("What was the mill's income in 2019?", table(one) + table(other))
