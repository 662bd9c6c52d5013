"""Features of a question and units: how a unit, and what stands around it, meets the question.

None knows a language: words are compared by letters and by WordLlama's meanings, weighed by how
much they say and by how rare they are among the units at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.evidence.vectors import word_vectors
from helix.evidence.words import Floats, Vocabulary, Word, words_of
from helix.language.sentences import Passage, Unit

EXACT = 0.85  # likeness from which on a word counts as the question's own
_SHAPES = 12

ANSWERS = (
    "covered", "covered exactly", "covered by rarity", "heaviest word", "second heaviest",
    "worst of the three heaviest", "missing weight", "most missing", "most missing nearby",
    "most missing in passage", "rarest missing nearby", "unmet nearby", "covered by headings",
    "covered by unit and headings", "covered by unit, headings, neighbours", "covered before",
    "covered after", "covered by passage", "rarity covered by unit and passage",
    "heaviest in passage", "alike", "alike with neighbours", "passage alike",
    "question like before", "pairs in order", "window", "words", "new weight", "new share",
    "place", "from end", "passage rank", "numbers met", "numbers met nearby", "names met",
    "names met nearby", "identifiers missing", "is question", "ends", "question words",
    "question weight", "rank by rarity", "rank alike", "behind best by rarity",
    "behind best alike", "units", "kind of two", "kind of three", "behind best kind of two",
    "behind best kind of three", "rank kind of two",
    *(f"shape {number}" for number in range(_SHAPES)),
)  # fmt: skip
"""The columns of ``question_features``."""


def question_features(question: str, passages: Sequence[Passage], units: Sequence[Unit]) -> Floats:
    """The features of each of ``units``, which lie in ``passages``: shape (units, len(ANSWERS)).

    About 3 ms for 60 units.
    """
    return Meeting(question, passages, units).read()


class Meeting:
    """A text beside units: how each of its words is met in each unit.

    ``met`` has shape (units, different words of the text), ``headings`` the same for the passages;
    ``weights`` are those words'.
    """

    def __init__(self, question: str, passages: Sequence[Passage], units: Sequence[Unit]) -> None:
        self._question, self._units = question, units
        self._asked = words_of(question)
        self._words = [words_of(unit.text) for unit in units]
        headings = [words_of(passage.headings) for passage in passages]
        self._vocabulary = Vocabulary([self._asked, *self._words, *headings])
        place_of = self._vocabulary.place_of
        self._rows = list(dict.fromkeys(place_of[word.form] for word in self._asked))
        self._likeness = self._vocabulary.likeness(self._rows)
        self._places = [
            np.array([place_of[w.form] for w in ws], dtype=np.intp) for ws in self._words
        ]
        self._of = np.array([unit.passage for unit in units], dtype=np.intp)
        self.headings = self._met(
            [np.array([place_of[w.form] for w in ws], dtype=np.intp) for ws in headings]
        )
        self.met = self._met(self._places)
        self.weights = self._vocabulary.weights[self._rows]
        self._is_asked = self._likeness.max(axis=0, initial=0) >= EXACT

    def _met(self, texts: Sequence[NDArray[np.intp]]) -> Floats:
        """For each text how well it meets each of the question's words: (texts, words)."""
        met = np.zeros((len(texts), len(self._rows)), dtype=np.float32)
        for number, places in enumerate(texts):
            if len(places) and len(self._rows):
                met[number] = self._likeness[:, places].max(axis=1)
        return met

    def read(self) -> Floats:
        """The features: shape (units, len(ANSWERS)); zeros where the text has no word."""
        if not self._rows or not self._units:
            return np.zeros((len(self._units), len(ANSWERS)), dtype=np.float32)
        met, weights = self.met, self.weights
        count = len(self._units)
        passages = np.zeros((int(self._of.max(initial=-1)) + 1, len(self._rows)), dtype=np.float32)
        np.maximum.at(passages, self._of, met)
        headings, passage = self.headings[self._of], passages[self._of]
        before, after = _beside(met, self._of, 1), _beside(met, self._of, -1)
        with_headings = np.maximum(met, headings)
        nearby = np.maximum.reduce([with_headings, before, after])
        rarity = weights * np.log1p(count / (0.5 + (met >= EXACT).sum(axis=0)))
        by_weight = np.argsort(-weights, kind="stable")
        heavy = [met[:, by_weight[min(n, len(by_weight) - 1)]] for n in range(3)]
        near, near_wide, near_passage, near_before = self._meanings()
        covered = _share(met, weights)
        by_rarity = _share(with_headings, rarity)
        shapes, new_weight, new_share = self._new()
        names, numbers, identifiers = self.kinds()
        ones = np.ones(count, dtype=np.float32)
        lengths = np.array([len(words) for words in self._words], dtype=np.float32)
        order, window = self._order()
        two, three = self._kind(2), self._kind(3)
        columns = [
            covered, _share(met >= EXACT, weights), by_rarity, heavy[0], heavy[1],
            np.minimum.reduce(heavy), (1 - met) @ weights, ((1 - met) * weights).max(axis=1),
            ((1 - nearby) * weights).max(axis=1), ((1 - passage) * weights).max(axis=1),
            ((1 - nearby) * rarity).max(axis=1), (nearby < 0.5).sum(axis=1),
            _share(headings, weights),
            _share(with_headings, weights), _share(nearby, weights), _share(before, weights),
            _share(after, weights), _share(passage, weights),
            _share(np.maximum(with_headings, 0.5 * passage), rarity), passage[:, by_weight[0]],
            near, near_wide, near_passage, near_before, order, window, np.log1p(lengths),
            np.log1p(new_weight), new_share,
            ones * [unit.place for unit in self._units],
            ones * [unit.of - unit.place for unit in self._units],
            ones * self._of, _least(met, numbers), _least(nearby, numbers), _least(met, names),
            _least(nearby, names),
            1 - _least(np.maximum(with_headings, passage * 0.5), identifiers),
            ones * [unit.text.rstrip().endswith(("?", "？")) for unit in self._units],
            ones * [not unit.text[-1:].isalnum() for unit in self._units],
            ones * len(self._rows), ones * np.log1p(weights.sum()),
            _rank(by_rarity), _rank(near_wide), by_rarity - by_rarity.max(initial=0),
            near_wide - near_wide.max(initial=0), np.log1p(ones * count),
            two, three, two - two.max(initial=0), three - three.max(initial=0), _rank(two),
        ]  # fmt: skip
        return np.column_stack([*columns, shapes]).astype(np.float32)

    def _meanings(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Nearness to the question of each unit, of its passage, and of it with its neighbours."""
        totals, lengths = word_vectors().embed_and_weigh(
            [self._question, *(unit.text for unit in self._units)]
        )
        asked, sums = totals[0], totals[1:] * lengths[1:, None]
        before, after = _beside(sums, self._of, 1), _beside(sums, self._of, -1)
        passages = np.zeros((int(self._of.max(initial=-1)) + 1, sums.shape[1]), dtype=np.float32)
        np.add.at(passages, self._of, sums)
        wide, before_too = sums + 0.5 * (before + after), sums + before
        return (
            totals[1:] @ asked,
            _cosines(wide, asked),
            _cosines(passages, asked)[self._of],
            _cosines(before_too, asked),
        )

    def kinds(self) -> tuple[list[int], list[int], list[int]]:
        """Columns of the question's words that look like names, numbers, identifiers."""
        names, numbers, identifiers = [], [], []
        place_of, first = self._vocabulary.place_of, True
        column = {row: number for number, row in enumerate(self._rows)}
        for word in self._asked:
            at = column[place_of[word.form]]
            has_digit, has_letter = _has_digit(word.written), any(map(str.isalpha, word.written))
            if has_digit and not has_letter:
                numbers.append(at)
            elif has_digit or "_" in word.written or word.written[1:] != word.written[1:].lower():
                identifiers.append(at)
            elif not first and word.written[:1].isupper():
                names.append(at)
            first = False
        return names, numbers, identifiers

    def _new(self) -> tuple[Floats, Floats, Floats]:
        """Words of each unit that the question lacks: their shapes, their weight, their share."""
        is_asked = self._is_asked
        weights = self._vocabulary.weights
        shapes = np.zeros((len(self._units), _SHAPES), dtype=np.float32)
        new, share = np.zeros((2, len(self._units)), dtype=np.float32)
        for number, (unit, words, places) in enumerate(
            zip(self._units, self._words, self._places, strict=True)
        ):
            fresh = ~is_asked[places]
            new[number] = weights[places[fresh]].sum()
            share[number] = new[number] / max(float(weights[places].sum()), 1e-6)
            shapes[number] = _shape(
                unit.text, [w for w, is_new in zip(words, fresh, strict=True) if is_new]
            )
        return shapes, new, share

    def _kind(self, opening: int) -> Floats:
        """Nearness of the ``opening`` words of the question to new words of each unit.

        `How long` means nearly what `30 days` does, in any language that the table knows: so it
        tells the kind of an answer. The greatest cosine with one, two or three words in a row.
        """
        words = " ".join(word.written for word in self._asked[:opening])
        asked = word_vectors().embed([words])[0]
        vocabulary = self._vocabulary
        weighed = vocabulary.vectors * vocabulary.weights[:, None]
        near = np.zeros(len(self._units), dtype=np.float32)
        for number, places in enumerate(self._places):
            fresh = np.where(self._is_asked[places][:, None], 0, weighed[places])
            sums = [fresh, fresh[:-1] + fresh[1:], fresh[:-2] + fresh[1:-1] + fresh[2:]]
            near[number] = max(_cosines(rows, asked).max(initial=0) for rows in sums)
        return near

    def _order(self) -> tuple[Floats, Floats]:
        """The share of the question's neighbours that stand so; how dense those met stand."""
        order, window = np.zeros((2, len(self._units)), dtype=np.float32)
        for number, places in enumerate(self._places):
            if not len(places):
                continue
            likeness = self._likeness[:, places] >= EXACT
            at = np.where(likeness.any(axis=1), likeness.argmax(axis=1), -1)
            gaps = at[1:] - at[:-1]
            both = (at[1:] >= 0) & (at[:-1] >= 0)
            order[number] = (both & (gaps > 0) & (gaps <= 3)).sum() / max(len(at) - 1, 1)
            hit = at[at >= 0]
            window[number] = len(hit) / (np.ptp(hit) + 1) if len(hit) > 1 else 0
        return order, window


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _shape(text: str, new: Sequence[Word]) -> list[float]:
    """Looks of the new words of a unit: numbers, years, names, and the marks of its text."""
    written = [word.written for word in new]
    digits = [one for one in written if one[0].isdigit()]
    capitals = [one for one in written[1:] if one[0].isupper()]
    runs = max(
        accumulate((one[0].isupper() for one in written), lambda run, up: (run + 1) * up), default=0
    )
    return [
        bool(digits), any(len(one) == 4 and one.isdigit() for one in digits),
        any(len(one) < 3 for one in digits), any(not one.isdigit() for one in digits),
        bool(capitals), runs > 1, any(mark in text for mark in "%‰"),
        any(mark in text for mark in "$€£¥"), text.count(",") > 1, ":" in text, "(" in text,
        len(new) > 12,
    ]  # fmt: skip


def _beside(rows: Floats, of: NDArray[np.intp], by: int) -> Floats:
    """Of each row the one ``by`` rows before it, zeros where that is of another passage."""
    moved = np.roll(rows, by, axis=0)
    inside = np.roll(of, by) == of
    inside[:by] = False if by > 0 else inside[:by]
    if by < 0:
        inside[by:] = False
    return np.asarray(np.where(inside[:, None], moved, 0), dtype=np.float32)


def _share(met: NDArray[Any], weights: Floats) -> Floats:
    return np.asarray((met @ weights) / max(float(weights.sum()), 1e-6), dtype=np.float32)


def _least(met: Floats, columns: Sequence[int]) -> Floats:
    """The least that any of the columns is met; 1 without a column."""
    return np.asarray(met[:, list(columns)].min(axis=1, initial=1.0), dtype=np.float32)


def _rank(values: Floats) -> Floats:
    """The place of each by falling value, from 0, as a logarithm."""
    ranks = np.empty(len(values), dtype=np.float32)
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values), dtype=np.float32)
    return np.asarray(np.log1p(ranks), dtype=np.float32)


def _cosines(rows: Floats, vector: Floats) -> Floats:
    lengths = np.maximum(np.linalg.norm(rows, axis=1), 1e-9)
    return np.asarray(rows @ vector / lengths, dtype=np.float32)
