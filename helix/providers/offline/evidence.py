"""How well each sentence of the sources answers a question: one number a sentence.

A sentence covers a term of the question by its most similar word (1 for the same stem, the cosine
of the word vectors otherwise); terms weigh by the length of their vector and by how rare they are
among the sentences. The sentences beside it and its heading lend it a part of their coverage.
Weights were chosen on half of two public sets; they are flat around the values here (decision
record 0004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from helix.domain.asked import AnswerKind, AskedQuestion, stem
from helix.domain.source_place import SourcePlace
from helix.language.durations import without_periods
from helix.language.paraphrases import meaning, meanings
from helix.language.words import words
from helix.providers.offline.figures import asks_what_came
from helix.providers.offline.passages import Floats, Passage, read_passage
from helix.providers.offline.reading import PromptSource
from helix.providers.offline.vectors import word_vectors

_SIMILAR = 0.3  # cosine of two words from which they begin to count as similar
_SAME_MEANING = 0.8  # coverage of a word by another with its meaning: `fell` for `declined`
_FROM_PREVIOUS = 0.8  # share of its coverage that the sentence before lends: pronouns point back
_FROM_NEXT = 0.4
_FROM_HEADING = 0.9
_FROM_HEADING_ALONE = 0.5  # and to the sentence's own account: a section is about its heading
_HEADING_REACH = 8  # sentences under a heading
_COSINE_WEIGHT = 0.8
_KIND_WEIGHT = 0.2
_FRAGMENT_WORDS = 5
_FRAGMENT_PENALTY = 0.1
_OF_OWN_PERIOD = 0.4
"""The weight that is left to the words of a period which is the document's own."""
_PLAN_PENALTY = 0.4  # of what was only agreed on, where it is asked what came to be


@dataclass(frozen=True, slots=True)
class Sentence:
    """A quotable piece of a source: ``source`` is its place in the list, best first."""

    source: int
    start: int
    end: int
    text: str
    is_heading: bool


@dataclass(frozen=True)
class Evidence:
    """Sentences with their scores.

    ``coverage``: shape (sentences, terms), 0 to 1, each sentence alone. ``scores``: shape
    (sentences,), about 0 to 3. ``weights``: shape (sentences, terms),
    each sentence's sum 1. ``headings``: what the heading above it covers.
    """

    sentences: Sequence[Sentence]
    coverage: Floats
    scores: Floats
    weights: Floats
    headings: Floats

    def stated(self, place: int, before: bool) -> Floats:
        """What a sentence covers with its heading, and with the sentence ``before`` it."""
        own: Floats = np.maximum(self.coverage[place], self.headings[place])
        if (
            not before
            or not place
            or self.sentences[place - 1].source != self.sentences[place].source
        ):
            return own
        lent: Floats = np.maximum(own, _FROM_PREVIOUS * self.coverage[place - 1])
        return lent


def weigh_evidence(question: AskedQuestion, sources: Sequence[PromptSource]) -> Evidence:
    """Score every sentence of the sources."""
    passages = [read_passage(source.text) for source in sources]
    passages_with = [(place, one) for place, one in enumerate(passages) if one.pieces]
    sentences = [
        Sentence(place, piece.start, piece.end, piece.text, piece.is_heading)
        for place, passage in passages_with
        for piece in passage.pieces
    ]
    if not sentences or not question.terms:
        empty = np.zeros((0, len(question.terms)), dtype=np.float32)
        return Evidence([], empty, empty[:, 0] if question.terms else empty.ravel(), empty, empty)
    read = [passage for _, passage in passages_with]
    stems = [stem(term) for term in question.terms]
    exact = np.array(
        [[one in each for one in stems] for passage in read for each in passage.stems],
        dtype=np.float32,
    )
    vectors, sizes = word_vectors().embed_and_weigh(question.terms)
    similar = np.concatenate([passage.similarity(vectors) for passage in read])
    alike = np.array(
        [[one in each for one in map(meaning, question.terms)]
         for passage in read for each in passage.meanings],
        dtype=np.float32,
    )  # fmt: skip
    coverage = np.maximum(
        np.maximum(exact, _SAME_MEANING * alike),
        np.clip((similar - _SIMILAR) / (1 - _SIMILAR), 0, 1),
    )
    rarity = np.log(1 + len(sentences) / (exact.sum(axis=0) + 0.5))
    weights = sizes * np.sqrt(rarity)
    weights = _weights_by_sentence(question, sources, sentences, weights)
    asked = word_vectors().embed([question.text])[0]
    from_heading = _heading_coverage(coverage, sentences)
    from_neighbours = _neighbour_coverage(coverage, sentences)
    scores = (
        (np.maximum(coverage, _FROM_HEADING_ALONE * from_heading) * weights).sum(axis=1)
        + (np.maximum(from_neighbours, _FROM_HEADING * from_heading) * weights).sum(axis=1)
        + _COSINE_WEIGHT * np.concatenate([passage.vectors @ asked for passage in read])
        + _KIND_WEIGHT * np.concatenate([_has_kind(question, passage) for passage in read])
        - _FRAGMENT_PENALTY * (np.concatenate([p.lengths for p in read]) < _FRAGMENT_WORDS)
    )
    if asks_what_came(question):
        scores = scores - _PLAN_PENALTY * np.concatenate([passage.plans for passage in read])
    scores = scores.astype(np.float32)
    return Evidence(sentences, coverage, scores, weights.astype(np.float32), from_heading)


