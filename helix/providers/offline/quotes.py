"""The quotes that answer: the likeliest units of the sources, with what belongs to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from helix.domain.contract import REFUSAL
from helix.domain.followups import topic_of, with_topic
from helix.evidence.asked_words import heaviest, is_met
from helix.evidence.blocks import Layout
from helix.evidence.forms import ASKS, Form, bare, is_row
from helix.evidence.model import LIKELY, evidence_model, how_likely
from helix.evidence.words import Floats, words_of
from helix.language.rows import BESIDE, INWARDS
from helix.language.sentences import Passage, Unit, units_of
from helix.language.words import copy_words
from helix.providers.offline.exact import Exact, exact, forms
from helix.providers.offline.named_units import NamedUnits
from helix.providers.offline.reading import OfferedSource

_TRIED = 8
"""Units tried from the likeliest on: the first ones may lack a number or a name of the question."""
_GOES_ON = 0.1
"""Share of the unit's probability from which on what follows in its paragraph is quoted too."""
_LEADS = 0.4
"""The same of what stands in front of it."""
_ALIKE = 0.35
"""Share of a list item's probability from which on its neighbours are quoted with it."""
_SECOND = 0.5
"""Share of the likeliest unit's probability from which on a second one is quoted too."""
_LATEST = 0.75
"""Share of what is likeliest behind an earlier topic from which on a later topic is gone on with:
of names 0.78 to 1.2 (`And the Master's?`), of turns about the same thing 0.5 to 0.7 (`Why?`)."""
_ANSWERS = 0.3
"""Least sum of the probabilities of sentences behind a question of the text that answer it: of 25
answers 23 have 0.31 to 1.2; of 13 texts that leave their question open 10 have 0.07 to 0.25."""
_SAID = 0.1
"""Weight of a unit that the conversation has already."""
_MOST_WORDS = 100  # of one unit; of a longer one, which has no sentences, the part that answers
_CLAUSE = re.compile(r"[^;:,.\n]+[;:,.\n]*\s*|[;:,.\n]+\s*")


@dataclass(frozen=True)
class Quote:
    """Characters of one source: ``sources[source].text[start:end]``; ``form`` of its unit."""

    source: int
    start: int
    end: int
    form: Form = Form.TEXT


def likeliest(
    question: str,
    sources: Sequence[OfferedSource],
    risk: float,
    follows: str = "",
    said: str = "",
    needed: str = "",
) -> list[list[Quote]]:
    """The unit that likeliest answers, with what belongs to it; nothing where none is likely.

    Where a second one is not much less likely, and the first not sure, both. ``risk`` is the share
    of wrong answers that is accepted, from which follows how likely the likeliest must be. A
    question that ``follows`` others, a line each, the latest first, is read behind the topic of
    one, and by itself too where it has a telling word; that word, or the topic's, must stand in
    what is quoted. A unit that the conversation has ``said`` stands behind one that is a tenth as
    likely: a follow-up seldom asks for what was just said.
    """
    own = heaviest(question) if follows else ""
    topics = [topic_of(one) for one in follows.splitlines()]
    read = _Reading(question, sources, topics, said, needed or own, stands=bool(own))
    return read.likeliest(evidence_model().bar(risk))


