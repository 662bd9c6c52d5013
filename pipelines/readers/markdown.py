"""Markdown: kept to the character; its headings make its sections, code and tables stay whole.

The grammar is markdown-it's, blocks only. A text above its size goes through a scan of lines that
knows headings and fences and nothing nested.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from helix.domain.records import Section
from helix.domain.tables import Table
from helix.language.sentences import Span
from pipelines.readers import Progress, ReadText
from pipelines.readers.bold_lines import LEVEL_OF_BOLD, bold_lines
from pipelines.readers.front_matter import metadata_of
from pipelines.readers.grids import bounded, moved
from pipelines.readers.markdown_tables import table_in_place
from pipelines.readers.outline import LONGEST_HEADING, Heading, TableSpan, sections, trim
from pipelines.readers.plain_text import decode

_LONGEST_PARSED = 1_000_000  # characters
_MOST_LINES = 100_000  # markdown-it reads hostile lines (tables, lists) at some 30,000 a second
_TITLE_WITHIN = 65_536  # characters; a document that has a title has it near its top
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*+(\S(?:.*\S)?)[^\S\n]*$", re.MULTILINE)
_TITLE_LINE = re.compile(r"%[ \t]++(\S.*)")  # of Pandoc's manual pages: "NAME" is their heading
_LINE_END = re.compile(r"\r\n|\r|\n")
_LINE = re.compile(r"[^\r\n]+")
_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`\r\n]*|(~{3,}).*)$")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]++((?:.*?[^ \t])?))?(?:[ \t]+#+)?[ \t]*$")
_MARK = re.compile(r"[*_`\[\]<>&\\!\n]")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile as plain text does."""
    return of_text(decode(data))


def of_text(text: str) -> ReadText:
    """A text in Markdown with its sections, title and front matter."""
    head = text[:_TITLE_WITHIN]
    title = _front_matter_title(head) or _first_heading(head)
    title = title[:LONGEST_HEADING].strip() if title else None
    found, tables = structure_of(text)
    metadata, warnings = _front_metadata(head)
    return ReadText(
        text, title, found, warnings=warnings, tables=bounded(tables), metadata=metadata
    )


def structure_of(text: str) -> tuple[tuple[Section, ...], list[Table]]:
    """Sections by heading, with the heading path; fenced code and short tables are their blocks.

    They cover every character but white space around them. Headings within quotes and lists are
    text like any other, and so are tables there. Front matter is a section without a path.
    """
    front = _FRONT_MATTER.match(text[:_TITLE_WITHIN])
    start = front.end() if front else 0
    body = text[start:]
    small = len(body) <= _LONGEST_PARSED and body.count("\n") + body.count("\r") <= _MOST_LINES
    parse = _parsed if small else _scanned
    headings, blocks, tables = parse(body)
    found = sections(body, headings, blocks, [span for span, _ in tables])
    stored = [moved(table, start) for _, table in tables if table]
    if not front:
        return found, stored
    end = len(front.group().rstrip())
    return (Section(0, end), *(_moved(section, start) for section in found)), stored


def _moved(section: Section, by: int) -> Section:
    blocks = tuple((left + by, right + by) for left, right in section.blocks)
    return replace(section, start=section.start + by, end=section.end + by, blocks=blocks)


_Marks = tuple[list[Heading], list[Span], list[tuple[TableSpan, Table | None]]]


def _line_starts(text: str) -> list[int]:
    """The start of each line, and the text's end once more, as markdown-it counts lines."""
    return [0, *(match.end() for match in _LINE_END.finditer(text)), len(text)]


def _parsed(text: str) -> _Marks:
    starts = _line_starts(text)
    tokens = _blocks_only().parse(text)
    bold = set(bold_lines(tokens))
    headings: list[Heading] = []
    blocks: list[Span] = []
    tables: list[tuple[TableSpan, Table | None]] = []
    for place, (token, following) in enumerate(pairwise([*tokens, Token("end", "", 0)])):
        if token.map is None:
            continue
        start, end = (starts[min(line, len(starts) - 1)] for line in token.map)
        start, end = trim(text, start, end)
        if token.type == "heading_open" and token.level == 0:
            level = int(token.tag[1:])
            headings.append(Heading(start, end, level, _plain(following.content)))
        elif place in bold:
            headings.append(Heading(start, end, LEVEL_OF_BOLD, _plain(following.content)))
        elif token.type == "fence":
            blocks.append((start, end))
        elif token.type == "table_open":
            lines = [match.span() for match in _LINE.finditer(text, start, end)]
            header = text[slice(*lines[0])]
            stored = None if token.level else table_in_place(text, lines, _plain)
            tables.append((TableSpan(start, end, header), stored))
    return headings, blocks, tables


