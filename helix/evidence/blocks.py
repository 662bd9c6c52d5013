"""Blocks of a text by its layout: what belongs together when one unit of it is quoted.

A sentence that announces a list or a command is quoted with it, a heading by what stands under it,
and a sentence with those that go on behind it in its paragraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, dropwhile, takewhile

from helix.evidence.forms import ANNOUNCES, ASKS, HEAD, STEP, Form, Forms, is_record, is_row

MOST_WORDS = 60
"""Of what is quoted of one paragraph; an announced list may have as many words again."""
_MOST_UNITS = 24


class Layout(Forms):
    """The units of one passage with their forms, and which of them to quote together."""

    def quoted(
        self,
        place: int,
        goes_on: Callable[[int], bool] = lambda _: True,
        leads: Callable[[int], bool] = lambda _: False,
        answers: Callable[[int, Sequence[int]], bool] = lambda *_: False,
    ) -> list[int]:
        """Places of the units to quote for the one at ``place``, in order; none for a mark.

        The one at ``place`` is among them, but for a heading with which ``goes_on`` says that what
        stands under it goes, or that asks. What stands in front of it in its paragraph is quoted as
        far back as ``leads`` says so of each place, what follows as long as ``goes_on`` does, or as
        far as a command that the paragraph ends with. Under a heading that asks, and behind a
        question that opens a paragraph or a line, its rest is the answer as far as the next such
        question, where it begins on a line of its own or ``answers`` says so of both; under a
        heading further paragraphs are quoted too as long as ``goes_on`` does. What stands under
        another heading that asks is quoted with that.
        """
        below = self._behind_heading(place)
        asks = self._asks(place)
        is_answer = asks and (below != place or self._is_answered(place, answers))
        places = self._quoted(place, below, self._goes_on_telling if is_answer else goes_on, leads)
        if places and is_answer and below != place:
            places += takewhile(goes_on, self._further(places))
        is_said = below == place or asks or not places or goes_on(below)
        nearest = self._nearest_question(place, below) if places else []
        return nearest + places if is_said else [place, *places]

    def _asks(self, place: int) -> bool:
        lines = self._units[place].text.split("\n")
        return any(line.rstrip("# ").endswith(ASKS) for line in lines)

    def _nearest_question(self, place: int, below: int) -> list[int]:
        """The last heading that asks between a heading and the text under it."""
        between = range(below - 1, place, -1)
        return [at for at in between if self._opens_line(self._units[at]) and self._asks(at)][:1]

    def _is_answered(self, place: int, answers: Callable[[int, Sequence[int]], bool]) -> bool:
        """True for a question that opens a paragraph or a line and whose answer stands behind it.

        A line's end shows a list of questions; in prose a question may be left open.
        """
        if not self._opens_asking(place):
            return False
        rest = [*dropwhile(self._asks, self._rest_of_paragraph(place, 0))]
        return bool(rest) and ("\n" in self._between(rest[0] - 1) or answers(place, rest))

    def _opens_asking(self, place: int) -> bool:
        """True for a question that only questions stand in front of in its paragraph or line."""
        while self.forms[place] in (Form.TEXT, Form.ITEM) and self._asks(place):
            if self._starts_block(place) or self._opens_line(self._units[place]):
                return True
            place -= 1
        return False

    def _goes_on_telling(self, place: int) -> bool:
        """True but for a question that opens a line, behind what is none."""
        opens = self._asks(place) and self._opens_line(self._units[place])
        return not opens or self._asks(place - 1)

    def _further(self, places: Sequence[int]) -> Iterator[int]:
        """Sentences behind the paragraph that ``places`` end with, as far as the words go."""
        words = sum(map(self._words, places))
        if not self._ends_block(places[-1]):
            return
        for at in range(places[-1] + 1, len(self._units)):
            words += self._words(at)
            if self.forms[at] is not Form.TEXT or words > MOST_WORDS:
                return
            yield at

    def _quoted(
        self, found: int, place: int, goes_on: Callable[[int], bool], leads: Callable[[int], bool]
    ) -> list[int]:
        """Places to quote for ``found`` from ``place`` on: itself, or the first one under it."""
        if not self._is_said(place):
            return []
        if found != place and self.forms[place] is Form.ITEM:
            return self._listed(place, is_open=True)
        if self._is_term(place) and self.forms[place + 1] is Form.TEXT:
            place += 1
        first = self._introduction(place)
        places = [at for at in range(first, place + 1) if self._is_said(at)]
        before = self._paragraph_before(first, sum(map(self._words, places)))
        places = [*takewhile(leads, before)][::-1] + places
        if self.forms[places[0]] is Form.TEXT and (item := self._item_of(places[0])) is not None:
            places.insert(0, item)
        rest = self._rest_of_paragraph(place, sum(map(self._words, places)))
        is_command = bool(rest) and self._is_command(rest[-1] + 1)
        places += rest if is_command else takewhile(goes_on, rest)
        places += self._announced(places[-1]) or self._behind_line(places[-1])
        is_open = self.forms[places[-1]] is Form.TEXT and self._is_open(places[-1])
        return places + self._announced(places[-1]) * is_open

    def alike(self, place: int, is_like: Callable[[int], bool]) -> list[int]:
        """The list item at ``place`` with its neighbours, as far as ``is_like`` says so of each.

        Where the first of them is a numbered step, all steps in front of it come too.
        """
        places = [place]
        for step in (-1, 1):
            at, further = place + step, list[int]()
            while 0 <= at < len(self._units) and self._is_of_list(at):
                if self.forms[at] is not Form.MARK:
                    further.append(at)
                at += step
            places += takewhile(is_like, further)
        return self._steps_before(min(places)) * (len(places) > 1) + sorted(places)

    def _steps_before(self, place: int) -> list[int]:
        """The steps from number 1 to the one at ``place``, with what stands between, in order.

        None where that is no numbered step, a number is missing, or they are too long.
        """
        match, at = STEP.match(self._units[place].text), place
        number = int(match[1]) if match else 0
        while number > 1 and at and self._is_of_list(at - 1):
            at -= 1
            if match := STEP.match(self._units[at].text):
                number = int(match[1]) if int(match[1]) == number - 1 else 0
        places = [one for one in range(at, place) if self._is_said(one)]
        is_short = sum(map(self._words, places)) <= 2 * MOST_WORDS
        return places if number == 1 and is_short else []

    def _is_of_list(self, place: int) -> bool:
        """True for a list's item, a mark, and a sentence that goes on in an item."""
        return self.forms[place] in (Form.ITEM, Form.MARK) or self._item_of(place) is not None

    def _item_of(self, place: int) -> int | None:
        """The place of the list item that the text at ``place`` is a later sentence of."""
        return self._items[place]

    @cached_property
    def _items(self) -> list[int | None]:
        """The list item of each unit, an item's its own place.

        A later paragraph of an item is moved in under it.
        """
        items: list[int | None] = []
        open_items: list[tuple[int, int]] = []  # and their indents
        for place, (unit, form) in enumerate(zip(self._units, self.forms, strict=True)):
            indent = self._indent(unit)
            if form not in (Form.TEXT, Form.CODE, Form.MARK, Form.ITEM):
                open_items.clear()
            elif self._opens_line(unit) and self._starts_block(place):
                while open_items and open_items[-1][1] >= indent:
                    open_items.pop()
            if form is Form.ITEM:
                open_items.append((place, indent))
            items.append(open_items[-1][0] if open_items else None)
        return items

    def record_of(self, place: int) -> list[int]:
        """The heading that the unit at ``place`` stands under, where that names a record."""
        above = range(place - 1, -1, -1)
        heading = next((at for at in above if self.forms[at] is Form.HEADING), None)
        if heading is None or not is_record(self._units[heading].text):
            return []
        return [heading]

    def entries(self) -> list[list[int]]:
        """Places of terms with what is moved in under them, and of records with what follows."""
        found = list[list[int]]()
        is_open = False
        for place, form in enumerate(self.forms):
            if form is Form.HEADING:
                is_open = is_record(self._units[place].text)
            if self._is_term(place) or (is_open and form is Form.HEADING):
                found.append([place])
            elif found and (is_open or self._item_of(place) == found[-1][0]):
                found[-1].append(place)
        return found

    def rows_under(self, place: int) -> list[int]:
        """Places of the rows under the one at ``place``, where that names a table's columns."""
        if not is_row(self._units[place].text) or not self._is_header_row(place):
            return []
        at = place + 2
        while at < len(self._units) and self.forms[at] is Form.ROW and not self._starts_block(at):
            at += 1
        return list(range(place + 2, at))

    def _is_said(self, place: int) -> bool:
        return self.forms[place] not in (Form.MARK, Form.HEADING)

    def _words(self, place: int) -> int:
        return len(self._units[place].text.split())

    def _behind_heading(self, place: int) -> int:
        """The first unit under a heading, where that is what was found; else ``place``."""
        if self.forms[place] is not Form.HEADING:
            return place
        at = place
        while at + 1 < len(self._units) and not self._is_said(at):
            at += 1
        return at if self._is_said(at) else place

    def _introduction(self, place: int) -> int:
        """The place to begin at: the sentence that announces a command which stands in front."""
        at = place
        if self._starts_block(place) and self.forms[place] is not Form.ITEM:
            while at and self.forms[at - 1] in (Form.CODE, Form.MARK):
                at -= 1
        has_code = any(self.forms[n] is Form.CODE for n in range(at, place + 1))
        if has_code and at and self._is_said(at - 1) and self._introduces(at - 1, place):
            return at - 1
        return place

    def _introduces(self, before: int, place: int) -> bool:
        """True for a sentence in front of code that is told of, or that ``place`` goes on behind.

        Text behind code need not be about it: the sentence announces it, or all are of one item.
        """
        is_code = self.forms[place] is Form.CODE
        return is_code or self._is_open(before) or self._item_of(place) is not None

    def _rest_of_paragraph(self, place: int, words: int) -> list[int]:
        """Units behind the one at ``place`` in its paragraph or item, as far as the words go."""
        places: list[int] = []
        at = place
        while not self._ends_block(at):
            at += 1
            words += self._words(at)
            if self.forms[at] is not Form.TEXT or words > MOST_WORDS:
                break
            places.append(at)
        return places

    def _paragraph_before(self, place: int, words: int) -> list[int]:
        """Units in front of the one at ``place`` in its paragraph, from it back, as far as the
        words go."""
        places: list[int] = []
        at = place
        while self.forms[at] is Form.TEXT and not self._starts_block(at):
            at -= 1
            words += self._words(at)
            if self.forms[at] is not Form.TEXT or words > MOST_WORDS:
                break
            places.append(at)
        return places

    def _announced(self, place: int) -> list[int]:
        """The list, the command or the paragraph behind a sentence that ends with a colon."""
        return self._listed(place + 1, is_open=self._is_open(place))

    def _is_open(self, place: int) -> bool:
        """True for a sentence that announces what follows."""
        return self._units[place].text.rstrip("*_ ").endswith(ANNOUNCES)

    def _is_command(self, place: int) -> bool:
        """True for code, or a mark in front of some, behind a sentence that announces it."""
        if not self._is_open(place - 1):
            return False
        forms = (form for form in self.forms[place:] if form is not Form.MARK)
        return next(forms, None) is Form.CODE

    def _behind_line(self, place: int) -> list[int]:
        """The paragraph behind a short line that is a block of its own, such as a term."""
        is_line = self._starts_block(place) and self._ends_block(place)
        if (
            self.forms[place] is not Form.TEXT
            or not is_line
            or not HEAD.fullmatch(self._units[place].text.strip())
        ):
            return []
        at = place + 1
        while at < len(self._units) and self.forms[at] is Form.MARK:
            at += 1
        if at == len(self._units) or self.forms[at] is not Form.TEXT:
            return []
        return [at, *self._rest_of_paragraph(at, self._words(at))]

    def _listed(self, at: int, *, is_open: bool) -> list[int]:
        """Items and code from ``at`` on; with ``is_open`` else the first unit of a paragraph.

        Of a list that is too long its items' first sentences, so that as few as can be are missing.
        """
        places = self._whole_list(at, is_open=is_open)
        if places[len(self._first(places)) :]:
            openings = [one for one in places if self._opens_item(one, places[0])]
            places = openings if openings[1:] else places
        return self._first(places)

    def _whole_list(self, at: int, *, is_open: bool) -> list[int]:
        """All items and code from ``at`` on, with the further paragraphs of those items."""
        places: list[int] = []
        for place in range(at, len(self._units)):
            form = self.forms[place]
            if form is Form.MARK:
                continue
            goes_on = form in (Form.ITEM, Form.CODE, Form.ROW) or self._is_within_item(place, at)
            is_first = is_open and not places
            if form is Form.HEADING or not (is_open or form is Form.CODE):
                break
            if goes_on or is_first:
                places.append(place)
            if not goes_on:
                break
        return places

    def _first(self, places: Sequence[int]) -> list[int]:
        """The first of ``places`` as far as a list is quoted, one at least."""
        totals = accumulate(map(self._words, places))
        fit = sum(words <= 2 * MOST_WORDS for words in totals)
        return list(places[: min(max(fit, 1), _MOST_UNITS)])

    def _opens_item(self, place: int, first: int) -> bool:
        """True for an item that is as far out as the ``first``, and for what one announces."""
        is_item = self.forms[place] is Form.ITEM
        is_outer = self._indent(self._units[place]) <= self._indent(self._units[first])
        return (is_item and is_outer) or self._is_open(place - 1)

    def _is_within_item(self, place: int, first: int) -> bool:
        """True if a sentence goes on in a list item from ``first`` on."""
        item = self._item_of(place)
        return item is not None and item >= first
