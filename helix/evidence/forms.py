"""Forms of the units of a text by its layout: paragraphs, list items, code, rows, headings, marks.

They are told apart by their form alone, in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from helix.language.navigation import is_within, navigation_spans
from helix.language.rows import BESIDE
from helix.language.sentences import Passage, Unit

_ITEM = re.compile(
    r"(?:[-*+•‣◦▪▶●○■□–—·]|#\.|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]|\d{1,2}(?=\s[^\W\d_]))\s"
)
_MARK = re.compile(
    r"\A(?:[^\w]*+$|(?:```|~~~)\S*+$|(?:\.\.|\d{1,3}(?:\.\d{1,3}){0,9}\.?)$|\.\. "
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
HEAD = re.compile(rf"{_WORD}(?>(?: {_WORD}){{0,7}}) ?")
"""A short line without a stop, above text that begins on the next line."""
_TERM = re.compile(r"(?:\S+ ){0,11}\S*[^\s.!?:;,。！？：]")
_NUMBERED = re.compile(rf"\d{{1,3}}(?:\.\d{{1,3}}){{1,6}}\.? {_TERM.pattern}[?？؟]?")
STEP = re.compile(r"\(?(\d{1,3})[.)]\s")
"""The number of a step."""
_ORDINAL = re.compile(r"\W*+v?\d")
"""The beginning of a number, a date or a version."""
ANNOUNCES = (":", "：", "::")
ASKS = ("?", "？", "؟")


class Form(Enum):
    """The form of a unit by its layout."""

    TEXT = "text"
    ITEM = "item"
    CODE = "code"
    ROW = "row"
    HEADING = "heading"
    MARK = "mark"
    """No prose: an underline, a directive, a lone number, a table's caption, navigation."""


class Forms:
    """The units of one passage with their forms."""

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

    def _form(self, place: int) -> Form:
        unit = self._units[place]
        text = unit.text.strip()
        if self._fenced[place] and not text.startswith(("```", "~~~")):
            return Form.CODE
        if _MARK.match(text) or is_within(self._navigation, unit.start):
            return Form.MARK
        if is_row(text):
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
        return not is_sentence and is_row(self._units[place + 1].text)

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
        step = STEP.match(text)
        if (
            not alone
            and "\n" in self._between(place)
            and HEAD.fullmatch(text, step.end() if step else 0)
        ):
            are_items = _ITEM.match(text) and _ITEM.match(self._units[place + 1].text)
            return not are_items and not self._is_term(place)
        return alone and text.endswith(ASKS)

    def _is_term(self, place: int) -> bool:
        """True for a line without a stop, under which its definition is moved in."""
        opens = self._starts_block(place) or self.forms[place - 1] is Form.HEADING
        if not opens or self._ends_block(place):
            return False
        unit, following = self._units[place], self._units[place + 1]
        is_above = "\n" in self._between(place) and self._indent(following) > self._indent(unit)
        is_text = not (_NO_TEXT.match(following.text) or is_row(following.text))
        return is_above and is_text and self._opens_line(unit) and bool(_TERM.fullmatch(unit.text))

    def _title_places(self) -> Iterator[int]:
        """Places of the units of heading lines: with a heading's mark or a number of several parts,
        or among the known headings.

        A line may have several: ``4.3. The configuration`` is two sentences to the splitter.
        """
        first = 0
        for last in range(len(self._units)):
            if last + 1 < len(self._units) and "\n" not in self._between(last):
                continue
            line = self._text[self._units[first].start : self._units[last].end]
            is_marked = line.startswith("#") and line.lstrip("#")[:1].isspace()
            is_known = bare(line) in self._titles
            is_numbered = self._ends_block(last) and _NUMBERED.fullmatch(line)
            if is_marked or (self._starts_block(first) and (is_known or is_numbered)):
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
        return lines[-1].endswith(ANNOUNCES)


def is_row(text: str) -> bool:
    """True for a table's row: with bars, or its cells beside each other."""
    return text.lstrip().startswith("|") or BESIDE in text


def is_record(heading: str) -> bool:
    """True of a heading that numbers, dates or versions make: `[3.18.0] - 2021-01-08`.

    It names one of many entries of a kind, and what stands under it says little without it.
    """
    found = [bool(_ORDINAL.match(word)) for word in heading.split() if any(map(str.isalnum, word))]
    return 2 * sum(found) > len(found) or (2 * sum(found) == len(found) > 0 and not found[0])


def bare(line: str) -> str:
    """A heading without its marks, for comparison."""
    return "".join(c for c in line.casefold() if c.isalnum())
