"""The answer of a reading process, in frames (helix/sandbox), checked as input of a stranger.

- ``P``: progress, two 4-byte numbers, done and total; any number of them
- ``C``: the tables, cell by cell, JSON, and ``W``: the words of the pages with their boxes
  (layout.py); before the text, where there are any
- ``T``: the text, UTF-8, followed by ``M``: its marks, JSON; ends the answer

The parser of a hostile file may have been taken over. So nothing is unpickled, every length is
checked before it is read, and a text that Postgres could not hold or marks that lie outside it are
refused.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from helix.domain.input_text import visible_line
from helix.domain.metadata import checked_metadata
from helix.domain.records import Section
from helix.errors import BadRequest
from helix.language.navigation import navigation_spans
from helix.language.sentences import Span
from helix.sandbox.frames import UNSTORABLE, WRONG, NoAnswer, frame, head, one_line, reason_frame
from pipelines.readers import ReadText
from pipelines.readers.searchable_text import Spans
from pipelines.sandbox.layout import (
    MOST_TABLES,
    most_words,
    page_marks,
    pages_of,
    storable,
    tables_body,
    tables_of,
    words_body,
)

PROGRESS, TABLES, WORDS, TEXT, MARKS = b"P", b"C", b"W", b"T", b"M"
_COUNTS = struct.Struct(">II")

MOST_MARKS = 64 * 1024 * 1024  # bytes; half a million sections
MOST_FRAMES = 100_000  # an honest reader sends 20 of progress a second at most
_MOST_WARNINGS = 1000
_LONGEST_HEADING = 200
"""Characters of a line that may be left out with the navigation under it."""


def too_long(text_chars: int) -> str:
    """The reason of a file with more text than that."""
    size = f"{text_chars // 1_000_000} million" if text_chars >= 1_000_000 else f"{text_chars}"
    return f"its text is longer than {size} characters"


def check_length(kind: bytes, length: int, text_chars: int) -> None:
    """Raises NoAnswer where the body of such a frame may not be so long, or there is no such."""
    sizes = {
        PROGRESS: _COUNTS.size, MARKS: MOST_MARKS, TABLES: MOST_TABLES,
        WORDS: most_words(text_chars), TEXT: 4 * text_chars,
    }  # fmt: skip
    if length > sizes.get(kind, -1):
        raise NoAnswer(too_long(text_chars) if kind == TEXT else WRONG)


def progress_frame(done: int, total: int) -> bytes:
    return frame(PROGRESS, _COUNTS.pack(min(done, 0xFFFFFFFF), min(total, 0xFFFFFFFF)))


def progress_of(body: bytes) -> tuple[int, int]:
    """Raises NoAnswer where it cannot be."""
    if len(body) != _COUNTS.size:
        raise NoAnswer(WRONG)
    done, total = _COUNTS.unpack(body)
    return min(done, total), total


def frames_of(read: ReadText, text_chars: int) -> Sequence[bytes]:
    """The frames of a text, or of the reason why it is too much.

    NUL and lone surrogates, which Postgres cannot hold, become U+FFFD: as many characters, so that
    marks stay where they are.
    """
    if len(read.text) > text_chars:
        return [reason_frame(too_long(text_chars))]
    body = UNSTORABLE.sub("\ufffd", read.text).encode()
    words, sizes = words_body(read.pages, most_words(text_chars))
    marks = json.dumps(_marks(read, sizes), separators=(",", ":")).encode()
    if len(marks) > MOST_MARKS:
        return [reason_frame("it has too many parts to read")]
    parts = [(TABLES, tables_body(read.tables)), (WORDS, words), (TEXT, body), (MARKS, marks)]
    return [part for kind, body in parts for part in (head(kind, len(body)), body)]


def read_text_of(
    parts: Mapping[bytes, bytes | bytearray], marks_body: bytearray, text_chars: int
) -> ReadText:
    """The text with its marks; ``parts`` are the bodies of the other frames.

    Raises:
        NoAnswer: it is not what a reader gives.
    """
    try:
        text = parts[TEXT].decode()
        marks = json.loads(marks_body)
        sections = tuple(_section(row, marks["paths"], marks["contexts"]) for row in marks["rows"])
        title, heading = marks["title"], marks["heading"]
        warnings = tuple(one_line(said) for said in marks["warnings"])
        tables = tables_of(parts.get(TABLES, b"[]"), len(text))
        pages = pages_of(marks["pages"], parts.get(WORDS, b""), len(text))
        metadata = checked_metadata(marks["metadata"])
    except (
        ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, BadRequest,
    ):  # fmt: skip
        raise NoAnswer(WRONG) from None
    if len(text) > text_chars:
        raise NoAnswer(too_long(text_chars))
    named = all(name is None or isinstance(name, str) for name in (title, heading))
    if "\0" in text or not named or not _fit(text, sections):
        raise NoAnswer(WRONG)
    warnings = warnings[:_MOST_WARNINGS]
    title, heading = (visible_line(one_line(name or "")) or None for name in (title, heading))
    return ReadText(text, title, sections, warnings, tables, pages, heading, metadata)


def _marks(read: ReadText, words: Sequence[int]) -> dict[str, Any]:
    """Headings and contexts once each: every row group of a sheet has the same.

    ``words`` are the bytes of each page's words.
    """
    paths: dict[tuple[str, ...], int] = {}
    contexts: dict[str, int] = {}
    rows = [
        (
            part.start,
            part.end,
            paths.setdefault(part.heading_path, len(paths)),
            part.page,
            part.label,
            contexts.setdefault(part.context, len(contexts)),
            part.blocks,
            part.rows,
        )
        for part in read.sections
    ]
    return {
        "title": read.title,
        "heading": read.heading,
        "metadata": dict(read.metadata),
        "warnings": [one_line(said) for said in read.warnings[:_MOST_WARNINGS]],
        "paths": [[storable(heading) for heading in path] for path in paths],
        "contexts": [storable(context) for context in contexts],
        "rows": rows,
        "pages": page_marks(read.pages, words),
    }


def _section(row: Any, paths: Any, contexts: Any) -> Section:
    """TypeError, ValueError or IndexError for what is none."""
    start, end, path, page, label, context, blocks, rows = row
    numbers = (start, end, path, context, *(edge for block in blocks for edge in block))
    if any(type(number) is not int or number < 0 for number in numbers):
        raise TypeError
    if page is not None and (type(page) is not int or not 1 <= page < 2**31):
        raise TypeError
    return Section(
        start=start,
        end=end,
        heading_path=tuple(filter(None, map(visible_line, paths[path]))),
        page=page,
        label=visible_line(one_line(label)),
        context=storable(contexts[context]),
        blocks=tuple((first, last) for first, last in blocks),
        rows=bool(rows),
    )


def _fit(text: str, sections: Sequence[Section]) -> bool:
    """True where sections, and blocks in each, are in order and in bounds, and nothing is lost."""
    spans = [(part.start, part.end) for part in sections]
    if not _in_order([(0, 0), *spans, (len(text), len(text))]):
        return False
    if not all(_in_order([(s.start, s.start), *s.blocks, (s.end, s.end)]) for s in sections):
        return False
    edges = [(0, 0), *spans, (len(text), len(text))] if spans else []
    between = ((left[1], right[0]) for left, right in pairwise(edges))
    left_out = [span for span in between if text[slice(*span)].strip()]
    return not left_out or _is_navigation(text, left_out)


def _is_navigation(text: str, left_out: Sequence[Span]) -> bool:
    """True where spans outside of all sections are navigation, but for a heading in each part."""
    navigation = Spans(navigation_spans(text))
    for start, end in left_out:
        within = navigation.meeting(start, end)
        edges = [(start, start), *within, (end, end)]
        for before, after in pairwise(edges):
            rest = text[max(start, before[1]) : min(end, after[0])].strip()
            if not within or "\n" in rest or len(rest) > _LONGEST_HEADING:
                return False
    return True


def _in_order(spans: Sequence[Span]) -> bool:
    ends_well = all(start <= end for start, end in spans)
    return ends_well and all(left[1] <= right[0] for left, right in pairwise(spans))
