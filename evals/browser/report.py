"""A report of the questions asked in the browser, as Markdown and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from evals.browser.outcomes import Result
from evals.documents.question_outcomes import Place

_LONGEST = 300  # characters of an answer in the table


def markdown(results: Sequence[Result]) -> str:
    """The number of each outcome, and a row a question."""
    counts = Counter(one.outcome for one in results)
    told = ", ".join(f"{number} {name}" for name, number in counts.most_common())
    opened = sum(one.opened is not None for one in results)
    at_answer = sum(one.at_answer for one in results)
    lines = [
        f"{len(results)} questions: {told}. The reader opened on a page image with the quote's "
        f"box in view {opened} times, {at_answer} of them on a page that answers.",
        "",
        "| question | answer | outcome | reader opened at | marked there |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *map(_row, results)])


def _row(one: Result) -> str:
    cells = (one.question.question, one.answer, one.outcome, _place(one.opened), one.marked)
    return "| " + " | ".join(_cell(text) for text in cells) + " |"


def _cell(text: str) -> str:
    line = " ".join(text.split())
    short = line if len(line) <= _LONGEST else line[:_LONGEST].rpartition(" ")[0] + " …"
    return short.replace("|", "\\|")


def _place(opened: Place | None) -> str:
    return f"{opened[0]}, page {opened[1]}" if opened else ""


def to_json(results: Sequence[Result]) -> dict[str, Any]:
    """The same, with whole answers."""
    return {
        "version": 1,
        "results": [
            {
                "id": one.question.id,
                "question": one.question.question,
                "outcome": one.outcome,
                "answer": one.answer,
                "opened": list(one.opened) if one.opened else None,
                "at_answer": one.at_answer,
                "marked": one.marked,
            }
            for one in results
        ],
    }
