"""Headings of plain text that are underlined, as reStructuredText has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.readers.outline import LONGEST_HEADING, Heading, short_title

_UNDERLINE = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}+[ \t]*+\r?$", re.MULTILINE)
_GAP = re.compile(r"\t|\S {2,}\S")
"""Columns: the line names those of a table."""


def headings_of(text: str) -> Iterator[Heading]:
    """The lines above as long a run of one mark, behind an empty line or the same run.

    The first kind of run that a text has is its outermost level, the next one that below it.
    """
    levels: dict[tuple[str, bool], int] = {}
    for run in _UNDERLINE.finditer(text):
        start = text.rfind("\n", 0, max(run.start() - 1, 0)) + 1
        line = text[start : run.start()].rstrip()
        title = line.strip()
        if not title or len(line) > min(len(run[0].rstrip()), LONGEST_HEADING):
            continue
        before = text.rfind("\n", 0, max(start - 1, 0)) + 1
        above = text[before:start].rstrip()
        is_over = above == run[0].rstrip()
        is_alone = is_over or not (above or line[0].isspace())
        if is_alone and not (_GAP.search(line) or _UNDERLINE.fullmatch(line)):
            level = levels.setdefault((run[1], is_over), len(levels) + 1)
            begin = before if is_over else start
            yield Heading(begin, run.end(), level, short_title(title))
