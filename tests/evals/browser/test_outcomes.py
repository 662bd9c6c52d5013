"""Questions asked in a browser: what an answer is by rule, what is told of it, what stops a run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.browser import __main__ as command
from evals.browser.outcomes import Result, outcome
from evals.browser.report import markdown, to_json
from evals.datasets.value_questions import natural_questions, value_questions

QUESTION = natural_questions()[0]
FILE, PAGE = QUESTION.document, QUESTION.pages[0]
RIGHT = "Greater China: 15,758 million, three months ended July 1, 2023 [1]"


def _receipt(text: str, supported: bool = True, relevant: bool | None = True) -> dict[str, Any]:
    """The parts of a receipt that are judged, of an answer with one statement."""
    statement = {"start": 0, "end": len(text), "supported": supported, "relevant": relevant}
    support = {"statements": [statement]}
    return {"answer": text, "abstained": False, "support": support, "citations": []}


@pytest.mark.parametrize(
    ("receipt", "page", "told"),
    [
        (_receipt(RIGHT), PAGE, "right"),
        (_receipt(RIGHT), PAGE + 20, "wrong page"),
        (_receipt("Greater China: 14,604 million [1]"), PAGE, "wrong yet supported"),
        (_receipt("Greater China: 14,604 million [1]", relevant=False), PAGE, "wrong"),
        (_receipt("Greater China: 14,604 million [1]", supported=False), PAGE, "wrong"),
        (_receipt("Greater China: 14,604 million [1]", relevant=None), PAGE, "wrong yet supported"),
        ({"abstained": True}, PAGE, "refused"),
    ],
)
def test_an_answer_is_judged_by_value_page_and_proof(
    receipt: dict[str, Any], page: int, told: str
) -> None:
    assert outcome(QUESTION, receipt, [(FILE, page)]) == told


def test_the_twenty_are_other_questions_than_the_sixty_each_with_a_place() -> None:
    twenty = natural_questions()
    assert len(twenty) == len({one.id for one in twenty}) == 20
    assert not {one.question for one in twenty} & {one.question for one in value_questions()}
    companies = Counter(one.document.removesuffix(".pdf")[-4:] for one in twenty)
    assert set(companies.values()) == {4}
    for one in twenty:
        assert bool(one.numbers) != bool(one.spans) and one.places, one.id


def test_the_report_counts_outcomes_and_where_the_reader_opened() -> None:
    right = Result(QUESTION, "right", RIGHT, (FILE, PAGE), "a | b")
    elsewhere = Result(QUESTION, "wrong", "word " * 200, (FILE, 1), "word")
    lines = markdown([right, elsewhere, Result(QUESTION, "refused", "No.", None, "")]).splitlines()
    assert lines[0].startswith("3 questions: 1 right, 1 wrong, 1 refused.")
    assert "2 times, 1 of them on a page that answers" in lines[0]
    assert lines[4].endswith(f"| right | {FILE}, page {PAGE} | a \\| b |")
    assert len(lines[5]) < 600 and " … |" in lines[5]
    told = to_json([right])["results"][0]
    assert json.loads(json.dumps(told))["opened"] == [FILE, PAGE] and told["at_answer"] is True


def test_a_run_that_cannot_be_made_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--data", str(tmp_path), "--question", "natural-99"]) == 2
    assert "no question has the id natural-99" in capsys.readouterr().err
    assert command.main(["--data", str(tmp_path)]) == 2
    assert "sec10q" in capsys.readouterr().err