@cache
def _blocks_only() -> MarkdownIt:
    """markdown-it without what is within a paragraph, and without link definitions.

    Both are read in quadratic time somewhere; neither moves a heading.
    """
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _plain(inline: str) -> str:
    """The words of a heading: one line, its marks gone."""
    # the part of it that counts: words within words take markdown-it quadratic time
    inline = inline[: 2 * LONGEST_HEADING]
    if not _MARK.search(inline):
        return inline.strip()
    [token] = _inline_parser().parseInline(inline)
    # a heading underlined may have several lines; a break has no content of its own
    words = (
        " " if part.type.endswith("break") else part.content
        for part in token.children or ()
        if part.type in ("text", "code_inline", "softbreak", "hardbreak")
    )
    return "".join(words).strip()


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt()


def _scanned(text: str) -> _Marks:
    """Marks as of ``_parsed``, for texts above its size: by line, outside quotes and lists only."""
    headings: list[Heading] = []
    blocks: list[Span] = []
    fence, opened = "", 0
    before: Span | None = None  # a line of a paragraph, which the next may underline
    for start, end in pairwise(_line_starts(text)):
        line = text[start:end].rstrip("\r\n") if end - start <= _TITLE_WITHIN else ""
        marker = _FENCE.match(line)
        if fence:
            if marker and _closes(line, fence):
                blocks.append((opened, start + len(line.rstrip())))
                fence = ""
        elif marker:
            fence, opened, before = marker.group(1) or marker.group(2), start, None
        elif heading := _heading(text, line, start, before):
            headings.append(heading)
            before = None
        else:
            before = (start, start + len(line)) if line.strip() else None
    if fence:
        blocks.append((opened, len(text.rstrip())))
    return headings, blocks, []


def open_fence(text: str) -> str:
    """The marks of a fence that nothing closes in ``text``; '' where there is none."""
    fence = ""
    for line in _LINE_END.split(text):
        marker = _FENCE.match(line)
        if marker and not fence:
            fence = marker.group(1) or marker.group(2)
        elif marker and _closes(line, fence):
            fence = ""
    return fence


def _closes(line: str, fence: str) -> bool:
    line = line.strip()
    return len(line) >= len(fence) and set(line) == {fence[0]}


def _heading(text: str, line: str, start: int, before: Span | None) -> Heading | None:
    if atx := _ATX.match(line):
        title = (atx.group(2) or "")[:LONGEST_HEADING]
        return Heading(start, start + len(line), len(atx.group(1)), _plain(title))
    if before and (underline := _UNDERLINE.match(line)):
        title = _plain(text[before[0] : before[1]].strip()[:LONGEST_HEADING])
        level = 1 if underline.group(1)[0] == "=" else 2
        return Heading(before[0], start + len(line), level, title)
    return None


def _front_matter_title(head: str) -> str | None:
    block = _FRONT_MATTER.match(head)
    title = _FRONT_TITLE.search(block.group(1)) if block else _TITLE_LINE.match(head)
    return title.group(1).strip("\"'").strip() or None if title else None


def _front_metadata(head: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    block = _FRONT_MATTER.match(head)
    return metadata_of(block.group(1)) if block else ({}, ())


def _first_heading(head: str) -> str | None:
    block = _FRONT_MATTER.match(head)
    tokens = _blocks_only().parse(head[block.end() :] if block else head)
    headings = [
        (opening.tag, title)  # h1 to h6
        for opening, inline in pairwise(tokens)
        if opening.type == "heading_open" and (title := _plain(inline.content))
    ]
    if not headings:
        return None
    (level, title), *others = headings
    # "## Planning" before "## Writing" is the first of several sections: the file's name says more
    is_section = level != "h1" and any(other <= level for other, _ in others)
    return None if is_section else title
