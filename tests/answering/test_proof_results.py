"""Proof of statements that cite a tool's result: the sum itself, its numbers, and no word more."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from helix.answering.answer import long_citations
from helix.answering.proof import prove
from helix.answering.proof.model import NAME, NEGATION, NUMBER, WORDS
from helix.answering.proof.results import result_problem
from helix.domain.citations import cite
from helix.domain.context import Source, sources_of
from helix.domain.records import Hit, tool_hit
from helix.domain.tool_results import ToolResult, calculation, clock

ASKED = "What is 15% of 2,340?"
SUM = calculation("15% * 2,340")
NOW = clock(datetime(2026, 11, 24, 14, 5, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin")
FEE = "The standard fee is $2,340 a year. The other fee is $1,200."


def source_of(result: ToolResult) -> Source:
    (source,) = sources_of([tool_hit(result, 1)])
    return source


def passage(text: str) -> Source:
    hit = Hit(7, 3, "Fees", "fees.txt", 0, text, 100, 100 + len(text), "node", 0.2)
    (source,) = sources_of([hit])
    return source


@pytest.mark.parametrize("expression", ["15% * 2,340", "2340 * 0.15", "15 / 100 * 2,340"])
@pytest.mark.parametrize(
    "said",
    [
        "15% of 2,340 is 351", "351", "The answer is 351.", "351 is 15% of 2,340.",
        "**351**", "15% of 2,340 is 351.00",
    ],
)  # fmt: skip
def test_the_result_of_the_questions_numbers_is_borne_out(expression: str, said: str) -> None:
    assert result_problem(said, calculation(expression), ASKED) is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("15% of 2,340 is 350", NUMBER),
        ("14% of 2,340 is 351", NUMBER),
        ("2,340 is 15% of 351", NUMBER),
        ("15% of 351 is 2,340", NUMBER),
        ("15% of 2,340 is 351%", NUMBER),
        ("15% of 2,340 is 351 euros", NUMBER),
        ("15% of 2,340 = 350", NUMBER),
        ("15% of 2,340 is not 351", NEGATION),
        ("The fee is 351", WORDS),
        ("15% of 2,340 is 351, and refunds are free", WORDS),
        ("Refunds are free", NUMBER),
    ],
)
def test_another_number_order_unit_or_word_is_not(said: str, problem: str) -> None:
    assert result_problem(said, SUM, ASKED) == problem


def test_a_sum_over_numbers_that_nobody_gave_proves_nothing() -> None:
    invented = calculation("15% * 500")
    asked = "What is 15% of the revenue?"
    assert result_problem("15% of the revenue is 75", invented, asked) == NUMBER
    assert result_problem("is 75", invented, asked, "15% of the revenue of 500") is None


def test_a_result_that_leaves_out_a_number_of_the_question_is_not_the_answer() -> None:
    asked = "What is 15% of 2,340 plus 10?"
    assert result_problem("15% of 2,340 is 351", SUM, asked) is None
    assert result_problem("The answer is 351", SUM, asked) == NUMBER


def test_a_long_result_is_told_with_two_decimals_at_least() -> None:
    third, asked = calculation("10 / 3"), "What is 10 divided by 3?"
    assert result_problem("10 divided by 3 is 3.33", third, asked) is None
    assert result_problem("10 divided by 3 is 3.333", third, asked) is None
    assert result_problem("10 divided by 3 is 3.34", third, asked) == NUMBER
    assert result_problem("10 divided by 3 is 3", third, asked) == NUMBER


@pytest.mark.parametrize(
    "said",
    [
        "It is 14:05.", "It is 2:05 PM.", "The current time is 14:05 on Tuesday, 24 November 2026.",
        "Today is Tuesday.", "It is 14:05 in Berlin.",
    ],
)  # fmt: skip
def test_the_time_is_borne_out_however_it_is_written(said: str) -> None:
    assert result_problem(said, NOW, "What day and time is it today?") is None


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("It is 15:05.", NUMBER), ("It is 2:05 AM.", NUMBER), ("It is 14:05 in Paris.", NAME),
        ("Today is Wednesday.", NAME), ("It is not 14:05.", NEGATION),
        ("The shop opens at 14:05.", WORDS),
    ],
)  # fmt: skip
def test_another_time_day_or_place_is_not(said: str, problem: str) -> None:
    assert result_problem(said, NOW, "Is it Wednesday, 15:05, today?") == problem


def test_a_statement_is_proven_by_the_part_that_cites_the_result() -> None:
    sources = [passage(FEE), source_of(SUM)]
    asked = "What is 15% of the standard fee?"
    right = prove(
        "The standard fee is $2,340 [1], so 15% of it is $351 [2].", sources, question=asked
    )
    (statement,) = right.statements
    assert statement.problem is None and {one.n for one in statement.supports} == {1, 2}
    wrong = prove(
        "The standard fee is $1,200 [1], so 15% of it is $351 [2].", sources, question=asked
    )
    assert wrong.statements[0].problem is not None


def test_a_citation_of_a_result_has_a_kind_and_no_ids_and_none_on_ask() -> None:
    sources = [source_of(SUM)]
    proof = prove("15% of 2,340 is 351 [1].", sources, question=ASKED)
    (span,) = proof.to_json()["statements"][0]["spans"]
    assert span["quote"] == SUM.text
    assert {span[key] for key in ("chunk_id", "document_id", "start", "end")} == {None}
    (cited,) = long_citations("15% of 2,340 is 351 [1].", sources, proof)
    assert (cited["kind"], cited["title"], cited["quote"]) == (
        "calculation",
        "Calculation",
        SUM.text,
    )
    assert cited["chunk_id"] is cited["document_id"] is cited["start"] is cited["end"] is None
    assert cite("15% of 2,340 is 351 [1].", [source.hit for source in sources]) == []


def test_a_result_bears_out_a_statement_without_a_marker_as_strictly() -> None:
    def found(said: str, result: ToolResult, asked: str) -> tuple[int, ...]:
        (statement,) = prove(said, [source_of(result)], question=asked, looks_up=True).statements
        return statement.numbers

    assert found("15% of 2,340 is 351.", SUM, ASKED) == (1,)
    assert found("15% of 2,340 is 352.", SUM, ASKED) == ()
    assert found("15% of 500 is 75.", calculation("15% * 500"), "What is 15% of it?") == ()
