"""The quote that answers: the likeliest unit of the sources, with what belongs to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from helix.domain.contract import REFUSAL
from helix.domain.question_analysis import any_of, read_question
from helix.evidence.blocks import Form, Layout
from helix.evidence.model import evidence_model, how_likely
from helix.evidence.units import Passage, Unit, units_of
from helix.evidence.words import Floats, words_of
from helix.language.folding import copy_words
from helix.language.rows import INWARDS
from helix.providers.offline.reading import PromptSource

_TRIED = 8
"""Units tried from the likeliest on: the first ones may lack a number or a name of the question."""
_GOES_ON = 0.1
"""Share of the unit's probability from which on what follows in its paragraph is quoted too."""
_SAID = 0.3
"""Weight of a unit that the conversation has already."""
_MOST_WORDS = 100  # of one unit; of a longer one, which has no sentences, the part that answers
_NEGATION = re.compile(
    rf"\b(?:{any_of('negations')})\b|n['’]t\b|\b(?:un|non|dis)-?[a-z]{{4,}}", re.IGNORECASE
)
_CLAUSE = re.compile(r"[^;:,.\n]+[;:,.\n]*\s*|[;:,.\n]+\s*")


@dataclass(frozen=True)
class Quote:
    """Characters of one source: ``sources[source].text[start:end]``; ``form`` of its unit."""

    source: int
    start: int
    end: int
    form: Form = Form.TEXT


def likeliest(
    question: str, sources: Sequence[PromptSource], risk: float, before: str = ""
) -> list[Quote]:
    """The unit that likeliest answers, with what belongs to it; nothing where none is likely.

    ``risk`` is the share of wrong answers that is accepted, from which follows how likely the
    likeliest must be. A unit that the conversation ``before`` has already stands behind one
    that is a third as likely: a follow-up seldom asks for what was just said.
    """
    read = _Reading(question, sources, before)
    return read.likeliest(evidence_model().bar(risk))


class _Reading:
    """The units of the sources, how likely each answers, what belongs to each."""

    def __init__(self, question: str, sources: Sequence[PromptSource], before: str = "") -> None:
        self._question, self._sources = question, sources
        passages = [Passage(source.text, source.place.text) for source in sources]
        self._units = units_of(passages)
        self.probabilities = how_likely(question, tuple(passages))
        self._preference = self.probabilities * self._newness(before)
        own: list[list[Unit]] = [[] for _ in passages]
        for unit in self._units:
            own[unit.passage].append(unit)
        self._own = own
        self._layouts = [
            Layout(passage, units) for passage, units in zip(passages, own, strict=True)
        ]

    def _newness(self, before: str) -> Floats:
        """A weight for each unit, less than 1 of those that ``before`` has.

        A question that is asked again is answered again.
        """
        said = _as_line(before)
        if _as_line(self._question) in said:
            return np.ones(len(self._units), dtype=np.float32)
        weights = [_SAID if _as_line(unit.text) in said else 1 for unit in self._units]
        return np.array(weights, dtype=np.float32)

    def likeliest(self, bar: float) -> list[Quote]:
        """The quotes of the likeliest unit that may be quoted; none below the ``bar``.

        A number or identifier of the question must stand in what is quoted, above it or, for a
        number, in its source, and its negation in the unit: that is exact, whatever the model
        says.
        """
        exact = _exact(self._question)
        ranked = np.argsort(-self._preference, kind="stable")
        for place in map(int, ranked[self.probabilities[ranked] >= bar][:_TRIED]):
            quotes = self.quotes(place)
            if quotes and self._holds(exact, place) and _has_all(exact, quotes, self._sources):
                return quotes
        return []

    def _holds(self, exact: _Exact, place: int) -> bool:
        """True where the unit at ``place`` has the negation of the question, or that has none."""
        return not exact.is_negated or bool(_NEGATION.search(self._units[place].text))

    def quotes(self, place: int) -> list[Quote]:
        """The unit at ``place`` and what belongs to it; none where it only names something.

        For a row that names a table's columns, the likeliest row under it.
        """
        chosen = self._units[place]
        layout, own = self._layouts[chosen.passage], self._own[chosen.passage]
        first = place - chosen.place

        def likely(at: int) -> float:
            return float(self.probabilities[first + at])

        said = max(layout.rows_under(chosen.place), key=likely, default=chosen.place)
        places = layout.quoted(said, lambda at: likely(at) >= _GOES_ON * likely(said))
        if any(REFUSAL in own[at].text or INWARDS in own[at].text for at in places):
            return []  # a table's row with named columns is for its cells
        return [
            Quote(chosen.passage, *_part(own[at], self._question), layout.forms[at])
            for at in places
        ]


def _as_line(text: str) -> str:
    return f" {' '.join(copy_words(text))} "


@dataclass(frozen=True)
class _Exact:
    """The numbers of a question, its words of letters and digits or underscores, its negation."""

    numbers: frozenset[str]
    identifiers: frozenset[str]
    is_negated: bool


def _exact(question: str) -> _Exact:
    forms = [word.form for word in words_of(question)]
    with_digit = frozenset(form for form in forms if any(map(str.isdigit, form)))
    plain = frozenset(form for form in with_digit if not any(map(str.isalpha, form)))
    identifiers = (with_digit - plain) | {form for form in forms if "_" in form}
    return _Exact(plain, identifiers, read_question(question).negated)


def _has_all(exact: _Exact, quotes: Sequence[Quote], sources: Sequence[PromptSource]) -> bool:
    source = sources[quotes[0].source]
    quoted = " ".join(source.text[one.start : one.end] for one in quotes)
    near = {word.form for word in words_of(f"{source.place.text}\n{quoted}")}
    if not exact.identifiers <= near:
        return False
    return exact.numbers <= near | {word.form for word in words_of(source.text)}


def _part(unit: Unit, question: str) -> tuple[int, int]:
    """The place of the unit in its source; of a very long one the clauses that meet most words."""
    if len(unit.text.split()) <= _MOST_WORDS:
        return unit.start, unit.end
    asked = {word.form for word in words_of(question)}
    pieces = [(match.start(), match.end()) for match in _CLAUSE.finditer(unit.text)]
    best, most = (0, len(unit.text)), -1.0
    for first, (start, _) in enumerate(pieces):
        for _, end in pieces[first:]:
            run = unit.text[start:end].rstrip()
            if len(run.split()) > _MOST_WORDS:
                break
            met = len(asked & {word.form for word in words_of(run)}) - len(run.split()) / 1000
            if met > most:
                best, most = (start, start + len(run)), met
    return unit.start + best[0], unit.start + best[1]
