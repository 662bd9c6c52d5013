"""A tree of HTML elements to text with its headings, lists, tables and code; HTML and EPUB use it.

The text reads like Markdown but is not escaped: a quotation from it is what the page says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from lxml.etree import _Element  # type: ignore[import-untyped]

from helix.domain.records import Section
from helix.domain.tables import Table
from helix.language.sentences import Span
from pipelines.readers.grids import moved, one_table
from pipelines.readers.list_numbers import numeral
from pipelines.readers.markup_tables import is_layout, rows_of
from pipelines.readers.markup_text import (
    BLOCKS,
    CONTROLS,
    PASSED_OVER,
    WHITE,
    one_line_of,
    tag_of,
    texts_of,
)
from pipelines.readers.outline import (
    LONGEST_HEADING,
    LONGEST_TABLE,
    Heading,
    TableSpan,
    sections,
)
from pipelines.readers.tables import grids_of

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NOT_IN_TERMS = {*_HEADINGS, "dl", "dt", "ol", "pre", "table", "ul"}
_ENDS_SENTENCE = (".", "!", "?", "…", "。", "！", "？", "؟")
_BACKTICKS = re.compile(r"`{3,}")
_FORMS = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_PERMALINK = re.compile(r"(?<!\s)\s*[¶\uf0c1]\s*$")


class TextOfMarkup:
    """Gathers the text of one tree after another; ``text`` and ``sections`` are then of all."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._line: list[str] = []  # of the paragraph under way
        self._item = ""  # what goes in front of the next paragraph: a list's marker
        self._terms: list[str] = []  # what the next paragraph defines
        self._lists: list[tuple[int, int, str] | None] = []
        """By depth: the next number, the step to the one after and the form; None for bullets."""
        self._is_tight = False  # the next paragraph follows an item of its list
        self._headings: list[Heading] = []
        self._blocks: list[Span] = []
        self._spans: list[TableSpan] = []
        self.tables: list[Table] = []
        """By row and column, in the order of the text."""

    def add(self, tree: _Element) -> None:
        """Append the text of ``tree``. Its depth is the parser's: 255 elements at most."""
        self._walk(tree)
        self._flush()
        self._end_terms()

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def sections(self) -> tuple[Section, ...]:
        return sections(self.text, self._headings, self._blocks, self._spans)

    @property
    def structure(self) -> tuple[int, int]:
        """The numbers of headings and of blocks of code."""
        return len(self._headings), len(self._blocks)

    @property
    def first_heading(self) -> str | None:
        return self._headings[0].title if self._headings else None

    def _walk(self, element: _Element) -> None:
        tag = tag_of(element)
        if tag in PASSED_OVER or "hidden" in element.attrib:
            return
        if tag in _HEADINGS:
            self._heading(element, _HEADINGS[tag])
        elif tag == "pre":
            self._code("".join(texts_of(element, lines=True)))
        elif tag == "table" and not is_layout(element):
            self._table(element)
        elif tag in ("br", "hr"):
            self._line.append("\n")
        elif tag in ("ul", "ol") or (tag == "dl" and _has_plain_terms(element)):
            self._list(element, ordered=tag == "ol")
        elif tag == "dt" and _has_plain_terms(element):
            self._term(element)
        else:
            self._plain(element, tag)

    def _plain(self, element: _Element, tag: str) -> None:
        is_block = tag in BLOCKS
        if is_block:
            self._flush()
        if tag == "li":
            self._item = self._marker(element.get("value", ""))
        self._inside(element)
        if is_block:
            self._flush()
        if tag in ("dd", "dl"):
            self._end_terms()

    def _inside(self, element: _Element) -> None:
        self._line.append(WHITE.sub(" ", element.text or ""))
        for child in element:
            if isinstance(child.tag, str):
                self._walk(child)
            self._line.append(WHITE.sub(" ", child.tail or ""))

    def _term(self, element: _Element) -> None:
        """Keep a term of a definition list for the paragraph that defines it, as its label.

        One unit of text then has both: it is searched, judged and quoted as one.
        """
        self._flush()
        term = _PERMALINK.sub("", one_line_of(element))
        if not term:
            return
        self._is_tight = self._is_tight and bool(self._terms)
        self._terms.append(term)
        is_sentence = term.endswith(_ENDS_SENTENCE) and any(map(str.isalpha, term))
        if is_sentence or len(term) > LONGEST_HEADING:
            self._end_terms()

    def _end_terms(self) -> None:
        """Write the terms that no paragraph follows, but a list, code or nothing."""
        terms, self._terms = self._terms, []
        for term in terms:
            self._item = self._item or self._marker()
            self._line.append(term)
            self._flush()

    def _list(self, element: _Element, *, ordered: bool) -> None:
        self._flush()
        self._end_terms()
        self._is_tight = bool(self._lists)
        self._lists.append(_numbers_of(element) if ordered else None)
        self._inside(element)
        self._flush()
        self._end_terms()
        self._lists.pop()
        self._is_tight = bool(self._lists)

    def _marker(self, value: str = "") -> str:
        numbers = self._lists[-1] if self._lists else None
        if numbers is None:
            return "- "
        number, step, form = numbers
        number = _whole(value, number)
        self._lists[-1] = number + step, step, form
        return f"{numeral(number, form)}. "

    def _heading(self, element: _Element, level: int) -> None:
        self._flush()
        title = _PERMALINK.sub("", one_line_of(element))
        if title:
            start, end = self._append(f"{'#' * level} {title}")
            self._headings.append(Heading(start, end, level, title))

    def _code(self, code: str) -> None:
        self._flush()
        code = CONTROLS.sub("", code).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        if code.strip():
            longest = max((len(run) for run in _BACKTICKS.findall(code)), default=2)
            fence = "`" * (longest + 1)
            self._blocks.append(self._append(f"{fence}\n{code}\n{fence}"))

    def _table(self, table: _Element) -> None:
        self._flush()
        for grid, is_table in grids_of(rows_of(table)):
            lines, stored = one_table(grid, LONGEST_TABLE)
            if not lines.length:
                continue
            start, _ = self._append(lines.text)
            for top, stop in pairwise([*lines.tops, lines.length]):
                self._spans.append(TableSpan(start + top, start + stop, grid.head.names))
            if is_table:
                self.tables.append(moved(stored, start))

    def _flush(self) -> None:
        """End the paragraph under way."""
        text = CONTROLS.sub("", "".join(self._line))
        lines = [line.strip() for line in re.sub(r" +", " ", text).split("\n")]
        self._line.clear()
        if paragraph := "\n".join(line for line in lines if line):
            label, self._terms = _label(self._terms), []
            indent = "  " * (len(self._lists) - 1)
            marker = self._item or ("- " if label else " " * 2 if self._lists else "")
            self._append(indent + marker + label + paragraph, tight=self._is_tight)
            self._is_tight = bool(self._lists)
            self._item = ""

    def _append(self, block: str, *, tight: bool = False) -> Span:
        self._end_terms()
        gap = "" if not self._parts else "\n" if tight else "\n\n"
        self._parts.append(gap + block)
        start = self._length + len(gap)
        self._length = start + len(block)
        return start, self._length


