"""CSV: the delimiter found by trial, a line a row that names its columns (tables.py)."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pipelines.readers import Progress, ReadText, UnreadableFile
from pipelines.readers.draft import Draft
from pipelines.readers.plain_text import decode
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import add_table, one_line

_DELIMITERS = ",;\t|"
_NONE = "\x1f"  # the unit separator: a list with one column has no delimiter
_SAMPLE = 65_536  # characters tried with each delimiter
_MOST_SAMPLED = 200  # rows of it
_LONGEST_FIELD = 1_000_000  # characters; the csv module's own limit is 131,072
_NAMED = re.compile(r"sep=(.)\n")  # the first line that Excel writes and reads


def read(data: bytes, progress: Progress) -> ReadText:
    """Rows in sections labelled "rows 2-21", counted as records from 1, the header one of them.

    Raises:
        UnreadableFile: not text, as plain text does; or a field of more than a million characters.
    """
    text = decode(data)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    csv.field_size_limit(_LONGEST_FIELD)
    named = _NAMED.match(text)
    delimiter = named.group(1) if named else _delimiter(text[:_SAMPLE])
    return _read(text, named.end() if named else 0, delimiter)


def _read(text: str, start: int, delimiter: str) -> ReadText:
    # A quote that is opened and never closed would swallow the rest of the file: then quotes are
    # characters like any other. Only ``strict`` tells; it refuses '"a"b' too, which is harmless.
    try:
        return _attempt(_rows(text, start, delimiter, strict=True))
    except csv.Error as error:
        unclosed = "end of data" in str(error)
    unquoted = {"quoting": csv.QUOTE_NONE}
    for options in (unquoted,) if unclosed else ({}, unquoted):
        with suppress(csv.Error):
            return _attempt(_rows(text, start, delimiter, **options))
    raise UnreadableFile(f"a field of more than {_LONGEST_FIELD:,} characters")


def _attempt(rows: Iterator[Row]) -> ReadText:
    draft = Draft()
    add_table(draft, rows)
    return draft.finish(None)


def _rows(text: str, start: int, delimiter: str, **options: Any) -> Iterator[Row]:
    reader = csv.reader(_lines(text, start), delimiter=delimiter, **options)
    for number, cells in enumerate(reader, 1):
        # nearly all cells of a million hold no line end
        yield Row(number, [c.strip() if c.isprintable() else one_line(c) for c in cells])


def _lines(text: str, start: int) -> Iterator[str]:
    """Lines with their ends, one at a time: a list of them would be as large as the file again."""
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _delimiter(sample: str) -> str:
    """The one that cuts most rows into equally many cells; none where none does."""
    agreed = {delimiter: _agreement(sample, delimiter) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: agreed[delimiter])
    return best if agreed[best] > (0, 0, 0) else _NONE


def _agreement(sample: str, delimiter: str) -> tuple[float, float, int]:
    """Share of rows with the usual width, share with two cells or more, and that width."""
    widths: Counter[int] = Counter()
    try:
        for row in csv.reader(_lines(sample, 0), delimiter=delimiter):
            widths[len(row)] += bool(row)
            if widths.total() == _MOST_SAMPLED:
                break
    except csv.Error:
        return (0, 0, 0)
    total = widths.total() or 1
    several = sum(count for width, count in widths.items() if width > 1) / total
    usual = max((width for width in widths if width > 1), key=widths.__getitem__, default=0)
    share = widths[usual] / total
    return (share, several, usual) if share >= 0.5 or several >= 0.8 else (0, 0, 0)
