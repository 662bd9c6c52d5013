"""The outcome of an answer that was read in a browser, right, wrong or a refusal, by rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from evals.browser.visit import Shown
from evals.datasets.value_questions import ValueQuestion
from evals.documents.question_outcomes import Asked, Outcome, Place, outcome_of_statements
from evals.documents.values import Expected


@dataclass(frozen=True)
class Result:
    """A question, what was shown of its answer, and what the answer is.

    ``opened`` is where the reader opened: the file, and its page with the marked box in view; None
    where there is no such page.
    """

    question: ValueQuestion
    outcome: Outcome
    answer: str
    opened: Place | None
    marked: str

    @property
    def at_answer(self) -> bool:
        """True where the reader opened on a page that states what was asked for."""
        return self.opened in self.question.places


def judged(site: str, question: ValueQuestion, shown: Shown) -> Result:
    """The result of ``question`` from what the page showed, with documents' names from ``site``."""
    receipt = shown.receipt
    names = _names(site, {one["document_id"] for one in receipt["citations"]})
    cited = [(names[one["document_id"]], one["page"] or 0) for one in receipt["citations"]]
    opened = (cited[0][0], shown.page) if cited and shown.page is not None else None
    return Result(
        question, outcome(question, receipt, cited), receipt["answer"], opened, shown.marked
    )


def outcome(
    question: ValueQuestion, receipt: Mapping[str, Any], cited: Collection[Place]
) -> Outcome:
    """The outcome of the answer of a ``receipt``, one of six; the answer cites pages of files."""
    if receipt["abstained"]:
        return "refused"
    expected = Expected(question.numbers, question.spans, question.all)
    asked = Asked(question.id, question.question, expected, question.places)
    statements = receipt["support"]["statements"]
    said = [receipt["answer"][one["start"] : one["end"]] for one in statements]
    supported = all(one["supported"] and one["relevant"] is not False for one in statements)
    return outcome_of_statements(asked, said, supported, cited)


def _names(site: str, ids: set[int]) -> dict[int, str]:
    """File names of documents."""
    found: dict[int, str] = {}
    for number in ids:
        document = httpx.get(f"{site}/v1/documents/{number}", timeout=60).raise_for_status().json()
        found[number] = document["file_name"]
    return found