class _Reading:
    """The units of the sources, how likely each answers, what belongs to each."""

    def __init__(
        self,
        question: str,
        sources: Sequence[OfferedSource],
        topics: Sequence[str] = (),
        said: str = "",
        needed: str = "",
        *,
        stands: bool = False,
    ) -> None:
        self._question, self._sources = question, sources
        passages = [Passage(source.text, source.place.text) for source in sources]
        self._units = units_of(passages)
        read, new = tuple(passages), self._newness(said)
        behind = {topic: how_likely(with_topic(question, topic), read) for topic in topics or [""]}
        enough = _LATEST * max(float(one.max(initial=0)) for one in behind.values())
        topic, likely = next(one for one in behind.items() if one[1].max(initial=0) >= enough)
        self._asked = exact(question)
        self._needed = needed or ("" if self._asked.names else heaviest(topic))
        if topic:
            likely = likely / max(1 - float(likely[new < 1].sum()), 0.1)
        if stands or self._asked.names:
            likely = np.maximum(likely, how_likely(question, read))
        self._new = new
        lines = (line for passage in passages for line in passage.headings.splitlines())
        self._titles = frozenset(map(bare, lines))
        own: list[list[Unit]] = [[] for _ in passages]
        for unit in self._units:
            own[unit.passage].append(unit)
        self._own = own
        self._layouts = [
            Layout(passage, units) for passage, units in zip(passages, own, strict=True)
        ]
        named = NamedUnits(question, self._asked, sources, self._units, self._layouts)
        self.probabilities = named.told(likely)
        self._preference = self.probabilities * new

    def _newness(self, before: str) -> Floats:
        """A weight for each unit, less than 1 of those that ``before`` has.

        A question that is asked again is answered again, and a row has further cells to ask for.
        """
        said = _as_line(before)
        if _as_line(self._question) in said:
            return np.ones(len(self._units), dtype=np.float32)
        told = (not is_row(unit.text) and _as_line(unit.text) in said for unit in self._units)
        return np.array([_SAID if one else 1 for one in told], dtype=np.float32)

    def likeliest(self, bar: float) -> list[list[Quote]]:
        """The quotes of the one or two likeliest units that may be quoted; none below the ``bar``.

        A number or identifier of the question must stand in what is quoted, above it or, for a
        number, in its source, and its negation in the unit: that is exact, whatever the model
        says.
        """
        asked, found, least = self._asked, list[list[Quote]](), 0.0
        ranked = np.argsort(-self._preference, kind="stable")
        for place in map(int, ranked[self.probabilities[ranked] >= bar][:_TRIED]):
            if len(found) == 2 or self._preference[place] < least:
                break
            if found and self._new[place] < 1:
                continue
            quotes = max(map(self.quotes, self._copies(place)), key=len)
            is_told = asked.denies_as(self._units[place].text) and self._has_all(asked, quotes)
            if is_told and self._is_new(quotes, found):
                found.append(quotes)
                is_sure = self.probabilities[place] >= LIKELY
                least = 1 if is_sure else _SECOND * float(self._preference[place])
        return found

    def _copies(self, place: int) -> list[int]:
        """The place of a unit, then those of its copies in chunks of its section that overlap."""
        chosen = self._units[place]
        where = self._sources[chosen.passage].place
        others = (
            at
            for at, unit in enumerate(self._units)
            if unit.text == chosen.text and unit.passage != chosen.passage
            and self._sources[unit.passage].place == where and self._overlap(chosen, unit)
        )  # fmt: skip
        return [place, *others]

    def _overlap(self, one: Unit, other: Unit) -> bool:
        """True where the chunks of two copies have the same around them, as far as both go."""
        first, second = (self._sources[unit.passage].text for unit in (one, other))
        before, behind = first[: one.start], first[one.start :]
        front, rest = second[: other.start], second[other.start :]
        return (before.endswith(front) or front.endswith(before)) and (
            behind.startswith(rest) or rest.startswith(behind)
        )

    def _is_new(self, quotes: Sequence[Quote], found: Sequence[Sequence[Quote]]) -> bool:
        """True where nothing of ``quotes`` is among those ``found``, nor a copy of them."""
        said = _as_line(" ".join(self._text(one) for before in found for one in before))
        return not any(_as_line(self._text(one)) in said for one in quotes)

    def _text(self, quote: Quote) -> str:
        return self._sources[quote.source].text[quote.start : quote.end]

    def _has_all(self, asked: Exact, quotes: Sequence[Quote]) -> bool:
        if not quotes:
            return False
        source = self._sources[quotes[0].source]
        quoted = " ".join(map(self._text, quotes))
        near = forms(f"{source.place.text}\n{quoted}")
        if not asked.identifiers <= near or not is_met(self._needed, near):
            return False
        if not asked.counts_as(quoted):
            return False
        return asked.numbers_in(near | forms(source.text), source.text)

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
        places = layout.quoted(
            said,
            goes_on=lambda at: likely(at) >= _GOES_ON * likely(said),
            leads=lambda at: self._preference[first + at] >= _LEADS * likely(said),
            answers=lambda at, rest: _is_answer(own[at].text, [own[one].text for one in rest]),
        )
        if places == [said] and layout.forms[said] is Form.ITEM:
            places = layout.alike(said, lambda at: likely(at) >= _ALIKE * likely(said))
        texts = [own[at].text for at in places]
        if any(REFUSAL in text or INWARDS in text for text in texts):
            return []  # a table's row with named columns is for its cells
        if self._titles.issuperset(map(bare, texts)) or bare("".join(texts)) in self._titles:
            return []  # an entry of a table of contents
        if all(text.endswith(ASKS) for text in texts):
            return []  # it asks as well
        if layout.forms[places[0]] is not Form.HEADING:
            places = layout.record_of(places[0]) + places
        return [
            Quote(chosen.passage, *_part(own[at], form, self._question), form)
            for at, form in ((at, layout.forms[at]) for at in places)
        ]


def _is_answer(question: str, sentences: Sequence[str]) -> bool:
    """True where the sentences behind a text's own question likely answer it."""
    behind = Passage("\n".join(sentences), question)
    return float(how_likely(question, (behind,)).sum()) >= _ANSWERS


def _as_line(text: str) -> str:
    return f" {' '.join(copy_words(text))} "


def _heading(unit: Unit) -> tuple[int, int]:
    """The place of a heading's words: its line without the marks before, behind and under it."""
    lines = (line.strip("# \t\r") for line in unit.text.split("\n"))
    words = next((line for line in lines if any(map(str.isalnum, line))), unit.text)
    start = unit.start + unit.text.index(words)
    return start, start + len(words)


def _part(unit: Unit, form: Form, question: str) -> tuple[int, int]:
    """The place of the unit in its source; of a very long one the clauses that meet most words.

    A row is long where one of its cells is: a few of many cells have lost the name of their row.
    """
    if form is Form.HEADING:
        return _heading(unit)
    cells = unit.text.split(BESIDE) if form is Form.ROW else [unit.text]
    if all(len(cell.split()) <= _MOST_WORDS for cell in cells):
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
