"""Headings of plain text that are underlined, as reStructuredText has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.readers.outline import LONGEST_HEADING, Heading, short_title

_UNDERLINE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}+[ \t]*+\r?$", re.MULTILINE)
_GAP = re.compile(r"\t|\S {2,}\S")
"""Columns: the line names those of a table."""


def headings_of(text: str) -> Iterator[Heading]:
    """Headings: each a line with a run of one mark below it that is at least as long.

    In front of it is an empty line, or the same run. The first kind of run in a text is that of its
    outermost level, the next that of the level below. A run that separates texts elsewhere, as in
    `svn log`, underlines only a line of its own length; lines that share the run between them are
    records.
    """
    levels: dict[tuple[str, bool], int] = {}
    rules = set(_rules(text))
    for found in _UNDERLINE.finditer(text):
        run, (start, line) = found[0].rstrip(), _line_before(text, found.start())
        if not line or len(line) > min(len(run), LONGEST_HEADING):
            continue
        before, above = _line_before(text, start)
        is_over = above == run
        if is_over and (_is_below_record(text, before, run) or _is_above_record(text, found)):
            continue
        is_alone = is_over or not (above or line[0].isspace())
        is_rule = not is_over and run in rules and len(line) < len(run)
        if is_alone and not (is_rule or _GAP.search(line) or _UNDERLINE.fullmatch(line)):
            level = levels.setdefault((found[1], is_over), len(levels) + 1)
            begin = before if is_over else start
            yield Heading(begin, found.end(), level, short_title(line))


def _is_below_record(text: str, start: int, run: str) -> bool:
    """True where the run at ``start`` stands under a line that has the same run above it too."""
    begin, line = _line_before(text, start)
    return bool(line) and line != run and _line_before(text, begin)[1] == run


def _is_above_record(text: str, found: re.Match[str]) -> bool:
    """True where a run stands above a line that has the same run below it too."""
    lines = text[found.end() + 1 : found.end() + 2 * LONGEST_HEADING].split("\n", 2)[:2]
    run = found[0].rstrip()
    return len(lines) == 2 and lines[1].rstrip() == run and lines[0].strip() not in ("", run)


def _rules(text: str) -> Iterator[str]:
    """The runs below an empty line, or first in the text."""
    for found in _UNDERLINE.finditer(text):
        if not _line_before(text, found.start())[1]:
            yield found[0].rstrip()


def _line_before(text: str, start: int) -> tuple[int, str]:
    """The start of the line in front of the one at ``start``, and its text to the last mark."""
    begin = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return begin, text[begin:start].rstrip()
