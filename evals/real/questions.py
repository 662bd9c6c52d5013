"""The questions of a real run, drawn by a fixed seed, and what a right answer to each must say."""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.agent.comparisons import amounts, same_amount
from evals.cases import Case
from evals.datasets import load_squad
from evals.datasets.records import Question
from evals.documents.values import numbers
from evals.metrics.wording import forbidden_said, has_gold, keyword_coverage
from evals.suites import GOLDEN, ROOT, SEED, Suite, SuiteOptions, build_suite, write_documents
from helix.domain.scope import Scope

SQUAD, REPORTS = "squad2", "sec10q"
COUNTS = {"answerable": 70, "unanswerable": 30, "reports": 60}
"""Of SQuAD's questions by whether the articles answer them, and of those over sec10q's reports."""


@dataclass(frozen=True)
class RealQuestion:
    """A question of one suite, to be refused where ``case`` says so.

    ``figures`` are the amounts of the published answer, in units, where the suite is sec10q.
    """

    suite: str
    case: Case
    figures: tuple[float, ...] = ()

    @property
    def id(self) -> str:
        """Its name within its suite."""
        return self.case.id

    @property
    def scope(self) -> Scope:
        """The documents that it is asked of."""
        return self.case.scope.of(Suite(self.suite, ROOT, None, ()).tenant)

    def is_right(self, answer: str, *, abstained: bool) -> bool:
        """True where an answer says all that it must and nothing that it must not.

        A case of the golden set: all keywords and no forbidden word. One of SQuAD: one gold span,
        as whole words. One of sec10q: two of the published answer's amounts, or its only one. One
        that the documents do not answer: the refusal.
        """
        if abstained or self.case.refusal:
            return abstained == self.case.refusal
        if forbidden_said(answer, self.case.forbidden):
            return False
        if self.figures:
            return self._says_figures(answer)
        if self.case.golds:
            return bool(has_gold(answer, self.case.golds))
        return keyword_coverage(answer, self.case.keywords) in (None, 1)

    def _says_figures(self, answer: str) -> bool:
        said = [number.full for number in numbers(answer)]
        wanted = set(self.figures)
        found = {one for one in wanted if any(same_amount(other, one) for other in said)}
        return len(found) >= min(2, len(wanted))


@dataclass(frozen=True)
class RealSuite:
    """Documents to bring in, and the questions of them that are asked."""

    suite: Suite
    questions: Sequence[RealQuestion]


def load_suites(data: Path | None, folder: Path) -> list[RealSuite]:
    """The golden set, and with ``data`` SQuAD and sec10q; ``folder`` takes SQuAD's articles.

    Raises:
        CaseError: a set below ``data`` cannot be read.
    """
    golden = build_suite(GOLDEN, SuiteOptions(None, folder, 0))
    suites = [RealSuite(golden, [RealQuestion(GOLDEN, case) for case in golden.cases])]
    return suites if data is None else [*suites, _squad(data, folder), _reports(data)]


def shuffled(suites: Sequence[RealSuite]) -> list[RealQuestion]:
    """All questions in an order in which every beginning is a fair sample of them."""
    questions = [question for one in suites for question in one.questions]
    random.Random(SEED).shuffle(questions)
    return questions


def _squad(data: Path, folder: Path) -> RealSuite:
    articles = load_squad(data)
    shutil.rmtree(folder / articles.name, ignore_errors=True)
    write_documents(articles, folder / articles.name)
    numbered = list(enumerate(articles.questions))
    answerable = [one for one in numbered if one[1].spans]
    unanswerable = [one for one in numbered if not one[1].spans]
    chosen = _drawn(answerable, COUNTS["answerable"])
    chosen += _drawn(unanswerable, COUNTS["unanswerable"])
    questions = [RealQuestion(SQUAD, _squad_case(number, one)) for number, one in chosen]
    return RealSuite(Suite(SQUAD, folder, articles.name, ()), questions)


def _squad_case(number: int, question: Question) -> Case:
    return Case(
        id=f"{SQUAD}-{number}", question=question.text, refusal=not question.spans,
        golds=question.answers,
    )  # fmt: skip


def _drawn(numbered: Sequence[tuple[int, Question]], count: int) -> list[tuple[int, Question]]:
    return random.Random(SEED).sample(numbered, min(count, len(numbered)))


def _reports(data: Path) -> RealSuite:
    asked = list(_report_questions(data))
    chosen = random.Random(SEED).sample(asked, min(COUNTS["reports"], len(asked)))
    return RealSuite(Suite(REPORTS, data / REPORTS, "docs", ()), chosen)


def _report_questions(data: Path) -> Iterator[RealQuestion]:
    """The questions whose published answer has an amount."""
    path = data / REPORTS / "qna_data.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            if figures := tuple(amounts(row["Answer"].split("SOURCE")[0])):
                case = Case(id=f"{REPORTS}-{number}", question=row["Question"])
                yield RealQuestion(REPORTS, case, figures)
