"""Answers in Markdown as paragraphs of a Word document, their markers as links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKER = re.compile(r"(\[\d{1,4}(?:, ?\d{1,4}){0,30}\])")
_NUMBER = re.compile(r"(\d{1,4})")
_LONGEST_PARSED = 200_000  # characters; of more, the lines as they are
_DEEP = re.compile(r"^(?:[ \t]*+[>*+-][ \t]){15}", re.MULTILINE)  # the parser drops what is deeper
_LINK_COLOUR = "0563C1"  # Word's own
_MOST_CELLS = 20_000  # of all tables: short rows are filled up to their head; 1 s, 40 MB
_LISTS = {"bullet_list_open": "List Bullet", "ordered_list_open": "List Number"}
_DEEPEST = 3  # of the levels of lists that Word's template has styles for


class WordText:
    """A Word document under way: headings, paragraphs, lists, code and tables, in order."""

    def __init__(self, title: str) -> None:
        from docx import Document  # here, for few processes write one
        from docx.opc.constants import RELATIONSHIP_TYPE

        self.document: Any = Document()
        self.document.core_properties.title = _clean(title)[:250]
        self.document.core_properties.author = ""
        self._hyperlink = RELATIONSHIP_TYPE.HYPERLINK
        self._styles = {style.name: style for style in self.document.styles}
        self._anchors: Mapping[int, str] = {}
        self._bookmarks = 0
        if title:
            self.paragraph("Title").add_run(_clean(title))

    def heading(self, text: str) -> None:
        """A question, on one line."""
        self.paragraph("Heading 1").add_run(" ".join(_clean(text).split()))

    def paragraph(self, style: str = "Normal") -> Any:
        """An empty one of a style of Word's template."""
        paragraph = self.document.add_paragraph()
        if style != "Normal" and (found := self._styles.get(style)):
            paragraph._p.style = found.style_id  # python-docx would look at all styles for it
        return paragraph

    def run(self, paragraph: Any, text: str, marks: frozenset[str] = frozenset()) -> None:
        """Text with ``strong``, ``em`` or ``code``."""
        if not text:
            return
        run = paragraph.add_run(_clean(text))
        if "strong" in marks:
            run.bold = True
        if "em" in marks:
            run.italic = True
        if "code" in marks:
            run.font.name = "Consolas"

    def link(self, paragraph: Any, text: str, *, address: str = "", anchor: str = "") -> None:
        """Text that leads to an address, or to a bookmark of the document."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        link = OxmlElement("w:hyperlink")
        if address:
            part = paragraph.part
            link.set(qn("r:id"), part.relate_to(_clean(address), self._hyperlink, is_external=True))
        else:
            link.set(qn("w:anchor"), anchor)
        run = paragraph.add_run(_clean(text))
        run.font.underline = True
        run.font.color.rgb = _colour()
        link.append(run._r)
        paragraph._p.append(link)

    def bookmark(self, paragraph: Any, name: str) -> None:
        """A place that links of the document lead to."""
        from docx.oxml import OxmlElement
        from docx.oxml.ns import qn

        self._bookmarks += 1
        for kind in ("w:bookmarkStart", "w:bookmarkEnd"):
            mark = OxmlElement(kind)
            mark.set(qn("w:id"), str(self._bookmarks))
            if kind.endswith("Start"):
                mark.set(qn("w:name"), name)
            paragraph._p.append(mark)

    def markdown(self, text: str, anchors: Mapping[int, str]) -> None:
        """An answer; its markers lead to ``anchors``, bookmarks by the numbers of sources."""
        self._anchors = anchors
        if len(text) > _LONGEST_PARSED or _DEEP.search(text) or _cells(text) > _MOST_CELLS:
            for line in filter(str.strip, text.split("\n")):
                self._words(self.paragraph(), line, frozenset())
            return
        self._blocks(_parser().parse(text))

    def _blocks(self, tokens: Sequence[Token]) -> None:
        lists: list[str] = []
        rows: list[list[Token]] = []
        for before, token in pairwise([Token("", "", 0), *tokens]):
            if token.type in _LISTS:
                lists.append(_LISTS[token.type])
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                lists.pop()
            elif token.type in ("fence", "code_block"):
                self.run(self.paragraph(), token.content.rstrip("\n"), frozenset({"code"}))
            elif token.type == "tr_open":
                rows.append([])
            elif token.type == "table_close":
                self._table(rows)
                rows = []
            elif token.type == "inline":
                self._words_of_block(before, token, lists, rows)

    def _words_of_block(
        self, before: Token, token: Token, lists: Sequence[str], rows: Sequence[list[Token]]
    ) -> None:
        """The words of a cell, which wait for their table, of a heading, an item or a paragraph."""
        if rows:
            rows[-1].append(token)
        elif before.type == "heading_open":
            self._inline(self.paragraph(f"Heading {min(int(before.tag[1:]) + 1, 9)}"), token)
        else:
            self._inline(self.paragraph(_list_style(lists)), token)

    def _table(self, rows: Sequence[Sequence[Token]]) -> None:
        table = self.document.add_table(len(rows), max(map(len, rows)), self._styles["Table Grid"])
        for row, tokens in zip(table.rows, rows, strict=True):
            for cell, token in zip(row.cells, tokens, strict=False):
                self._inline(cell.paragraphs[0], token)

    def _inline(self, paragraph: Any, token: Token) -> None:
        marks: set[str] = set()
        for part in token.children or ():
            kind, _, way = part.type.rpartition("_")
            if kind in ("strong", "em"):
                (marks.add if way == "open" else marks.discard)(kind)
            elif part.type in ("softbreak", "hardbreak"):
                self.run(paragraph, " " if part.type == "softbreak" else "\n")
            elif part.type == "code_inline":
                self.run(paragraph, part.content, frozenset({"code"}))
            elif part.content:
                self._words(paragraph, part.content, frozenset(marks))

    def _words(self, paragraph: Any, text: str, marks: frozenset[str]) -> None:
        """Text with its markers as links, as far as they have a source."""
        for piece in _MARKER.split(text):
            if not _MARKER.fullmatch(piece):
                self.run(paragraph, piece, marks)
                continue
            for part in _NUMBER.split(piece):
                anchor = self._anchors.get(int(part)) if part.isdecimal() else None
                if anchor:
                    self.link(paragraph, part, anchor=anchor)
                else:
                    self.run(paragraph, part, marks)


def _cells(text: str) -> int:
    """At least as many cells as the Markdown tables of ``text`` can have."""
    parts = (part.splitlines() for part in text.split("\n\n") if "|" in part)
    return sum(len(lines) * max(line.count("|") for line in lines) for lines in parts)


def _list_style(lists: Sequence[str]) -> str:
    depth = min(len(lists), _DEEPEST)
    return f"{lists[-1]} {depth}" if depth > 1 else lists[-1] if lists else "Normal"


def _clean(text: str) -> str:
    """Text without the characters that XML has no place for."""
    return _NOT_XML.sub("", text)


@cache
def _colour() -> Any:
    from docx.shared import RGBColor

    return RGBColor.from_string(_LINK_COLOUR)


@cache
def _parser() -> MarkdownIt:
    """CommonMark with tables; markers are no links, and neither is anything else of an answer."""
    return (
        MarkdownIt("commonmark")
        .enable("table")
        .disable(["link", "image", "autolink", "html_inline"])
    )