def _weights_by_sentence(
    question: AskedQuestion,
    sources: Sequence[PromptSource],
    sentences: Sequence[Sentence],
    all_: Floats,
) -> Floats:
    """The weights of the terms for each sentence: what its document tells anyway weighs nothing.

    A report says `we` where a question names the company.
    """
    rows = []
    for source in sources:
        stated = stated_by_place(question, source.place)
        own = np.where([term in stated for term in question.terms], np.float32(0), all_)
        own = own if own.sum() > 0 else all_
        light = _stated_period(question, source.place)
        shares = [_OF_OWN_PERIOD if term in light else 1 for term in question.terms]
        own = own * np.array(shares, dtype=np.float32)
        rows.append(own / max(float(own.sum()), 1e-6))
    return np.stack(rows)[[sentence.source for sentence in sentences]]


def stated_by_place(question: AskedQuestion, place: SourcePlace) -> frozenset[str]:
    """The terms of a question that name the company whose document a source is of."""
    if not place.company:
        return frozenset()
    return frozenset(t for t in question.terms if place.company.intersection(meanings(t)))


def _stated_period(question: AskedQuestion, place: SourcePlace) -> frozenset[str]:
    """The terms of a question that name the period that a source's document reports on."""
    stated = place.period_keys
    own = [one for one in question.periods if stated.intersection(one.keys[:1])]
    if not own or len(own) < len(question.periods):
        return frozenset()
    return frozenset(words(question.text)) - frozenset(words(without_periods(question.text)))


def _neighbour_coverage(coverage: Floats, sentences: Sequence[Sentence]) -> Floats:
    """``coverage`` with what the sentences before and after in the same source lend."""
    borrowed = coverage.copy()
    for i in range(1, len(sentences)):
        if sentences[i - 1].source == sentences[i].source:
            borrowed[i] = np.maximum(borrowed[i], _FROM_PREVIOUS * coverage[i - 1])
            borrowed[i - 1] = np.maximum(borrowed[i - 1], _FROM_NEXT * coverage[i])
    return borrowed


def _heading_coverage(coverage: Floats, sentences: Sequence[Sentence]) -> Floats:
    """For each sentence what the heading above it meets, zeros where there is none near."""
    from_heading = np.zeros_like(coverage)
    heading: int | None = None
    for i, sentence in enumerate(sentences):
        if heading is not None and (
            sentences[heading].source != sentence.source or i - heading > _HEADING_REACH
        ):
            heading = None
        if sentence.is_heading:
            heading = i
        elif heading is not None:
            from_heading[i] = coverage[heading]
    return from_heading


def _has_kind(question: AskedQuestion, passage: Passage) -> Floats:
    """For each piece 1 if it holds what the question asks for and does not say itself, else 0."""
    if question.kind is AnswerKind.OPEN:
        return np.full(len(passage.pieces), 0.5, dtype=np.float32)
    asked = frozenset(words(question.text))
    found = [bool(each - asked) for each in passage.kinds[question.kind]]
    return np.array(found, dtype=np.float32)
