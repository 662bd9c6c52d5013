"""Tables and printed pages in a reading process's answer: written there, and checked here.

Tables are JSON: ``[start, end, page, caption, units, row paths, column paths, cells]`` each, a cell
``[row, column, start, end]``. Pages are among the marks: ``[number, label, width, height, start,
end, furniture, bytes]`` each, and that many bytes of their own in the frame of words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from helix.domain.pages import LONGEST_SIDE, PrintedPage
from helix.domain.tables import Cell, HeaderPath, Table
from helix.sandbox.frames import UNSTORABLE, one_line

MOST_TABLES = 64 * 1024 * 1024  # bytes; two million cells
_WORD_BYTES = 24
_MOST_WORDS = 4_000_000
_MOST_FURNITURE = 100  # lines of a page

_JsonTable = tuple[Any, ...]


def most_words(text_chars: int) -> int:
    """The most bytes that the words of a document may have, whose text has so many characters."""
    return _WORD_BYTES * min(text_chars, _MOST_WORDS)


def words_body(pages: Sequence[PrintedPage], most: int) -> tuple[bytes, list[int]]:
    """The words of all pages, and how many bytes each page has of them.

    Pages that are over ``most`` bytes together with those before go without their words.
    """
    sizes: list[int] = []
    for page in pages:
        sizes.append(len(page.words) if len(page.words) <= most else 0)
        most -= sizes[-1]
    return b"".join(page.words[:size] for page, size in zip(pages, sizes, strict=True)), sizes


def page_marks(pages: Sequence[PrintedPage], words: Sequence[int]) -> list[_JsonTable]:
    """The pages as the marks have them; ``words`` are the bytes of each page's words."""
    return [
        (
            page.number, one_line(page.label), page.width, page.height, page.start, page.end,
            [one_line(said) for said in page.furniture[:_MOST_FURNITURE]], size,
        )
        for page, size in zip(pages, words, strict=True)
    ]  # fmt: skip


def tables_body(tables: Sequence[Table]) -> bytes:
    """The tables as JSON; those that are over MOST_TABLES together with the ones before are not."""
    bodies: list[bytes] = []
    size = 2
    for table in tables:
        body = json.dumps(_json_table(table), separators=(",", ":")).encode()
        size += len(body) + 1
        if size > MOST_TABLES:
            break
        bodies.append(body)
    return b"[" + b",".join(bodies) + b"]"


def _json_table(table: Table) -> _JsonTable:
    return (
        table.start, table.end, table.page, one_line(table.caption), one_line(table.units),
        [[storable(header) for header in path] for path in table.rows],
        [[storable(header) for header in path] for path in table.columns],
        [(cell.row, cell.column, cell.start, cell.end) for cell in table.cells],
    )  # fmt: skip


def tables_of(body: bytes | bytearray, length: int) -> tuple[Table, ...]:
    """The tables of a text of ``length`` characters; ValueError or TypeError for what is none."""
    rows = json.loads(body)
    tables = tuple(_table(row, length) for row in rows)
    in_order = all(one.start <= other.start for one, other in pairwise(tables))
    if not isinstance(rows, list) or not in_order:
        raise ValueError
    return tables


def _table(row: Any, length: int) -> Table:
    start, end, page, caption, units, rows, columns, cells = row
    _check_span(start, end, 0, length)
    if page is not None and (type(page) is not int or not 1 <= page < 2**31):
        raise ValueError
    for row_number, column, first, last in cells:
        _check_number(row_number, len(rows))
        _check_number(column, len(columns))
        _check_span(first, last, start, end)
    return Table(
        start=start, end=end, rows=_paths(rows), columns=_paths(columns),
        cells=tuple(Cell(*cell) for cell in cells), page=page, caption=one_line(caption),
        units=one_line(units),
    )  # fmt: skip


def _paths(paths: Any) -> tuple[HeaderPath, ...]:
    return tuple(tuple(storable(header) for header in path) for path in paths)


def pages_of(marks: Any, words: bytes | bytearray, length: int) -> tuple[PrintedPage, ...]:
    """The pages of a text of ``length`` characters; ValueError or TypeError for what is none."""
    pages: list[PrintedPage] = []
    at = 0
    for number, label, width, height, start, end, furniture, size in marks:
        _check_number(number, 2**31)
        _check_number(size, len(words) - at + 1)
        _check_span(start, end, 0, length)
        if number <= (pages[-1].number if pages else 0) or not furniture == list(furniture):
            raise ValueError
        page = PrintedPage(
            number=number, label=one_line(label), width=_side(width), height=_side(height),
            start=start, end=end, words=_believed(words[at : at + size], length),
            furniture=tuple(one_line(said) for said in furniture[:_MOST_FURNITURE]),
        )  # fmt: skip
        pages.append(page)
        at += size
    if at != len(words):
        raise ValueError
    return tuple(pages)


def _believed(packed: bytes | bytearray, length: int) -> bytes:
    """The words that can be: within the text, with a rectangle. In order of their starts.

    An odd page may have a word without a box, which is no reason to lose the file.
    """
    import numpy as np  # not in the host, whose forks need none of it

    word = np.dtype([("start", "<u4"), ("end", "<u4"), ("box", "<f4", 4)])
    words = np.frombuffer(packed, word)  # ValueError for a part of one
    left, top, right, bottom = words["box"].T
    with np.errstate(invalid="ignore"):
        possible = (words["start"] < words["end"]) & (words["end"] <= length)
        possible &= (np.abs(words["box"]) <= LONGEST_SIDE).all(axis=1)  # NaN is not
        possible &= (left <= right) & (top <= bottom)
    words = words[possible]
    return bytes(words[np.argsort(words["start"], kind="stable")].tobytes())


def _side(points: Any) -> float:
    if type(points) not in (int, float) or not math.isfinite(points):
        raise TypeError
    if not 0 < points <= LONGEST_SIDE:
        raise ValueError
    return float(points)


def _check_number(number: Any, below: int) -> None:
    if type(number) is not int:
        raise TypeError
    if not 0 <= number < below:
        raise ValueError


def _check_span(start: Any, end: Any, first: int, last: int) -> None:
    if type(start) is not int or type(end) is not int:
        raise TypeError
    if not first <= start <= end <= last:
        raise ValueError


def storable(said: Any) -> str:
    """The text as Postgres can hold it; TypeError for what is no text."""
    return UNSTORABLE.sub("\ufffd", said)
