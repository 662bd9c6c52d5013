"""Blocks of a text by its layout: what belongs together when one unit of it is quoted.

Paragraphs, list items, code, headings and marks are told apart by their form alone, in any
language. A sentence that announces a list or a command is quoted with it, a heading by what stands
under it, and a sentence with those that go on behind it in its paragraph.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from itertools import takewhile

from helix.evidence.units import Passage, Unit
from helix.language.navigation import is_within, navigation_spans
from helix.language.rows import BESIDE

MOST_WORDS = 60
"""Of what is quoted of one paragraph; an announced list may have as many words again."""
_MOST_UNITS = 24

_ITEM = re.compile(
    r"(?:[-*+•‣◦▪▶●○■□–—·]|#\.|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]|\d{1,2}(?=\s[^\W\d_]))\s"
)
_MARK = re.compile(
    r"\A(?:[^\w]*+$|(?:```|~~~)\S*+$|(?:\.\.|#\.|\d{1,3}(?:\.\d{1,3}){0,9}\.?)$|\.\. "
    r"|\[[^\]\n]{0,200}\]: |:\w{1,60}: *+\S*+$)"
)
_NO_TEXT = re.compile(rf"#|```|~~~|{_ITEM.pattern}|{_MARK.pattern}")
_UNDERLINE = re.compile(r"\n[^\S\n]*+([-=~^\"'`#*+_.:])\1{2,}+[^\S\n]*+(?:\n|$)")
_RULE = re.compile(r"[\s:|-]++")
_FENCE = re.compile(
    r"^[^\S\n]*(?:(?:[-*+>]|\d{1,3}[.)])[^\S\n]+){0,3}(?:`{3,}|~~~(?!~))[^`\n]*$", re.MULTILINE
)
"""A line above or below code; a longer one of tildes is an underline."""
_CODE_DIRECTIVE = re.compile(r"\s*\.\. (?:code|code-block|sourcecode|prompt|parsed-literal)::")
_OPTION = re.compile(r"\s+:[\w-]{1,40}:")
_GAP = re.compile(r"\n[^\S\n]*+\n")
_PART = r"[^\s.!?:;,。！？：]{1,40}+"
_WORD = rf"{_PART}(?:[.:]{_PART}){{0,4}}"
_HEAD = re.compile(rf"{_WORD}(?: {_WORD}){{0,7}}+ ?")
"""A short line without a stop, above text that begins on the next line."""
_TERM = re.compile(r"(?:\S+ ){0,11}\S*[^\s.!?:;,。！？：]")
_ANNOUNCES = (":", "：", "::")
_ASKS = ("?", "？", "؟")


class Form(Enum):
    """The form of a unit by its layout."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"
    ROW = "row"
    HEADING = "heading"
    MARK = "mark"
    """No prose: an underline, a directive, a lone number, a table's caption, navigation."""


