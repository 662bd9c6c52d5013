"""What a reading process sends back, in frames, and how far it is believed: not at all.

A frame is a kind of one byte, the length of its body (4 bytes, big-endian) and the body:

- ``P``: progress, two 4-byte numbers, done and total; any number of them
- ``R``: the reason why the file cannot be read, UTF-8; ends the answer
- ``T``: the text, UTF-8, followed by ``M``: its marks, JSON; ends the answer

The parser of a hostile file may have been taken over. So nothing is unpickled, every length is
checked before it is read, and a text that Postgres could not hold or marks that lie outside it are
refused.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from helix.domain.records import Section, Span
from pipelines.readers import ReadText, UnreadableFile

HEAD = struct.Struct(">cI")
PROGRESS, REASON, TEXT, MARKS = b"P", b"R", b"T", b"M"
_COUNTS = struct.Struct(">II")

MOST_MARKS = 64 * 1024 * 1024  # bytes; half a million sections
MOST_PROGRESS = 100_000  # frames; an honest reader sends 20 a second at most
_MOST_REASON = 500  # characters
_MOST_WARNINGS = 1000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
WRONG = "the reader marked it wrongly"


def too_long(text_chars: int) -> str:
    """The reason of a file with more text than that."""
    size = f"{text_chars // 1_000_000} million" if text_chars >= 1_000_000 else f"{text_chars}"
    return f"its text is longer than {size} characters"


def longest(kind: bytes, text_chars: int) -> int:
    """The most bytes that the body of such a frame may have; -1 for a kind there is not."""
    sizes = {PROGRESS: _COUNTS.size, REASON: 4 * _MOST_REASON, MARKS: MOST_MARKS}
    return 4 * text_chars if kind == TEXT else sizes.get(kind, -1)


def frame(kind: bytes, body: bytes) -> bytes:
    return HEAD.pack(kind, len(body)) + body


def progress_frame(done: int, total: int) -> bytes:
    return frame(PROGRESS, _COUNTS.pack(min(done, 0xFFFFFFFF), min(total, 0xFFFFFFFF)))


def progress_of(body: bytes) -> tuple[int, int]:
    """Raises UnreadableFile where it cannot be."""
    if len(body) != _COUNTS.size:
        raise UnreadableFile(WRONG)
    done, total = _COUNTS.unpack(body)
    return min(done, total), total


def reason_frame(reason: str) -> bytes:
    return frame(REASON, _line(reason).encode())


def reason_of(body: bytes) -> str:
    return _line(body.decode("utf-8", "replace")) or "the reader gave no reason"


def frames_of(read: ReadText, text_chars: int) -> Sequence[bytes]:
    """The frames of a text, or of the reason why it is too much.

    NUL and lone surrogates, which Postgres cannot hold, become U+FFFD: as many characters, so that
    marks stay where they are.
    """
    if len(read.text) > text_chars:
        return [reason_frame(too_long(text_chars))]
    body = _UNSTORABLE.sub("\ufffd", read.text).encode()
    marks = json.dumps(_marks(read), separators=(",", ":")).encode()
    if len(marks) > MOST_MARKS:
        return [reason_frame("it has too many parts to read")]
    return [HEAD.pack(TEXT, len(body)), body, HEAD.pack(MARKS, len(marks)), marks]


def read_text_of(text_body: bytearray, marks_body: bytearray, text_chars: int) -> ReadText:
    """The text with its marks.

    Raises:
        UnreadableFile: it is not what a reader gives.
    """
    try:
        text = text_body.decode()
        marks = json.loads(marks_body)
        sections = tuple(_section(row, marks["paths"], marks["contexts"]) for row in marks["rows"])
        title, warnings = marks["title"], tuple(_line(said) for said in marks["warnings"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise UnreadableFile(WRONG) from None
    if len(text) > text_chars:
        raise UnreadableFile(too_long(text_chars))
    if "\0" in text or not (title is None or isinstance(title, str)) or not _fit(text, sections):
        raise UnreadableFile(WRONG)
    return ReadText(text, _line(title or "") or None, sections, warnings[:_MOST_WARNINGS])


def _line(said: str) -> str:
    """One line that can be stored; AttributeError for what is no text."""
    return " ".join(_UNSTORABLE.sub("\ufffd", said[: 2 * _MOST_REASON]).split())[:_MOST_REASON]


def _marks(read: ReadText) -> dict[str, Any]:
    """Headings and contexts once each: every row group of a sheet has the same."""
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
        "warnings": [_line(said) for said in read.warnings[:_MOST_WARNINGS]],
        "paths": [[_storable(heading) for heading in path] for path in paths],
        "contexts": [_storable(context) for context in contexts],
        "rows": rows,
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
        heading_path=tuple(_storable(heading) for heading in paths[path]),
        page=page,
        label=_line(label),
        context=_storable(contexts[context]),
        blocks=tuple((first, last) for first, last in blocks),
        rows=bool(rows),
    )


def _storable(said: Any) -> str:
    """TypeError for what is no text."""
    return _UNSTORABLE.sub("\ufffd", said)


def _fit(text: str, sections: Sequence[Section]) -> bool:
    """Whether sections, and blocks in each, are in order and in bounds, with nothing between."""
    spans = [(part.start, part.end) for part in sections]
    if not _in_order([(0, 0), *spans, (len(text), len(text))]):
        return False
    if not all(_in_order([(s.start, s.start), *s.blocks, (s.end, s.end)]) for s in sections):
        return False
    edges = [(0, 0), *spans, (len(text), len(text))] if spans else []
    return all(not text[left[1] : right[0]].strip() for left, right in pairwise(edges))


def _in_order(spans: Sequence[Span]) -> bool:
    ends_well = all(start <= end for start, end in spans)
    return ends_well and all(left[1] <= right[0] for left, right in pairwise(spans))
