"""A source's text as the answerer reads it, kept: its sentences, their words, stems and vectors.

Chunks are retrieved again and again, and most of an answer's time would go into reading them anew.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from helix.domain.asked import STOP_WORDS, AnswerKind, any_of, stem
from helix.language.kept import MEBIBYTE, kept
from helix.language.paraphrases import meanings
from helix.language.sentences import Span, sentence_spans
from helix.language.words import words
from helix.providers.offline.figures import tells_plan
from helix.providers.offline.vectors import WIDTH, Vectors, word_vectors

MOST_BYTES_KEPT = 64 * MEBIBYTE
"""Of chunks as they were read: of 2,000 characters some 1,200."""
MOST_WORDS_KEPT = 2**15
"""Words whose vectors are kept, 1 KB each; at the next one all is read anew."""

Floats = NDArray[np.float32]

_HEADING_WORDS = 10
_LONGEST_SENTENCE = 500  # characters; longer ones are tables and lists, quoted in parts
_NUMBER = re.compile(rf"\d[\d.,]*|\b(?:{any_of('number_words')})\b", re.IGNORECASE)
_TIME = re.compile(
    rf"\b(?:{any_of('time_words')}|1\d{{3}}s?|20\d\ds?|\d{{1,2}} ?[ap]\.?m\b|\d{{1,2}}:\d\d)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"\b[^\W\d_a-z][\w'’-]+")
_PATTERNS = {AnswerKind.NUMBER: _NUMBER, AnswerKind.TIME: _TIME, AnswerKind.NAME: _CAPITAL}
_BY_EVENT = frozenset(("before", "after", "until"))  # `until the oil shock` is a time
_VISIBLE = re.compile(r"\S")
# below a table's header, in Markdown
_UNDERLINE = re.compile(r"\|(?>(?:[ \t]*+:?-++:?[ \t]*+\|)+)")
_ENDS = re.compile(r"[.!?…:;。！？।؟][\"'”’»)\]*_]*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A quotable piece of a text, ``text[start:end]``."""

    start: int
    end: int
    text: str
    is_heading: bool


class _Lexicon:
    """The vectors of words by their number, which counts from 1."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._adding = threading.Lock()
        self.vectors: Vectors = np.zeros((MOST_WORDS_KEPT + 1, WIDTH), dtype=np.float32)

    @property
    def is_full(self) -> bool:
        return len(self._numbers) >= MOST_WORDS_KEPT

    def numbers(self, found: Sequence[str]) -> list[int]:
        """The numbers of words. The last text that is taken in may go beyond what is to be kept."""
        with self._adding:
            new = [word for word in dict.fromkeys(found) if word not in self._numbers]
            first = len(self._numbers) + 1
            if first + len(new) > len(self.vectors):
                more = np.zeros((len(new), WIDTH), dtype=np.float32)
                self.vectors = np.concatenate([self.vectors, more])
            if new:
                self.vectors[first : first + len(new)] = word_vectors().embed(new)
                self._numbers |= {word: first + place for place, word in enumerate(new)}
            return [self._numbers[word] for word in found]


class Passage:
    """One text, read. Everything in it is in the order of its ``pieces``.

    ``stems``, ``meanings``: of the words of each. ``lengths``: how many words each has, shape
    (pieces,).
    """

    def __init__(self, text: str, lexicon: _Lexicon) -> None:
        self.pieces = tuple(_pieces_of(text))
        said = [words(piece.text) for piece in self.pieces]
        self.stems = [frozenset(map(stem, each)) for each in said]
        self.meanings = [frozenset(meanings(piece.text)) for piece in self.pieces]
        self.lengths = np.array([len(each) for each in said], dtype=np.int64)
        self.vectors = word_vectors().embed([piece.text for piece in self.pieces])
        self._lexicon = lexicon
        once = [list(dict.fromkeys(each)) or [""] for each in said]
        self._words = np.array(lexicon.numbers([w for each in once for w in each]), dtype=np.int64)
        self._starts = np.cumsum([0, *map(len, once)], dtype=np.int64)[:-1]

    def similarity(self, terms: Vectors) -> Floats:
        """For each piece and term the cosine to the piece's most similar word."""
        distinct, places = self._distinct
        similar = self._lexicon.vectors[distinct] @ terms.T
        found: Floats = np.maximum.reduceat(similar[places], self._starts, axis=0)
        return found

    @cached_property
    def _distinct(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        return np.unique(self._words, return_inverse=True)

    @cached_property
    def plans(self) -> Floats:
        """1 for each piece that tells of a plan, else 0."""
        return np.array([tells_plan(piece.text) for piece in self.pieces], dtype=np.float32)

    @cached_property
    def kinds(self) -> dict[AnswerKind, list[frozenset[str]]]:
        """By kind of answer the words of that kind, of each piece."""
        return {
            kind: [frozenset(kind_words(kind, piece.text)) for piece in self.pieces]
            for kind in _PATTERNS
        }


_lexicon = _Lexicon()


@kept(most_bytes=MOST_BYTES_KEPT, bytes_a_character=25)
def _kept(text: str) -> Passage:
    return Passage(text, _lexicon)


def read_passage(text: str) -> Passage:
    """``text`` as it was read, now or before."""
    global _lexicon
    if _lexicon.is_full:
        _lexicon = _Lexicon()
        _kept.clear()  # or passages would keep the former lexicon alive
    return _kept(text)


def kind_words(kind: AnswerKind, text: str) -> list[str]:
    """The numbers, times or names of a text, as the kind of an answer asks for them."""
    found = (match.group().lower().rstrip(".,") for match in _PATTERNS[kind].finditer(text))
    return [word for word in found if word not in STOP_WORDS or word in _BY_EVENT]


def _pieces_of(text: str) -> list[Piece]:
    spans = [piece for span in sentence_spans(text) for piece in _cut(text, span)]
    found: list[Piece] = []
    for number, (start, end) in enumerate(spans):
        piece = text[start:end]
        if _UNDERLINE.fullmatch(piece):
            if found:  # the row above it names the columns: the heading of those below
                found[-1] = replace(found[-1], is_heading=True)
            continue
        is_last = number + 1 == len(spans)
        found.append(Piece(start, end, piece, _is_heading(piece) and not is_last))
    return found


def _cut(text: str, span: Span) -> list[Span]:
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
