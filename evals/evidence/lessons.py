"""Training examples of the encoder: questions with stretches of passages, as labelled token ids.

Of each question one stretch that answers it and two that do not, the likelier found the likelier
chosen. One in four of those that have a number or a name is also asked with another in its place:
then nothing answers, though nearly all words do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from evals.evidence.asked import Asked
from helix.evidence.encoder import MOST_HEADINGS, MOST_QUESTION, MOST_TOKENS, MOST_UNIT

_CLS, _SEP = 101, 102
_SWAPPED = 0.25
_CUT = 0.7  # share of the passages whose first stretch is shorter, so that ends fall anywhere
_NAMED = re.compile(r"\b\d[\d,.]*\b|(?<=[a-z,] )[A-Z][\w'’-]+")


@dataclass(frozen=True)
class Lesson:
    """A question with one stretch: ``ids``, where its second part starts, its units, their labels.

    ``is_words`` has, for each id, 1 for the words of an answer, 0 for others, -1 where unknown.
    """

    ids: list[int]
    start: int
    units: list[tuple[int, int]]
    labels: list[int]
    is_words: NDArray[np.float32]


class Lessons:
    """The training examples of one question after another, drawn by ``seed``."""

    def __init__(self, tokenizer: Tokenizer, asked: Sequence[Asked], seed: int) -> None:
        self._tokenizer, self._random = tokenizer, random.Random(seed)
        self._named: dict[tuple[str, bool], list[str]] = {}
        for one in asked:
            for match in _NAMED.finditer(one.question):
                key = one.set, match[0][0].isdigit()
                self._named.setdefault(key, []).append(match[0])

    def of(self, asked: Asked) -> Iterator[list[Lesson]]:
        """The lessons of one question; with a name swapped those in which nothing answers."""
        stretches = [
            run for number in range(len(asked.passages)) for run in self._stretches(asked, number)
        ]
        right = [run for run in stretches if any(asked.labels[at] == 1 for at in run)]
        wrong = [run for run in stretches if run not in right]
        right = self._random.sample(right, min(len(right), 1))
        yield [
            self._lesson(asked, run, asked.question) for run in right + self._likely(asked, wrong)
        ]
        if right and self._random.random() < _SWAPPED and (question := self._swapped(asked)):
            yield [self._lesson(asked, run, question, nothing=True) for run in right]

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _stretches(self, asked: Asked, number: int) -> Iterator[list[int]]:
        """The units of a passage, as many together as are read at once."""
        total = self._random.randrange(MOST_TOKENS) if self._random.random() < _CUT else 0
        run: list[int] = []
        for at, unit in enumerate(asked.units):
            if unit.passage != number:
                continue
            length = min(len(self._ids(unit.text)), MOST_UNIT)
            if run and total + length > MOST_TOKENS:
                yield run
                run, total = [], 0
            if length:
                run.append(at)
                total += length
        if run:
            yield run

    def _likely(self, asked: Asked, runs: list[list[int]]) -> list[list[int]]:
        chosen: list[list[int]] = []
        while runs and len(chosen) < 2:
            weights = [1 / (1 + asked.units[run[0]].passage) for run in runs]
            chosen.append(runs.pop(self._random.choices(range(len(runs)), weights)[0]))
        return chosen

    def _swapped(self, asked: Asked) -> str | None:
        """The question with a number or name that its answer has replaced by another's."""
        said = " ".join(
            unit.text for unit, label in zip(asked.units, asked.labels, strict=True) if label == 1
        )
        found = [match for match in _NAMED.finditer(asked.question) if match[0] in said]
        if not found:
            return None
        match = self._random.choice(found)
        others = self._named[asked.set, match[0][0].isdigit()]
        other = self._random.choice(others)
        question = f"{asked.question[: match.start()]}{other}{asked.question[match.end() :]}"
        return question if other.casefold() != match[0].casefold() else None

    def _lesson(self, asked: Asked, run: list[int], question: str, nothing: bool = False) -> Lesson:
        passage = asked.passages[asked.units[run[0]].passage]
        ids = [_CLS, *self._ids(question)[:MOST_QUESTION], _SEP]
        ids += [*self._ids(passage.headings)[:MOST_HEADINGS], _SEP]
        start, units, known = len(ids), list[tuple[int, int]](), [np.full(len(ids), -1.0)]
        for at in run:
            read = self._tokenizer.encode(asked.units[at].text, add_special_tokens=False)
            own = read.ids[:MOST_UNIT]
            units.append((len(ids), len(ids) + len(own)))
            ids += own
            known.append(_words(asked, at, read.offsets[:MOST_UNIT]))
        labels = [0 if nothing else asked.labels[at] for at in run]
        is_words = np.concatenate([*known, np.full(1, -1.0)]).astype(np.float32)
        return Lesson([*ids, _SEP], start, units, labels, is_words)


def _words(asked: Asked, at: int, offsets: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Of each token of a unit whether it is of the answer's words, where these are marked."""
    if asked.labels[at] != 1:
        return np.full(len(offsets), float(asked.labels[at] if asked.labels[at] < 0 else 0))
    unit = asked.units[at]
    marked = [(a - unit.start, b - unit.start) for p, a, b in asked.spans if p == unit.passage]
    met = [
        float(any(start < b and a < end for a, b in marked)) if end > start else -1.0
        for start, end in offsets
    ]
    is_short = 0 < sum(one > 0 for one in met) < 0.8 * len(met)
    return np.array(met) if is_short else np.full(len(offsets), -1.0)
