"""A tree of HTML elements to text with its headings, lists, tables and code; HTML and EPUB use it.

The text reads like Markdown but is not escaped: a quotation from it is what the page says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.etree import _Element  # type: ignore[import-untyped]

from helix.domain.records import Section
from helix.language.sentences import Span
from pipelines.readers.outline import Heading, Table, sections

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form header hgroup hr html legend li main nav ol p pre search section summary "
    "table tbody td tfoot th thead tr ul caption".split()
)
_PASSED_OVER = frozenset(
    "head script style template noscript iframe object embed svg canvas audio video select "
    "datalist textarea button dialog nav".split()
)
_WHITE = re.compile(r"[ \t\n\r\f\v\xa0\u200b]+")  # a space that does not break is one to a search
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff\xad]")
_BACKTICKS = re.compile(r"`{3,}")
_PERMALINK = re.compile(r"\s*[¶\uf0c1]\s*$")


class TextOfMarkup:
    """Gathers the text of one tree after another; ``text`` and ``sections`` are then of all."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._line: list[str] = []  # of the paragraph under way
        self._item = ""  # what goes in front of the next paragraph: a list's marker
        self._lists: list[int | None] = []  # by depth: the next number, or None for bullets
        self._is_tight = False  # the next paragraph follows an item of its list
        self._headings: list[Heading] = []
        self._blocks: list[Span] = []
        self._tables: list[Table] = []

    def add(self, tree: _Element) -> None:
        """Append the text of ``tree``. Its depth is the parser's: 255 elements at most."""
        self._walk(tree)
        self._flush()

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def sections(self) -> tuple[Section, ...]:
        return sections(self.text, self._headings, self._blocks, self._tables)

    @property
    def first_heading(self) -> str | None:
        return self._headings[0].title if self._headings else None

    def _walk(self, element: _Element) -> None:
        tag = _tag(element)
        if tag in _PASSED_OVER or "hidden" in element.attrib:
            return
        if tag in _HEADINGS:
            self._heading(element, _HEADINGS[tag])
        elif tag == "pre":
            self._code("".join(_texts(element, lines=True)))
        elif tag == "table" and not _is_layout(element):
            self._table(element)
        elif tag in ("br", "hr"):
            self._line.append("\n")
        elif tag in ("ul", "ol"):
            self._list(element, ordered=tag == "ol")
        else:
            self._plain(element, tag)

    def _plain(self, element: _Element, tag: str) -> None:
        is_block = tag in _BLOCKS
        if is_block:
            self._flush()
        if tag == "li":
            self._item = self._marker()
        self._inside(element)
        if is_block:
            self._flush()

    def _inside(self, element: _Element) -> None:
        self._line.append(_WHITE.sub(" ", element.text or ""))
        for child in element:
            if isinstance(child.tag, str):
                self._walk(child)
            self._line.append(_WHITE.sub(" ", child.tail or ""))

    def _list(self, element: _Element, *, ordered: bool) -> None:
        self._flush()
        self._is_tight = bool(self._lists)
        self._lists.append(1 if ordered else None)
        self._inside(element)
        self._flush()
        self._lists.pop()
        self._is_tight = bool(self._lists)

    def _marker(self) -> str:
        if not self._lists:
            return "- "
        number = self._lists[-1]
        if number is not None:
            self._lists[-1] = number + 1
        return "- " if number is None else f"{number}. "

    def _heading(self, element: _Element, level: int) -> None:
        self._flush()
        title = _PERMALINK.sub("", _one_line(element))
        if title:
            start, end = self._append(f"{'#' * level} {title}")
            self._headings.append(Heading(start, end, level, title))

    def _code(self, code: str) -> None:
        self._flush()
        code = _CONTROLS.sub("", code).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
        if code.strip():
            longest = max((len(run) for run in _BACKTICKS.findall(code)), default=2)
            fence = "`" * (longest + 1)
            self._blocks.append(self._append(f"{fence}\n{code}\n{fence}"))

    def _table(self, table: _Element) -> None:
        self._flush()
        for caption in table.iterchildren("caption"):
            self._line.append(_one_line(caption))
            self._flush()
        rows = [list(map(_one_line, _cells(row))) for row in table.iter("tr")]
        rows = [cells for cells in rows if any(cells)]
        if not rows:
            return
        lines = [f"| {' | '.join(cells)} |" for cells in rows]
        if len(rows) > 1:
            lines.insert(1, "|" + "---|" * len(rows[0]))
        start, end = self._append("\n".join(lines))
        self._tables.append(Table(start, end, lines[0]))

    def _flush(self) -> None:
        """End the paragraph under way."""
        text = _CONTROLS.sub("", "".join(self._line))
        lines = [line.strip() for line in re.sub(r" +", " ", text).split("\n")]
        self._line.clear()
        if paragraph := "\n".join(line for line in lines if line):
            indent = "  " * (len(self._lists) - 1)
            marker = self._item or (" " * 2 if self._lists else "")
            self._append(indent + marker + paragraph, tight=self._is_tight)
            self._is_tight = bool(self._lists)
            self._item = ""

    def _append(self, block: str, *, tight: bool = False) -> Span:
        gap = "" if not self._parts else "\n" if tight else "\n\n"
        self._parts.append(gap + block)
        start = self._length + len(gap)
        self._length = start + len(block)
        return start, self._length


def _tag(element: _Element) -> str:
    """The element's name in lower case, without its namespace."""
    return str(element.tag).rpartition("}")[2].lower()


def _texts(element: _Element, *, lines: bool) -> Iterator[str]:
    if _tag(element) in _PASSED_OVER:
        return
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str):
            if _tag(child) == "br":
                yield "\n"
            elif not lines and _tag(child) in _BLOCKS:
                yield " "
            yield from _texts(child, lines=lines)
            if not lines and _tag(child) in _BLOCKS:
                yield " "
        yield child.tail or ""


def _one_line(element: _Element) -> str:
    text = _CONTROLS.sub("", "".join(_texts(element, lines=False)))
    return _WHITE.sub(" ", text).strip()


def _cells(row: _Element) -> Iterator[_Element]:
    yield from (cell for cell in row if isinstance(cell.tag, str) and _tag(cell) in ("td", "th"))


def _is_layout(table: _Element) -> bool:
    """A table that only arranges a page: it holds headings, code, or tables of its own."""
    inner = {_tag(part) for part in table.iterdescendants() if isinstance(part.tag, str)}
    return bool(inner & {"table", "pre", *_HEADINGS}) or not inner & {"td", "th"}
