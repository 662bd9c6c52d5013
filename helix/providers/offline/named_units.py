"""Units that a question names exactly: rows that have its words whole, entries by their heads.

The model of evidence compares meanings, and is unsure among things of one kind whose names look
alike. So what it finds likely of the others counts for the one that is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from helix.evidence.asked_words import heaviest
from helix.evidence.blocks import Layout
from helix.evidence.forms import Form
from helix.evidence.words import Floats, words_of
from helix.language.sentences import Unit
from helix.providers.offline.exact import Exact, joined
from helix.providers.offline.reading import OfferedSource

_MOST = 0.5
"""Share of an entry's likelihood from which on one of its units answers, and not its head."""


class NamedUnits:
    """The units of sources beside a question; ``layouts`` are of the sources, in order."""

    def __init__(
        self, question: str, asked: Exact, sources: Sequence[OfferedSource],
        units: Sequence[Unit], layouts: Sequence[Layout],
    ) -> None:  # fmt: skip
        self._asked, self._heaviest = asked, heaviest(question)
        self._sources, self._units, self._layouts = sources, units, layouts
        counts = [len(layout.forms) for layout in layouts]
        self._firsts = [0, *accumulate(counts)]

    def told(self, likely: Floats) -> Floats:
        """The probabilities, of what is named with those of what it is preferred to."""
        return self._of_rows(self._of_entries(likely))

    def _of_rows(self, likely: Floats) -> Floats:
        """A row has the likelihood of the likeliest that it outdoes too, and those have none."""
        told, outdone = likely.copy(), set[int]()
        for at, others in self._outdone().items():
            told[at] = min(1, likely[at] + max((likely[one] for one in others), default=0))
            outdone.update(others)
        told[list(outdone)] = 0
        return told

    def _outdone(self) -> dict[int, list[int]]:
        """By the place of a row those of its table's rows that have less of the question whole.

        The question asks for it and not for them, however likely they are to the model.
        """
        rows = {
            at: self._asked.told(unit.text)
            for at, unit in enumerate(self._units)
            if self._layouts[unit.passage].forms[unit.place] is Form.ROW
        }
        return {
            at: [one for one, less in rows.items() if less < told and self._is_beside(one, at)]
            for at, told in rows.items()
            if told
        }

    def _is_beside(self, one: int, other: int) -> bool:
        """True for two units of one section."""
        first, second = (self._sources[self._units[at].passage].place for at in (one, other))
        return first == second

    def _of_entries(self, likely: Floats) -> Floats:
        """An entry that is named has the likelihood of all its units, and of the likeliest other.

        Its likeliest unit has it, or its head where none has most of it.
        """
        told, entries = likely.copy(), list(self._entries())
        for entry in entries:
            if not self._is_named(self._units[entry[0]].text):
                continue
            own = float(likely[entry].sum())
            best = max(entry, key=lambda at: likely[at])
            others = [at for one in entries if self._is_other(one, entry) for at in one]
            at = best if likely[best] >= _MOST * own else entry[0]
            told[at] = min(1, own + max((float(likely[one]) for one in others), default=0))
        return told

    def _entries(self) -> Iterator[list[int]]:
        """The places of each entry's units, its head first."""
        for first, layout in zip(self._firsts, self._layouts, strict=False):
            for entry in layout.entries():
                yield [first + place for place in entry]

    def _is_named(self, head: str) -> bool:
        """True where a head has a joined word of the question, or begins with its heaviest."""
        found = words_of(head)[:1]
        begins = bool(found) and found[0].form == self._heaviest
        return begins or not self._asked.joined.isdisjoint(joined(head))

    def _is_other(self, one: Sequence[int], entry: Sequence[int]) -> bool:
        """True for an entry of the same document that is not named."""
        titles = {self._sources[self._units[at[0]].passage].place.title for at in (one, entry)}
        return len(titles) == 1 and not self._is_named(self._units[one[0]].text)
