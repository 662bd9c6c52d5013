"""Suites: the golden set over ``samples/``, and the public question sets as cases over files."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.cases import CASES, Case, CaseError, Passage, load_cases
from evals.datasets import load_covidqa, load_scifact, load_squad
from evals.datasets.records import Question, QuestionSet
from evals.datasets.sec10q import load_report_questions

ROOT = Path(__file__).parent.parent
GOLDEN = "golden"
OTHER = "cases"
"""Other cases over samples/."""
STORED = "stored"
"""Cases over what a tenant has stored."""
SEED = 5


@dataclass(frozen=True)
class Suite:
    """The documents to ingest, and the questions to ask then.

    ``path`` is as the ingest is given it, in ``base``; None: the documents of ``tenant`` are stored
    already. Without a tenant it has one of its own, for a run may share a database.
    """

    name: str
    base: Path
    path: str | None
    cases: Sequence[Case]
    of: str | None = None

    @property
    def tenant(self) -> str:
        """The tenant whose documents are asked."""
        return self.of or f"evals-{self.name}"

    @property
    def sources(self) -> list[str]:
        """The source_uris that its cases name."""
        return sorted({passage.source for case in self.cases for passage in case.passages})


@dataclass(frozen=True)
class SuiteOptions:
    """The options of a suite: ``data`` holds the public sets, ``folder`` the files written for it.

    ``limit`` is how many questions of a kind are taken, at random but the same each time.
    """

    data: Path | None
    folder: Path
    limit: int
    cases: Path = CASES

    def some(self, cases: Sequence[Case]) -> list[Case]:
        """At most ``limit`` of them, in their order."""
        places = random.Random(SEED).sample(range(len(cases)), min(self.limit, len(cases)))
        return [cases[place] for place in sorted(places)]

    def public(self) -> Path:
        """The folder of the public sets; raises CaseError where none was given or it is not one."""
        if self.data is None:
            raise CaseError("this suite reads a public set: say where with --data DIR")
        if not self.data.is_dir():
            raise CaseError(f"{self.data} is no folder: give the public sets' with --data DIR")
        return self.data


def stored_suite(cases: Path, tenant: str) -> Suite:
    """Cases over what a tenant has stored, such as those of ``evals.from_feedback``."""
    return Suite(STORED, ROOT, None, load_cases(cases), tenant)


def build_suite(name: str, options: SuiteOptions) -> Suite:
    """The suite of SUITES that has this name.

    Raises:
        CaseError: its cases or its public set cannot be read.
    """
    try:
        return SUITES[name](options)
    except OSError as error:
        file = Path(str(error.filename)).name
        raise CaseError(f"{file} cannot be read: --data is to have the set {name}") from None
    except (ValueError, KeyError, TypeError, IndexError):
        raise CaseError(f"a file of the set {name} is malformed: bring it again") from None


def _golden(options: SuiteOptions) -> Suite:
    name = GOLDEN if options.cases.resolve() == CASES.resolve() else OTHER
    return Suite(name, ROOT, "samples", load_cases(options.cases))


def _squad(options: SuiteOptions) -> Suite:
    return _spans(options, load_squad(options.public()), load_covidqa(options.public()))


def _covidqa(options: SuiteOptions) -> Suite:
    return _spans(options, load_covidqa(options.public()), load_squad(options.public()))


def _scifact(options: SuiteOptions) -> Suite:
    return _spans(options, load_scifact(options.public()), None)


def _spans(options: SuiteOptions, own: QuestionSet, other: QuestionSet | None) -> Suite:
    """A set as files of plain text; ``other`` lends questions that these do not answer."""
    sources = write_documents(own, options.folder / own.name)
    numbered = [(f"{own.name}-{number}", question) for number, question in enumerate(own.questions)]
    cases = options.some([_covered(i, q, sources) for i, q in numbered if q.spans])
    cases += options.some([_uncovered(i, q, "near-miss") for i, q in numbered if not q.spans])
    if other:
        asked = [q for q in other.questions if q.spans]
        foreign = [_uncovered(f"{other.name}-{n}", q, "foreign") for n, q in enumerate(asked)]
        cases += options.some(foreign)
    return Suite(own.name, options.folder, own.name, cases)


def write_documents(questions: QuestionSet, folder: Path) -> list[str]:
    """Put each document into ``folder``; their source_uris, in order."""
    folder.mkdir(parents=True)
    names = []
    for number, document in enumerate(questions.documents):
        stem = re.sub(r"[^A-Za-z0-9]+", "-", document.title)[:60].strip("-") or "document"
        names.append(f"{stem}-{number}.txt")
        (folder / names[-1]).write_text(document.text, "utf-8")
    return [f"{folder.name}/{name}" for name in names]


def _covered(name: str, question: Question, sources: Sequence[str]) -> Case:
    passages = []
    for (document, start, _), gold in zip(
        question.spans, question.answers or [None] * len(question.spans), strict=True
    ):
        passages.append(
            Passage(source=sources[document], text=gold, start=None if gold is None else start)
        )
    # of several markings of one answer the first; of several documents each
    kept = passages if question.answers == () else passages[:1]
    return Case(
        id=name, question=question.text, tags=("covered",), passages=tuple(kept),
        golds=question.answers,
    )  # fmt: skip


def _uncovered(name: str, question: Question, kind: str) -> Case:
    return Case(id=f"{kind}-{name}", question=question.text, tags=("uncovered", kind), refusal=True)


def _sec10q(options: SuiteOptions) -> Suite:
    """Quarterly reports as PDF. The answers are free text, so what is checked is the document."""
    cases = [
        Case(
            id=f"sec10q-{number}", question=question.text, tags=("covered",),
            passages=tuple(Passage(source=f"docs/{file}") for file in question.files),
        )
        for number, question in enumerate(load_report_questions(options.public()))
        if question.files
    ]  # fmt: skip
    return Suite("sec10q", options.public() / "sec10q", "docs", options.some(cases))


SUITES: Mapping[str, Callable[[SuiteOptions], Suite]] = {
    GOLDEN: _golden,
    "squad2": _squad,
    "covidqa": _covidqa,
    "sec10q": _sec10q,
    "scifact": _scifact,
}
"""By the name that ``--suite`` takes."""
