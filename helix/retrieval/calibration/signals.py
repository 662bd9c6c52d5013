"""Signals of a search that its chunks answer the question, as numbers. Pure.

Each signal is larger where an answer is likelier, so the weights of a fit are never negative. They
are made of a hybrid search's own result: distances, BM25 scores, in how many chunks each word of
the question is, and the text of the first chunks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.records import Hit, SearchResult
from helix.language.terms import question_words, terms
from helix.language.word_lists import tables

SIGNALS = ("near", "lexical", "passage", "names", "known", "unnegated", "kind")
"""In the order of ``signals``:

- ``near``: the nearest cosine distance, negated: -2 to 0.
- ``lexical``: the best BM25 score by the most that the question's words could score, 0 to 1.
- ``passage``: the idf-weighted share of the question's words within one passage, 0 to 1.
- ``names``: the same of its names and numbers within that passage and the chunk's title; 1 where
  it has none.
- ``known``: the idf-weighted share of its words that any chunk of the tenant has, 0 to 1.
- ``unnegated``: 0 where the question negates and the passage does not, else 1.
- ``kind``: 0 where it asks for a number, a time or a name that the passage lacks, else 1.
"""

FIRST = DEFAULT_TOP_K
"""Chunks that are read, at most: reading more costs time and tells no more."""
PASSAGE = 150
"""Characters within which words count as together: about a sentence. Of 250, SQuAD 2's near misses
are refused 1.5 points less at 0.85 coverage."""
_AROUND = 60  # characters before and after them where the answer may stand
_MOST_WORDS = 48

_WORD = re.compile(r"[^\W_]*(?:['’-][^\W_]+)*")
_NAMED = re.compile(r"(?<=\S\s)[^\W\da-z_][^\W_]*(?:['’-][^\W_]+)*|(?<![^\W_])[^\W_]*\d[^\W_]*")
_WORDS = {name: "|".join(listed.split()) for name, listed in tables("signals").items()}
_NEGATION = re.compile(rf"\b(?:{_WORDS['negations']})\b|n['’]t\b", re.IGNORECASE)
_NUMBER = re.compile(rf"\d|\b(?:{_WORDS['numbers']})\b", re.IGNORECASE)
_TIME = re.compile(rf"\d|\b(?:{_WORDS['times']})\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;:)] )[A-ZÀ-Þ][\w'’-]+")
_ASKS_NUMBER = re.compile(r"\bhow (?:many|much|long|old|far|often|large|big|tall|high)\b", re.I)
_ASKS_TIME = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|century|decade|date|month|day)\b", re.I)
_ASKS_NAME = re.compile(r"\bwho(?:m|se)?\b", re.I)


@dataclass(frozen=True)
class _Asked:
    """A question's words by number: their forms, their idf, and which of them are names.

    ``stubs`` are what the words of a text that are of a form begin with.
    """

    forms: Mapping[str, int]
    stubs: frozenset[str]
    idf: Sequence[float]
    names: frozenset[int]

    @property
    def total(self) -> float:
        return sum(self.idf)

    def share(self, words: frozenset[int] | set[int]) -> float:
        """The idf-weighted share of these of all words."""
        return sum(self.idf[word] for word in words) / self.total


@dataclass(frozen=True)
class _Passage:
    """The question's words within a few sentences of a chunk, and the text around them."""

    title: str
    within: frozenset[int]
    text: str


def signals(question: str, found: SearchResult, first: int = FIRST) -> tuple[float, ...] | None:
    """The SIGNALS of ``found``, of its ``first`` candidates at most.

    None where there is nothing to tell by: no chunk, a search by distance alone, or no distance.
    """
    candidates = found.candidates[: min(first, FIRST)]
    nearest = found.nearest
    asked = _asked(question, found)
    if not candidates or nearest is None or nearest != nearest or asked is None:
        return None
    memory: dict[str, frozenset[int]] = {}
    passages = [_best_passage(asked, candidate.hit, memory) for candidate in candidates]
    best = max(passages, key=lambda one: asked.share(one.within))
    score = max(candidate.score or 0.0 for candidate in candidates)
    known = {word for word, n in enumerate(found.frequencies[: len(asked.idf)]) if n}
    return (
        -nearest,
        min(score / asked.total, 1.0),
        asked.share(best.within),
        _of_names(asked, best, memory),
        asked.share(known),
        float(not _NEGATION.search(question) or bool(_NEGATION.search(best.text))),
        float(_has_kind(question, best.text)),
    )


