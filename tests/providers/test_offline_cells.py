"""Questions that a cell of a table answers: the right row, period, company and unit, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helix.answering.proof import prove
from helix.contract import REFUSAL
from helix.domain.context import Source
from helix.domain.prompt import chat_messages
from helix.domain.source_place import SourcePlace
from helix.providers.offline.answerer import OfflineLLM
from tests.support.report_rows import FLOWS, QUARRY, lines, report_sources

SOURCES = report_sources()


def ask(question: str, sources: Sequence[Source] = SOURCES) -> str:
    places = [source.place for source in sources]
    return OfflineLLM().chat(chat_messages(question, sources, places)).message.content or ""


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
            "By what percentage did net sales in Greater Bay change?",
            "Greater Bay: 8%, three months ended Change [3]",
        ),
        (
            "What was Quarry's R&D expense in the quarter ended April 1, 2023?",
            "Research and development: 4,109 million, three months ended Apr 1, 2023 [4]",
        ),
        (
            "What was Quarry's net income in Q1 2023?",
            "Net income (loss): (2,768) million, three months ended Apr 1, 2023 [4]",
        ),
        (
            "What net loss did Quarry report in its latest 10-Q?",
            "Net income (loss): (2,768) million, three months ended Apr 1, 2023 [4]",
        ),
        (
            "What was Orchard's revenue from rugs?",
            "Rugs, Shelves and Hooks: 8,284 million, three months ended July 1, 2023 [1]",
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


def test_a_model_that_does_not_read_places_gets_the_prompt_alone() -> None:
    turn = chat_messages("lamps?", SOURCES)[-1]
    assert not turn.additional_kwargs
    placed = chat_messages("lamps?", SOURCES, [source.place for source in SOURCES])[-1]
    assert placed.content == turn.content
