"""How well each sentence of the sources answers a question: one number a sentence.

A sentence covers a term of the question by its most similar word (1 for the same stem, the cosine
of the word vectors otherwise); terms weigh by the length of their vector and by how rare they are
among the sentences. The sentences beside it and its heading lend it a part of their coverage.
Weights were chosen on half of two public sets; they are flat around the values here (decision
record 0004).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from helix.domain.asked import STOP_WORDS, Kind, Question, any_of, stem
from helix.domain.source_place import SourcePlace
from helix.language.paraphrases import meanings
from helix.language.sentences import Span, sentence_spans
from helix.language.words import words
from helix.providers.offline.figures import is_plan
from helix.providers.offline.reading import PromptSource
from helix.providers.offline.vectors import Vectors, word_vectors

Floats = NDArray[np.float32]

_SIMILAR = 0.3  # cosine of two words from which they begin to count as similar
_FROM_PREVIOUS = 0.8  # share of its coverage that the sentence before lends: pronouns point back
_FROM_NEXT = 0.4
_FROM_HEADING = 0.9
_FROM_HEADING_ALONE = 0.5  # and to the sentence's own account: a section is about its heading
_HEADING_REACH = 8  # sentences under a heading
_HEADING_WORDS = 10
_COSINE_WEIGHT = 0.8
_KIND_WEIGHT = 0.2
_FRAGMENT_WORDS = 5
_FRAGMENT_PENALTY = 0.1
_PLAN_PENALTY = 0.4  # of what was only agreed on, where it is asked what came to be
_LONGEST_SENTENCE = 500  # characters; longer ones are tables and lists, quoted in parts

_NUMBER = re.compile(rf"\d[\d.,]*|\b(?:{any_of('number_words')})\b", re.IGNORECASE)
_TIME = re.compile(
    rf"\b(?:{any_of('time_words')}|1\d{{3}}s?|20\d\ds?|\d{{1,2}} ?[ap]\.?m\b|\d{{1,2}}:\d\d)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"\b[^\W\d_a-z][\w'’-]+")
_BY_EVENT = frozenset(("before", "after", "until"))  # `until the oil shock` is a time
_VISIBLE = re.compile(r"\S")
_UNDERLINE = re.compile(r"\|(?:[ \t]*+:?-++:?[ \t]*+\|)++")  # below a table's header, in Markdown
_ENDS = re.compile(r"[.!?…:;。！？।؟][\"'”’»)\]*_]*$")


@dataclass(frozen=True)
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
    (sentences,), about 0 to 3. ``weights``: shape (terms,), sum 1.
    """

    sentences: Sequence[Sentence]
    coverage: Floats
    scores: Floats
    weights: Floats


def weigh_evidence(question: Question, sources: Sequence[PromptSource]) -> Evidence:
    """Score every sentence of the sources."""
    sentences = [s for place, source in enumerate(sources) for s in _sentences(place, source.text)]
    if not sentences or not question.terms:
        empty = np.zeros((0, len(question.terms)), dtype=np.float32)
        return Evidence([], empty, empty[:, 0] if question.terms else empty.ravel(), empty)
    said = [words(sentence.text) for sentence in sentences]
    stems = [{stem(word) for word in each} for each in said]
    exact = np.array(
        [[stem(term) in each for term in question.terms] for each in stems], dtype=np.float32
    )
    vectors, sizes = word_vectors().embed_and_weigh(question.terms)
    similar_words = np.clip((_word_similarity(vectors, said) - _SIMILAR) / (1 - _SIMILAR), 0, 1)
    coverage = np.maximum(exact, similar_words)
    rarity = np.log(1 + len(sentences) / (exact.sum(axis=0) + 0.5))
    weights = sizes * np.sqrt(rarity)
    weights = _weights_by_sentence(question, sources, sentences, weights)
    embedded = word_vectors().embed([question.text, *(s.text for s in sentences)])
    from_heading = _heading_coverage(coverage, sentences)
    from_neighbours = _neighbour_coverage(coverage, sentences)
    scores = (
        (np.maximum(coverage, _FROM_HEADING_ALONE * from_heading) * weights).sum(axis=1)
        + (np.maximum(from_neighbours, _FROM_HEADING * from_heading) * weights).sum(axis=1)
        + _COSINE_WEIGHT * (embedded[1:] @ embedded[0])
        + _KIND_WEIGHT * np.array([_has_kind(question, s.text) for s in sentences])
        - _PLAN_PENALTY * np.array([is_plan(question, s.text) for s in sentences])
        - _FRAGMENT_PENALTY * np.array([len(each) < _FRAGMENT_WORDS for each in said])
    )
    return Evidence(sentences, coverage, scores.astype(np.float32), weights.astype(np.float32))