def _asked(question: str, found: SearchResult) -> _Asked | None:
    count = min(len(found.frequencies), _MOST_WORDS)
    if not count or not found.chunks:
        return None
    forms = {form: word for form, word in question_words(question).items() if word < count}
    idf = [
        math.log1p((found.chunks - n + 0.5) / (n + 0.5))
        for n in map(int, found.frequencies[:count])
    ]
    named = (term for match in _NAMED.findall(question) for term in (match.lower(), *terms(match)))
    stubs = frozenset(map(_stub, forms))
    return _Asked(forms, stubs, idf, frozenset(forms[term] for term in named if term in forms))


def _of_names(asked: _Asked, best: _Passage, memory: dict[str, frozenset[int]]) -> float:
    if not asked.names:
        return 1.0
    titled = {word for _, word in _places(asked, best.title.lower(), memory)}
    met = asked.names & (best.within | titled)
    return sum(asked.idf[word] for word in met) / sum(asked.idf[word] for word in asked.names)


def _best_passage(asked: _Asked, hit: Hit, memory: dict[str, frozenset[int]]) -> _Passage:
    """The stretch of at most PASSAGE characters that has most of the question's words."""
    text = hit.content.lower()
    places = sorted(_places(asked, text, memory))
    first, most, at = 0, -1.0, (0, 0)
    inside: dict[int, int] = {}
    weight = 0.0
    for last, (place, word) in enumerate(places):
        if not inside.get(word):
            weight += asked.idf[word]
        inside[word] = inside.get(word, 0) + 1
        while place - places[first][0] > PASSAGE:
            gone = places[first][1]
            inside[gone] -= 1
            weight -= 0.0 if inside[gone] else asked.idf[gone]
            first += 1
        if weight > most + 1e-9:
            most, at = weight, (first, last + 1)
    chosen = places[slice(*at)]
    kept = hit.content if len(text) == len(hit.content) else text
    around = kept[max(chosen[0][0] - _AROUND, 0) : chosen[-1][0] + _AROUND] if chosen else ""
    return _Passage(hit.title, frozenset(word for _, word in chosen), around)


def _places(
    asked: _Asked, text: str, memory: dict[str, frozenset[int]]
) -> Iterator[tuple[int, int]]:
    """(place, word number) of each word of ``text`` that is one of the question's."""
    for stem in asked.stubs:
        place = text.find(stem)
        while place >= 0:
            if place == 0 or not text[place - 1].isalnum() or _unspaced(stem):
                for word in _numbers(asked.forms, text, place, stem, memory):
                    yield place, word
            place = text.find(stem, place + len(stem))


def _numbers(
    forms: Mapping[str, int], text: str, place: int, stem: str, memory: dict[str, frozenset[int]]
) -> frozenset[int]:
    """The numbers of the word at ``place`` and its parts; none where it only begins alike."""
    match = _WORD.match(text, place)
    written = match[0] if match and match[0] and not _unspaced(stem) else stem
    if written not in memory:
        plain = written in forms and written.isalpha()
        found = {written} if plain else {written, *terms(written)} & forms.keys()
        if not found and not stem.isalnum():
            found = {stem}
        memory[written] = frozenset(forms[form] for form in found)
    return memory[written]


def _stub(form: str) -> str:
    """The beginning of every word of a stem: ``citi`` is of ``city`` and ``cities``."""
    return form[:-1] if len(form) > 3 and form[-1] in "iy" else form


def _unspaced(stem: str) -> bool:
    """True if the stem's script writes no spaces; there words are pairs of characters."""
    return stem[0] >= "\u0e00"


def _has_kind(question: str, passage: str) -> bool:
    """True if the passage has something of the kind that is asked for: a number, time or name."""
    if _ASKS_NUMBER.search(question):
        return bool(_NUMBER.search(passage))
    if _ASKS_TIME.search(question):
        return bool(_TIME.search(passage))
    if _ASKS_NAME.search(question):
        asked = question.lower()
        return any(name.lower() not in asked for name in _NAME.findall(passage))
    return True
