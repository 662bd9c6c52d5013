"""Units that a question names exactly: rows that have its words whole, entries by their heads.

The model of evidence compares meanings, and is unsure among things of one kind whose names look
alike. So what it finds likely of the others counts for the one that is named, unless that lacks a
telling word of the question which others have: then it is left as the model says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from helix.evidence.asked_words import heaviest
from helix.evidence.blocks import Layout
from helix.evidence.features import EXACT, Meeting
from helix.evidence.forms import Form
from helix.evidence.words import SAYS_MUCH, Floats, words_of
from helix.language.sentences import Passage, Unit
from helix.providers.offline.exact import Exact, joined
from helix.providers.offline.reading import OfferedSource

_MOST = 0.5
"""Share of an entry's likelihood from which on one of its units answers, and not its head."""
_Places = list[int]
"""The places of units that are one thing: of a row, or of an entry, its head first."""
_Bools = NDArray[np.bool_]
_Things = list[tuple[_Places, bool]]
"""Things that are compared, with whether each has all that the question tells."""


class NamedUnits:
    """The units of sources beside a question; ``layouts`` are of the sources, in order."""

    def __init__(
        self, question: str, asked: Exact, sources: Sequence[OfferedSource],
        units: Sequence[Unit], layouts: Sequence[Layout],
    ) -> None:  # fmt: skip
        self._question, self._asked, self._heaviest = question, asked, heaviest(question)
        self._sources, self._units, self._layouts = sources, units, layouts
        self._of = [sources[unit.passage].place for unit in units]

    @cached_property
    def _met(self) -> tuple[_Bools, _Bools]:
        """The telling words that each unit has or stands under, and those that stand anywhere."""
        passages = [Passage(source.text, source.place.text) for source in self._sources]
        meeting = Meeting(self._question, passages, self._units)
        above = meeting.headings[np.array([unit.passage for unit in self._units], dtype=np.intp)]
        met = np.maximum(meeting.met, above)[:, meeting.weights > SAYS_MUCH]
        return met >= EXACT, (met == 1).any(axis=0)

    def told(self, likely: Floats) -> Floats:
        """The probabilities, of what is named with those of what it is preferred to."""
        return self._of_rows(self._of_entries(likely))

    def _of_rows(self, likely: Floats) -> Floats:
        """A row has the likelihood of the likeliest that it outdoes too, and those have none.

        It has all of the question that the rows of its table have whole, those have not. Several
        such rows are as likely as they were. Where there is none, those are outdone that have no
        joined word while others have one.
        """
        told = likely.copy()
        for table in self._compared(self._rows(), [place.text for place in self._of]):
            has = {at: self._asked.told(self._units[at].text) for (at,), _ in table}
            most = frozenset[str]().union(*has.values())
            named = [at for (at,), is_told in table if most and is_told and has[at] == most]
            needed = most if named else most & self._asked.joined
            least = len(needed) if named else min(len(needed), 1)
            outdone = [at for at, one in has.items() if len(one & needed) < least]
            if len({self._units[at].text for at in named}) == 1:
                told[named] = np.minimum(1, likely[named] + likely[outdone].max(initial=0))
            told[outdone] = 0
        return told

    def _of_entries(self, likely: Floats) -> Floats:
        """An entry that is named has the likelihood of all its units, and of the likeliest other.

        Its likeliest unit has it, or its head where none has most of it.
        """
        told = likely.copy()
        for document in self._compared(self._entries(), [place.title for place in self._of]):
            named, most = list[_Places](), 0.0
            for entry, is_told in document:
                if is_told and self._is_named(entry):
                    named.append(entry)
                else:
                    most = max(most, float(likely[entry].max()))
            for entry in named:
                own = float(likely[entry].sum())
                best = max(entry, key=lambda at: likely[at])
                told[best if likely[best] >= _MOST * own else entry[0]] = min(1, own + most)
        return told

    def _compared(self, things: Sequence[_Places], keys: Sequence[str]) -> Iterator[_Things]:
        """The things whose units have the same key, such as the rows of one table.

        A thing is told where it has all telling words of the question that stand anywhere, beside
        what is around it and none of the things.
        """
        if not things:
            return
        met, anywhere = self._met
        around: dict[str, _Bools] = defaultdict(lambda: np.zeros_like(anywhere))
        for at in set(range(len(keys))).difference(*things):
            around[keys[at]] = around[keys[at]] | met[at]
        compared: dict[str, _Things] = defaultdict(list)
        for thing in things:
            has = met[thing].any(axis=0) | around[keys[thing[0]]]
            compared[keys[thing[0]]].append((thing, not (anywhere & ~has).any()))
        yield from compared.values()

    def _rows(self) -> list[_Places]:
        """The places of the rows of tables, each by itself."""
        return [
            [at]
            for at, unit in enumerate(self._units)
            if self._layouts[unit.passage].forms[unit.place] is Form.ROW
        ]

    def _entries(self) -> list[_Places]:
        """The places of each entry's units, its head first."""
        counts = [len(layout.forms) for layout in self._layouts]
        firsts = accumulate(counts, initial=0)
        return [
            [first + place for place in entry]
            for first, layout in zip(firsts, self._layouts, strict=False)
            for entry in layout.entries()
        ]

    def _is_named(self, entry: _Places) -> bool:
        """True where a head has a joined word of the question, or begins with its heaviest."""
        head = self._units[entry[0]].text
        found = words_of(head)[:1]
        begins = bool(found) and found[0].form == self._heaviest
        return begins or not self._asked.joined.isdisjoint(joined(head))