def _weights_by_sentence(
    question: Question, sources: Sequence[PromptSource], sentences: Sequence[Sentence], all_: Floats
) -> Floats:
    """The weights of the terms for each sentence: what its document tells anyway weighs nothing.

    A report says `we` where a question names the company.
    """
    rows = []
    for source in sources:
        told = told_by_place(question, source.place)
        own = np.where([term in told for term in question.terms], np.float32(0), all_)
        own = own if own.sum() > 0 else all_
        rows.append(own / max(float(own.sum()), 1e-6))
    return np.stack(rows)[[sentence.source for sentence in sentences]]


def told_by_place(question: Question, place: SourcePlace) -> frozenset[str]:
    """The terms of a question that name the company whose document a source is of."""
    if not place.company:
        return frozenset()
    return frozenset(t for t in question.terms if place.company.intersection(meanings(t)))


def _sentences(place: int, text: str) -> list[Sentence]:
    spans = [piece for span in sentence_spans(text) for piece in _pieces(text, span)]
    found: list[Sentence] = []
    for number, (start, end) in enumerate(spans):
        piece = text[start:end]
        if _UNDERLINE.fullmatch(piece):
            if found:  # the row above it names the columns: the heading of those below
                found[-1] = replace(found[-1], is_heading=True)
            continue
        is_last = number + 1 == len(spans)
        found.append(Sentence(place, start, end, piece, _is_heading(piece) and not is_last))
    return found


def _pieces(text: str, span: Span) -> list[Span]:
    """The span, or its parts of bearable length, cut at line breaks, semicolons or spaces."""
    start, end = span
    pieces = []
    while end - start > _LONGEST_SENTENCE:
        window = text[start : start + _LONGEST_SENTENCE]
        cut = max(window.rfind("\n"), window.rfind("; ") + 1)
        if cut <= 0:
            cut = max(window.rfind(" "), 0) or _LONGEST_SENTENCE
        pieces.append((start, start + len(window[:cut].rstrip())))
        visible = _VISIBLE.search(text, start + cut, end)
        start = visible.start() if visible else end
    return [*pieces, (start, end)]


def _is_heading(text: str) -> bool:
    """A title, a label or a question: it says what follows is about, and answers nothing.

    A row of a table never is, however short: it holds what its columns are asked for.
    """
    if " | " in text and not text.startswith("#"):
        return False
    if text.startswith("#") or text.endswith("?"):
        return True
    if len(text.split()) > _HEADING_WORDS or _ENDS.search(text):
        return False
    return not re.match(r"[-*+•‣◦▪|]|\(?\w{1,3}[.)]\s", text)


def _word_similarity(terms: Vectors, said: Sequence[Sequence[str]]) -> Floats:
    """For each sentence and term the cosine to the sentence's most similar word."""
    vocabulary = {word: i for i, word in enumerate(dict.fromkeys(w for each in said for w in each))}
    vectors = np.zeros((len(vocabulary) + 1, terms.shape[1]), dtype=np.float32)
    if vocabulary:
        vectors[:-1] = word_vectors().embed(list(vocabulary))
    similar = vectors @ terms.T
    nothing = len(vocabulary)
    rows = [[vocabulary[word] for word in each] or [nothing] for each in said]
    starts = np.cumsum([0, *(len(row) for row in rows[:-1])])
    return np.maximum.reduceat(similar[np.concatenate([np.array(r) for r in rows])], starts, axis=0)


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


def kind_words(kind: Kind, text: str) -> list[str]:
    """The numbers, times or names of a text, as the kind of an answer asks for them."""
    pattern = {Kind.NUMBER: _NUMBER, Kind.TIME: _TIME, Kind.NAME: _CAPITAL}[kind]
    found = (match.group().lower().rstrip(".,") for match in pattern.finditer(text))
    return [word for word in found if word not in STOP_WORDS or word in _BY_EVENT]


def _has_kind(question: Question, text: str) -> float:
    """1 if the sentence holds what the question asks for and does not say itself, else 0."""
    if question.kind is Kind.OPEN:
        return 0.5
    asked = set(words(question.text))
    return float(any(word not in asked for word in kind_words(question.kind, text)))