class Layout:
    """The units of one passage with their forms, and which of them to quote together."""

    def __init__(self, passage: Passage, units: Sequence[Unit]) -> None:
        self._text, self._units = passage.text, units
        self._titles = {bare(line) for line in passage.headings.splitlines()} - {""}
        fences = [match.start() for match in _FENCE.finditer(self._text)]
        self._fenced = [sum(at < unit.start for at in fences) % 2 == 1 for unit in units]
        self._navigation = navigation_spans(self._text)
        self._margin = self._usual_indent()
        self._in_title = frozenset(self._title_places())
        self.forms = list[Form]()
        for place in range(len(units)):
            self.forms.append(self._form(place))

    def quoted(
        self,
        place: int,
        goes_on: Callable[[int], bool] = lambda _: True,
        leads: Callable[[int], bool] = lambda _: False,
    ) -> list[int]:
        """Places of the units to quote for the one at ``place``, in order; none for a mark.

        The one at ``place`` is among them but where it is a heading. What stands in front of it in
        its paragraph is quoted as far back as ``leads`` says so of each place, what follows as long
        as ``goes_on`` does, or as far as a command that the paragraph ends with.
        """
        found, place = place, self._behind_heading(place)
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
        return places + (self._announced(places[-1]) or self._behind_line(places[-1]))

    def alike(self, place: int, is_like: Callable[[int], bool]) -> list[int]:
        """The list item at ``place`` with its neighbours, as far as ``is_like`` says so of each."""
        places = [place]
        for step in (-1, 1):
            at, further = place + step, list[int]()
            while 0 <= at < len(self._units) and self._is_of_list(at):
                if self.forms[at] is not Form.MARK:
                    further.append(at)
                at += step
            places += takewhile(is_like, further)
        return sorted(places)

    def _is_of_list(self, place: int) -> bool:
        """True for a list's item, a mark, and a sentence that goes on in an item."""
        return self.forms[place] in (Form.ITEM, Form.MARK) or self._item_of(place) is not None

    def _item_of(self, place: int) -> int | None:
        """The place of the list item that the text at ``place`` is a later sentence of.

        A later paragraph of an item is moved in under it.
        """
        least = sys.maxsize  # of the indents of the paragraphs from the item to ``place``
        for at in range(place, -1, -1):
            unit, form = self._units[at], self.forms[at]
            if form is Form.ITEM and least > self._indent(unit):
                return at
            if form not in (Form.TEXT, Form.CODE, Form.MARK, Form.ITEM):
                return None
            if self._opens_line(unit) and self._starts_block(at):
                least = min(least, self._indent(unit))
        return None

    def rows_under(self, place: int) -> list[int]:
        """Places of the rows under the one at ``place``, where that names a table's columns."""
        if not _is_row(self._units[place].text) or not self._is_header_row(place):
            return []
        at = place + 2
        while at < len(self._units) and self.forms[at] is Form.ROW and not self._starts_block(at):
            at += 1
        return list(range(place + 2, at))

    def _form(self, place: int) -> Form:
        unit = self._units[place]
        text = unit.text.strip()
        if self._fenced[place] and not text.startswith(("```", "~~~")):
            return Form.CODE
        if _MARK.match(text) or is_within(self._navigation, unit.start):
            return Form.MARK
        if _is_row(text):
            return Form.MARK if self._is_header_row(place) else Form.ROW
        if self._is_caption(place):
            return Form.MARK
        if self._is_title(place):
            return Form.HEADING
        if _ITEM.match(text) or self._is_numbered(place):
            return Form.ITEM
        if self._is_indented_code(place):
            return Form.CODE
        return Form.ITEM if self._is_term(place) else Form.TEXT

    def _is_caption(self, place: int) -> bool:
        """True if the unit is the line above a table's first row."""
        if place + 1 == len(self._units) or self._ends_block(place):
            return False
        is_sentence = self._units[place].text.rstrip().endswith((".", "!", "。"))
        return not is_sentence and _is_row(self._units[place + 1].text)

    def _is_header_row(self, place: int) -> bool:
        """True for the row of column names, under which a rule stands."""
        if place + 1 == len(self._units):
            return False
        under = self._units[place + 1].text
        return "--" in under and bool(_RULE.fullmatch(under))

    def _is_numbered(self, place: int) -> bool:
        """True if a list's number stands in front of the unit, as a unit of its own."""
        if not place or "\n" in self._between(place - 1):
            return False
        return bool(_ITEM.fullmatch(f"{self._units[place - 1].text.strip()} "))

    def _is_title(self, place: int) -> bool:
        unit = self._units[place]
        text = unit.text.strip()
        if place in self._in_title:
            return True
        end_of_line = self._text.find("\n", unit.end)
        ends_line = not self._text[unit.end : max(end_of_line, unit.end)].strip()
        if end_of_line >= 0 and ends_line and _UNDERLINE.match(self._text, end_of_line):
            return True
        if _UNDERLINE.search(f"{unit.text}\n"):
            return True
        if not self._starts_block(place):
            return False
        alone = self._ends_block(place)
        if not alone and "\n" in self._between(place) and _HEAD.fullmatch(text):
            are_items = _ITEM.match(text) and _ITEM.match(self._units[place + 1].text)
            return not are_items and not self._is_term(place)
        return alone and text.endswith(_ASKS)

    def _is_term(self, place: int) -> bool:
        """True for a line without a stop, under which its definition is moved in."""
        if not self._starts_block(place) or self._ends_block(place):
            return False
        unit, following = self._units[place], self._units[place + 1]
        is_above = "\n" in self._between(place) and self._indent(following) > self._indent(unit)
        is_text = not (_NO_TEXT.match(following.text) or _is_row(following.text))
        return is_above and is_text and self._opens_line(unit) and bool(_TERM.fullmatch(unit.text))

    def _title_places(self) -> Iterator[int]:
        """Places of the units of heading lines: with a heading's mark, or among the known headings.

        A line may have several: ``4.3. The configuration`` is two sentences to the splitter.
        """
        first = 0
        for last in range(len(self._units)):
            if last + 1 < len(self._units) and "\n" not in self._between(last):
                continue
            line = self._text[self._units[first].start : self._units[last].end]
            is_marked = line.startswith("#") and line.lstrip("#")[:1].isspace()
            is_alone = self._starts_block(first) and self._ends_block(last)
            if is_marked or (is_alone and bare(line) in self._titles):
                yield from range(first, last + 1)
            first = last + 1

    def _starts_block(self, place: int) -> bool:
        if not place:
            return True
        return bool(_GAP.search(self._between(place - 1)))

    def _ends_block(self, place: int) -> bool:
        return place + 1 == len(self._units) or bool(_GAP.search(self._between(place)))

    def _between(self, place: int) -> str:
        """The white space between the unit at ``place`` and the next."""
        return self._text[self._units[place].end : self._units[place + 1].start]

    def _indent(self, unit: Unit) -> int:
        start = self._text.rfind("\n", 0, unit.start) + 1
        before = self._text[start : unit.start]
        return len(before.expandtabs()) if not before.strip() else 0

    def _usual_indent(self) -> int:
        """The indent that most lines of the passage have."""
        indents = sorted(self._indent(unit) for unit in self._units if self._opens_line(unit))
        return indents[len(indents) // 2] if indents else 0

    def _opens_line(self, unit: Unit) -> bool:
        start = self._text.rfind("\n", 0, unit.start) + 1
        return not self._text[start : unit.start].strip()

    def _is_indented_code(self, place: int) -> bool:
        """True in a block that is moved in, behind what announces it; of its later units too."""
        goes_on = bool(place) and self.forms[-1] is Form.CODE
        if not self._opens_line(self._units[place]):
            return goes_on and not self._fenced[place - 1]
        if self._indent(self._units[place]) < self._margin + 2:
            return False
        return goes_on or (self._starts_block(place) and self._is_announced(place))

    def _is_announced(self, place: int) -> bool:
        """True behind a line that ends with a colon, of directives behind those of code alone."""
        lines = self._text[: self._units[place].start].rstrip().split("\n")
        while lines[1:] and _OPTION.match(lines[-1]):
            lines.pop()
        if lines[-1].lstrip().startswith(".. "):
            return bool(_CODE_DIRECTIVE.match(lines[-1]))
        return lines[-1].endswith(_ANNOUNCES)

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
        if has_code and at and self._is_said(at - 1):
            return at - 1
        return place

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
        is_open = self._units[place].text.rstrip("*_ ").endswith(_ANNOUNCES)
        return self._listed(place + 1, is_open=is_open)

    def _is_command(self, place: int) -> bool:
        """True for code, or a mark in front of some, behind a sentence that announces it."""
        if not self._units[place - 1].text.endswith(_ANNOUNCES):
            return False
        forms = (form for form in self.forms[place:] if form is not Form.MARK)
        return next(forms, None) is Form.CODE

    def _behind_line(self, place: int) -> list[int]:
        """The paragraph behind a short line that is a block of its own, such as a term."""
        is_line = self._starts_block(place) and self._ends_block(place)
        if (
            self.forms[place] is not Form.TEXT
            or not is_line
            or not _HEAD.fullmatch(self._units[place].text.strip())
        ):
            return []
        at = place + 1
        while at < len(self._units) and self.forms[at] is Form.MARK:
            at += 1
        if at == len(self._units) or self.forms[at] is not Form.TEXT:
            return []
        return [at, *self._rest_of_paragraph(at, self._words(at))]

    def _listed(self, at: int, *, is_open: bool) -> list[int]:
        """Items and code from ``at`` on; with ``is_open`` else the first unit of a paragraph."""
        words, places = 0, list[int]()
        while at < len(self._units) and len(places) < _MOST_UNITS:
            form = self.forms[at]
            if form is Form.MARK:
                at += 1
                continue
            goes_on = form in (Form.ITEM, Form.CODE) or self._is_within_item(at, places)
            if not (is_open or form is Form.CODE) or form is Form.HEADING:
                break
            if not goes_on and (places or not is_open):
                break
            words += self._words(at)
            if words > 2 * MOST_WORDS and places:
                break
            places.append(at)
            if not goes_on:
                break
            at += 1
        return places

    def _is_within_item(self, place: int, places: Sequence[int]) -> bool:
        """True if a sentence goes on in the list item in front of it."""
        return bool(places) and places[-1] == place - 1 and not self._starts_block(place)


def _is_row(text: str) -> bool:
    return text.lstrip().startswith("|") or BESIDE in text


def bare(line: str) -> str:
    """A heading without its marks, for comparison."""
    return "".join(c for c in line.casefold() if c.isalnum())
