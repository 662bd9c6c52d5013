"""Suites: the golden set over ``samples/``, and the public question sets as cases over files."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from evals.golden import CASES, Case, CaseError, Passage, load_cases
from evals.offline_sets import Question, QuestionSet, load_covidqa, load_scifact, load_squad

ROOT = Path(__file__).parent.parent
GOLDEN = "golden"
OTHER = "cases"
"""Other cases over samples/."""
STORED = "stored"
"""Cases over what a tenant has stored."""
SEED = 5


@dataclass(frozen=True)
class Suite:
    """What to ingest, and what to ask then.

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
        """Whose documents are asked."""
        return self.of or f"evals-{self.name}"

    @property
    def sources(self) -> list[str]:
        """The source_uris that its cases name."""
        return sorted({passage.source for case in self.cases for passage in case.passages})


@dataclass(frozen=True)
class Wanted:
    """How a suite is made: ``data`` holds the public sets, ``folder`` takes files written for it.

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


def made(name: str, wanted: Wanted) -> Suite:
    """The suite of SUITES that has this name.

    Raises:
        CaseError: its cases or its public set cannot be read.
    """
    try:
        return SUITES[name](wanted)
    except OSError as error:
        file = Path(str(error.filename)).name
        raise CaseError(f"{file} cannot be read: --data is to have the set {name}") from None
    except (ValueError, KeyError, TypeError, IndexError):
        raise CaseError(f"a file of the set {name} is malformed: bring it again") from None


def _golden(wanted: Wanted) -> Suite:
    name = GOLDEN if wanted.cases.resolve() == CASES.resolve() else OTHER
    return Suite(name, ROOT, "samples", load_cases(wanted.cases))


def _squad(wanted: Wanted) -> Suite:
    return _spans(wanted, load_squad(wanted.public()), load_covidqa(wanted.public()))


def _covidqa(wanted: Wanted) -> Suite:
    return _spans(wanted, load_covidqa(wanted.public()), load_squad(wanted.public()))


def _scifact(wanted: Wanted) -> Suite:
    return _spans(wanted, load_scifact(wanted.public()), None)


def _spans(wanted: Wanted, own: QuestionSet, other: QuestionSet | None) -> Suite:
    """A set as files of plain text; ``other`` lends questions that these do not answer."""
    sources = write_documents(own, wanted.folder / own.name)
    numbered = [(f"{own.name}-{number}", question) for number, question in enumerate(own.questions)]
    cases = wanted.some([_covered(i, q, sources) for i, q in numbered if q.spans])
    cases += wanted.some([_uncovered(i, q, "near-miss") for i, q in numbered if not q.spans])
    if other:
        asked = [q for q in other.questions if q.spans]
        foreign = [_uncovered(f"{other.name}-{n}", q, "foreign") for n, q in enumerate(asked)]
        cases += wanted.some(foreign)
    return Suite(own.name, wanted.folder, own.name, cases)


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


def _sec10q(wanted: Wanted) -> Suite:
    """Quarterly reports as PDF. The answers are free text, so what is checked is the document."""
    folder = wanted.public() / "sec10q"
    files = sorted(path.name for path in (folder / "docs").glob("*.pdf"))
    with (folder / "qna_data.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    cases = []
    for number, row in enumerate(rows):
        globs = [name.strip() for name in row["Source Docs"].split(",")]
        found = [file for file in files if any(fnmatch(file, glob) for glob in globs)]
        passages = tuple(Passage(source=f"docs/{file}") for file in found)
        name = f"sec10q-{number}"
        if passages:
            cases.append(
                Case(id=name, question=row["Question"], tags=("covered",), passages=passages)
            )
    return Suite("sec10q", folder, "docs", wanted.some(cases))


SUITES: Mapping[str, Callable[[Wanted], Suite]] = {
    GOLDEN: _golden,
    "squad2": _squad,
    "covidqa": _covidqa,
    "sec10q": _sec10q,
    "scifact": _scifact,
}
"""By the name that ``--suite`` takes."""