def _numbers_of(element: _Element) -> tuple[int, int, str]:
    """The first number of an ordered list, the step to the next, and the form."""
    is_reversed = "reversed" in element.attrib
    start = _whole(element.get("start", ""), len(element.findall("li")) if is_reversed else 1)
    return start, -1 if is_reversed else 1, _FORMS.get(element.get("type", ""), "decimal")


def _whole(value: str, otherwise: int) -> int:
    return int(value) if re.fullmatch(r"-?[0-9]{1,9}", value.strip()) else otherwise


def _has_plain_terms(element: _Element) -> bool:
    """True if no term of a definition list, or in a term itself, has a heading or the like."""
    parts = [child for part in element for child in (part if part.tag == "div" else [part])]
    terms = [element] if tag_of(element) == "dt" else [one for one in parts if _is_term(one)]
    return not any(
        isinstance(part.tag, str) and tag_of(part) in _NOT_IN_TERMS
        for term in terms
        for part in term.iterdescendants()
    )


def _is_term(element: _Element) -> bool:
    return isinstance(element.tag, str) and tag_of(element) == "dt"


def _label(terms: Sequence[str]) -> str:
    """The text in front of a definition: a mark such as ``[1]`` or ``2.`` takes no colon."""
    label = ", ".join(terms)
    is_mark = not any(map(str.isalpha, label)) and not label[-1:].isdigit()
    return label and label + (" " if is_mark or label.endswith((":", "：")) else ": ")
