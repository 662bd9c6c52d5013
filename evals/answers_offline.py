"""Figures of the offline answerer: ``python -m evals.answers_offline --data DIR``.

Each public set is one corpus, split, embedded, searched and gated as Helix does by default. An
answer is right when it contains a gold span; beside it a baseline that quotes the first sentence
of the nearest chunk. The answerer was tuned on documents of even number (``--half tuning``), the
others are reported. Prints Markdown.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.gate_offline import SIZES, Corpus, build, wilson
from evals.offline_sets import Question, QuestionSet, load_covidqa, load_squad
from helix.contract import REFUSAL
from helix.providers.offline import MAX_DISTANCE
from helix.providers.offline.extract import extract, quote
from helix.providers.offline.reading import Source
from helix.text import sentences

TOP_K = 5
FOREIGN = 400

_MARKER = re.compile(r" \[\d+\]")


@dataclass(frozen=True)
class Case:
    """One question answered: what was said, what the baseline said, and whether it passed."""

    question: Question
    passed: bool
    answer: str
    baseline: str

    @property
    def refused(self) -> bool:
        return not self.passed or self.answer == REFUSAL

    def holds_gold(self, text: str) -> bool:
        plain = _plain(_MARKER.sub("", text))
        return any(_plain(quote(answer)) in plain for answer in self.question.answers)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def answer_all(corpus: Corpus, asked: QuestionSet, places: Sequence[int]) -> Iterator[Case]:
    """Answer the questions of a set at these places over one corpus."""
    for place in places:
        distances = corpus.distances[asked.name][place]
        nearest = np.argsort(distances, kind="stable")[:TOP_K]
        texts = []
        for chunk in nearest:
            document, start, end = corpus.chunks[chunk]
            texts.append(corpus.questions.documents[document].text[start:end])
        question = asked.questions[place]
        sources = [Source(number, text) for number, text in enumerate(texts, start=1)]
        passed = bool(distances[nearest[0]] <= MAX_DISTANCE)
        yield Case(question, passed, extract(question.text, sources), sentences(texts[0])[0])


def report(corpus: Corpus, parity: int, other: QuestionSet) -> Iterator[str]:
    """Rows of the table for one corpus: its own questions of one half, and foreign ones."""
    own = corpus.questions
    places = [i for i, question in enumerate(own.questions) if question.document % 2 == parity]
    cases = list(answer_all(corpus, own, places))
    answerable = [case for case in cases if case.question.spans]
    answered = [case for case in answerable if not case.refused]
    right = sum(case.holds_gold(case.answer) for case in answered)
    first = sum(case.holds_gold(case.baseline) for case in answered)
    yield f"| {own.name}: answerable questions answered | {_share(len(answered), answerable)} |"
    yield f"| answers that contain the gold span | {_share(right, answered)} |"
    yield f"| the same questions, first sentence of the best chunk | {_share(first, answered)} |"
    yield f"| ratio | {right / max(first, 1):.1f} |"
    anyway = sum(case.holds_gold(case.answer) for case in answerable if case.answer != REFUSAL)
    yield f"| gold span found, of all answerable, gate left open | {_share(anyway, answerable)} |"
    missed = [case for case in cases if not case.question.spans]
    foreign_places = np.random.default_rng(0).permutation(len(other.questions))[:FOREIGN]
    foreign = list(answer_all(corpus, other, foreign_places.tolist()))
    for kind, group in (("near-miss", missed), (f"foreign ({other.name})", foreign)):
        if group:
            gate = sum(not case.passed for case in group)
            alone = sum(case.answer == REFUSAL for case in group)
            both = sum(case.refused for case in group)
            yield f"| {kind} refused by the gate alone | {_share(gate, group)} |"
            yield f"| {kind} refused by the answerer alone | {_share(alone, group)} |"
            yield f"| {kind} refused by both together | {_share(both, group)} |"


def _share(hits: int, group: Sequence[Case]) -> str:
    return f"{wilson(hits, len(group))}, n={len(group)}" if group else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the public sets")
    parser.add_argument("--half", choices=("held-out", "tuning"), default="held-out")
    arguments = parser.parse_args()
    sets = [load_squad(arguments.data), load_covidqa(arguments.data)]
    print(f"| {arguments.half} half, gate at {MAX_DISTANCE} | share [95% interval] |\n|---|---|")
    corpora = build(sets, *SIZES[0], titled=True)
    for corpus, other in zip(corpora, reversed(sets), strict=True):
        for line in report(corpus, int(arguments.half == "held-out"), other):
            print(line, flush=True)


if __name__ == "__main__":
    main()
