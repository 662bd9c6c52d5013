"""How well each sentence of the sources answers a question: one number a sentence.

A question's term counts as met by the most similar word of a sentence (1 for the same stem, the
cosine of the word vectors otherwise), weighed by how much the word says and how rare it is among
the sentences. Neighbours and headings lend a sentence part of what they meet. Weights were chosen
on half of two public sets; they are flat around the values here (decision record 0004).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from helix.providers.offline.question import STOP_WORDS, Kind, Question, stem
from helix.providers.offline.reading import Source
from helix.providers.offline.vectors import Vectors, word_vectors
from helix.text import Span, sentence_spans, words

Floats = NDArray[np.float32]

_SIMILAR = 0.3  # cosine of two words from which they begin to count as alike
_FROM_PREVIOUS = 0.8  # share of a met term that the sentence before lends: pronouns point back
_FROM_NEXT = 0.4
_FROM_HEADING = 0.9
_FROM_HEADING_ALONE = 0.5  # and to the sentence's own account: a section is about its heading
_HEADING_REACH = 8  # sentences under a heading
_HEADING_WORDS = 10
_COSINE_WEIGHT = 0.8
_KIND_WEIGHT = 0.2
_FRAGMENT_WORDS = 5
_FRAGMENT_PENALTY = 0.1
_LONGEST_SENTENCE = 500  # characters; longer ones are tables and lists, quoted in parts

_NUMBER = re.compile(
    r"\d[\d.,]*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred"
    r"|thousand|million|billion|half|third|quarter|once|twice|percent|several)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|days?|weeks?|months?|years?|century|centuries"
    r"|decades?|hours?|minutes?|today|annual(?:ly)?|daily|weekly|monthly|1\d{3}s?|20\d\ds?"
    r"|\d{1,2} ?[ap]\.?m\b|\d{1,2}:\d\d)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"\b[^\W\d_a-z][\w'’-]+")
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
    """Sentences and, row by row, what they are worth.

    ``met``: shape (sentences, terms), 0 to 1, the sentence alone. ``scores``: about 0 to 3.
    ``weights`` of the terms sum to 1.
    """

    sentences: Sequence[Sentence]
    met: Floats
    scores: Floats
    weights: Floats


def weigh_evidence(question: Question, sources: Sequence[Source]) -> Evidence:
    """Score every sentence of the sources."""
    sentences = [s for place, source in enumerate(sources) for s in _sentences(place, source.text)]
    if not sentences or not question.terms:
        empty = np.zeros((0, len(question.terms)), dtype=np.float32)
        return Evidence([], empty, empty[:, 0] if question.terms else empty.ravel(), empty.ravel())
    said = [words(sentence.text) for sentence in sentences]
    stems = [{stem(word) for word in each} for each in said]
    exact = np.array(
        [[stem(term) in each for term in question.terms] for each in stems], dtype=np.float32
    )
    vectors, sizes = word_vectors().embed_and_weigh(question.terms)
    alike = np.clip((_likeness(vectors, said) - _SIMILAR) / (1 - _SIMILAR), 0, 1)
    met = np.maximum(exact, alike)
    rarity = np.log(1 + len(sentences) / (exact.sum(axis=0) + 0.5))
    weights = sizes * np.sqrt(rarity)
    weights = weights / max(float(weights.sum()), 1e-6)
    embedded = word_vectors().embed([question.text, *(s.text for s in sentences)])
    headed = _under_headings(met, sentences)
    scores = (
        np.maximum(met, _FROM_HEADING_ALONE * headed) @ weights
        + np.maximum(_with_neighbours(met, sentences), _FROM_HEADING * headed) @ weights
        + _COSINE_WEIGHT * (embedded[1:] @ embedded[0])
        + _KIND_WEIGHT * np.array([_has_kind(question, s.text) for s in sentences])
        - _FRAGMENT_PENALTY * np.array([len(each) < _FRAGMENT_WORDS for each in said])
    )
    return Evidence(sentences, met, scores.astype(np.float32), weights.astype(np.float32))


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


def _likeness(terms: Vectors, said: Sequence[Sequence[str]]) -> Floats:
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


def _with_neighbours(met: Floats, sentences: Sequence[Sentence]) -> Floats:
    """``met`` with what the sentences before and after in the same source lend."""
    lent = met.copy()
    for i in range(1, len(sentences)):
        if sentences[i - 1].source == sentences[i].source:
            lent[i] = np.maximum(lent[i], _FROM_PREVIOUS * met[i - 1])
            lent[i - 1] = np.maximum(lent[i - 1], _FROM_NEXT * met[i])
    return lent


def _under_headings(met: Floats, sentences: Sequence[Sentence]) -> Floats:
    """For each sentence what the heading above it meets, zeros where there is none near."""
    headed = np.zeros_like(met)
    heading: int | None = None
    for i, sentence in enumerate(sentences):
        if heading is not None and (
            sentences[heading].source != sentence.source or i - heading > _HEADING_REACH
        ):
            heading = None
        if sentence.is_heading:
            heading = i
        elif heading is not None:
            headed[i] = met[heading]
    return headed


def _has_kind(question: Question, text: str) -> float:
    """1 if the sentence holds what the question asks for and does not say itself, else 0."""
    if question.kind is Kind.OPEN:
        return 0.5
    pattern = {Kind.NUMBER: _NUMBER, Kind.TIME: _TIME, Kind.NAME: _CAPITAL}[question.kind]
    asked = set(words(question.text))
    found = (match.group().lower().rstrip(".,") for match in pattern.finditer(text))
    return float(any(word not in asked and word not in STOP_WORDS for word in found))
