"""Questions of the sets, asked on the path that serves with the offline answerer.

Only questions about documents are asked that the encoder never learned from
(evals.evidence.asked.is_kept_out), and sets that nothing was learned from. The trees saw half of
the kept-out documents, and the three numbers that join both were fitted on the other half.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.cases import load_cases
from evals.database import ingest
from evals.datasets import load_covidqa, load_squad
from evals.datasets.records import Document, QuestionSet
from evals.datasets.tatqa import load_tatqa
from evals.datasets.value_questions import value_questions
from evals.documents.parts import FORMATS, printed
from evals.documents.question_outcomes import Asked, Shelf, outcome_of
from evals.documents.values import Expected, expected_of
from evals.evidence.asked import is_kept_out, share_of
from evals.evidence.kept import FOLDER, Kept
from evals.evidence.sets import SETS
from evals.metrics.wording import has_gold, plain
from evals.natural.documents import Half, require
from evals.natural.questions import NaturalQuestion, is_green, questions
from evals.real.questions import RealQuestion
from evals.suites import GOLDEN, ROOT, SEED, Suite, write_documents
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings

ANSWERABLE, NEAR_MISS, FOREIGN = "answerable", "near miss", "foreign"
_FOREIGN = 150
"""Questions of another set that are asked of an own one."""
_FEWEST = 4  # words of a long answer, and of a quote that is taken for a part of one
_ENDS = " .,;:()[]\"'"


@dataclass(frozen=True)
class Ask:
    """A question, which all but ANSWERABLE ``kind``s are to be refused; ``within`` one file."""

    id: str
    kind: str
    question: str
    is_right: Callable[[Answer], bool]
    within: str | None = None


Loaded = tuple[Suite, Sequence[Ask]]


async def ask_missing(settings: Settings, loaded: Loaded, kept: Kept, until: float) -> None:
    """Ask what is not kept yet, in an order of which every beginning is a fair sample.

    ``until``: the ``time.monotonic()`` from which on nothing more is asked.

    Raises:
        CaseError, HelixError: as ``ingest`` and AnswerRequest do.
    """
    suite, asks = loaded
    missing = [one for one in sorted(asks, key=lambda one: share_of(one.id)) if one.id not in kept]
    async with open_services(settings) as services:
        shelf = await Shelf.of(services, suite.tenant)
        for one in missing:
            if time.monotonic() > until:
                return
            kept.keep(await _answered(shelf, one))


async def _answered(shelf: Shelf, ask: Ask) -> dict[str, object]:
    ids = None if ask.within is None else (shelf.ids[ask.within],)
    question = Question(ask.question, Scope(shelf.tenant, ids))
    began = time.process_time()
    answer = await AnswerRequest(shelf.services.answering, question, recorded=False).run()
    took = time.process_time() - began
    judged = "refused" if answer.abstained else "right" if ask.is_right(answer) else "wrong"
    return {
        "id": ask.id, "kind": ask.kind, "question": ask.question, "judged": judged,
        "likely": answer.proof.answers, "milliseconds": round(1000 * took, 1),
        "green": is_green({"support": answer.proof.to_json()}), "answer": answer.text,
    }  # fmt: skip


def store(settings: Settings, loaded: Loaded, kept: Kept) -> None:
    """Bring in the documents of a set of which something is still to be asked."""
    suite, asks = loaded
    if any(one.id not in kept for one in asks):
        ingest(settings, suite)


def _never(answer: Answer) -> bool:
    return False


def _says(golds: Sequence[str]) -> Callable[[Answer], bool]:
    """A test that an answer has one of ``golds``, or quotes a part of one.

    Sets cut long ones within a word or in front of a bracket, so these need not end as words do.
    """
    long = [plain(one).strip(_ENDS) for one in golds if len(one.split()) >= _FEWEST]

    def is_right(answer: Answer) -> bool:
        said = plain(answer.text)
        quotes = [span.quote for one in answer.proof.statements for span in one.supports]
        parts = [quote for quote in quotes if len(quote.split()) >= _FEWEST]
        return (
            bool(has_gold(answer.text, golds))
            or any(one in said for one in long)
            or any(has_gold(gold, [part]) for gold in golds for part in parts)
        )

    return is_right


def _written(source: QuestionSet) -> Suite:
    shutil.rmtree(FOLDER / "sets" / source.name, ignore_errors=True)
    write_documents(source, FOLDER / "sets" / source.name)
    return Suite(source.name, FOLDER / "sets", source.name, ())


def _articles(own: QuestionSet, other: QuestionSet) -> Loaded:
    """Questions about whole articles, and those of ``other``, which these do not answer."""
    asks = [
        Ask(f"{own.name}-{number}", ANSWERABLE if one.spans else NEAR_MISS, one.text,
            _says(one.answers) if one.spans else _never)
        for number, one in enumerate(own.questions)
        if is_kept_out(own.documents[one.document].title)
    ]  # fmt: skip
    foreign = random.Random(SEED).sample([one for one in other.questions if one.spans], _FOREIGN)
    asks += [Ask(f"foreign-{n}", FOREIGN, one.text, _never) for n, one in enumerate(foreign)]
    return _written(own), asks


def _sections(name: str, data: Path) -> Loaded:
    """A set of evals.evidence.sets, a document a passage, and its answerable questions."""
    passages, _, entries = SETS[name](data)
    texts = [Document(one.headings, one.text) for one in passages]
    asks = [
        Ask(f"{name}-{number}", ANSWERABLE, one.question,
            _says([passages[place].text[start:end] for place, start, end in one.gold]))
        for number, one in enumerate(entries)
        if one.gold and is_kept_out(one.document)
    ]  # fmt: skip
    return _written(QuestionSet(name.replace(" ", "-"), texts, [])), asks


def _tatqa(data: Path) -> Loaded:
    """Tables printed as PDF and DOCX with their paragraphs, each asked of its own document."""
    folder = FOLDER / "sets/tatqa"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    asks: list[Ask] = []
    kept_out = [one for one in load_tatqa(data) if is_kept_out(one.id)]
    for number, context in enumerate(kept_out):
        document = printed(context)
        if document is None:
            continue
        kind, make = list(FORMATS.values())[number % len(FORMATS)]
        (folder / f"{number:03}.{kind}").write_bytes(make(document))
        asks += [
            _value(one.id, one.text, expected_of(one.answer, one.scale), f"{number:03}.{kind}")
            for one in context.questions
        ]
    return Suite("tatqa", FOLDER / "sets", "tatqa", ()), asks


def _filings(data: Path) -> Loaded:
    asks = [
        _value(one.id, one.question, Expected(one.numbers, one.spans, one.all), one.document)
        for one in value_questions()
    ]
    return Suite("sec10q", data / "sec10q", "docs", ()), asks


def _value(identity: str, question: str, expected: Expected, within: str) -> Ask:
    asked = Asked(identity, question, expected, within=within)
    return Ask(
        identity, ANSWERABLE, question,
        lambda answer: outcome_of(asked, answer, ()) == "right", within,
    )  # fmt: skip


def _samples(_: Path) -> Loaded:
    asked = [RealQuestion(GOLDEN, case) for case in load_cases() if case.scope.of("") == Scope("")]
    asks = [
        Ask(one.id, NEAR_MISS if one.case.refusal else ANSWERABLE, one.case.question,
            _judge_of(one))
        for one in asked
    ]  # fmt: skip
    return Suite(GOLDEN, ROOT, "samples", ()), asks


def _judge_of(one: RealQuestion) -> Callable[[Answer], bool]:
    return lambda answer: one.is_right(answer.text, abstained=False)


def natural(half: Half, folder: Path) -> Loaded:
    """The natural questions of ``half``; raises CaseError where a document is missing."""
    require(half, folder)
    asks = [
        Ask(f"{one.document}: {one.question}", ANSWERABLE if one.answerable else NEAR_MISS,
            one.question, _has_wanted(one), one.document)
        for one in questions(half)
    ]  # fmt: skip
    whole = folder.resolve()
    return Suite("natural", whole.parent, whole.name, ()), asks


def _has_wanted(one: NaturalQuestion) -> Callable[[Answer], bool]:
    return lambda answer: one.is_right(answer.text)


SERVED: Mapping[str, Callable[[Path], Loaded]] = {
    "squad2": lambda data: _articles(load_squad(data), load_covidqa(data)),
    "covidqa": lambda data: _articles(load_covidqa(data), load_squad(data)),
    "tatqa": _tatqa,
    "selqa": lambda data: _sections("selqa", data),
    "clapnq": lambda data: _sections("clapnq", data),
    "xquad-en": lambda data: _sections("xquad en", data),
    "xquad-de": lambda data: _sections("xquad de", data),
    "natural": lambda data: natural("tuning", ROOT / "build/natural"),
    "unopened": lambda data: natural("unopened", ROOT / "build/natural"),
    "sec10q": _filings,
    "golden": _samples,
}
"""By the name that ``--set`` takes; ``unopened`` is asked where it is named only."""

UNLEARNED = frozenset({"natural", "unopened", "sec10q", "golden"})
"""Sets that nothing was learned from."""
