"""Cells of XLSX that are not shown by their value: formulas without one, errors, and percent."""

from __future__ import annotations

import datetime
import io
import resource
from collections import defaultdict
from collections.abc import Sequence, Set
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.number_formats import PERCENT_IDS, is_percent, moment
from pipelines.readers.office import local_name, part_of
from pipelines.readers.xlsx_places import columns_of, row_number


class MarkedCells(NamedTuple):
    """Cells of a sheet that are not shown by their value alone; rows and columns count from 0.

    ``texts``: row to column to a formula with its sign, ``=SUM(B2:B9)``, or an error, ``#N/A``.
    ``percents``: row to the columns that are shown as percent. ``part``: that of the archive which
    is the sheet, where calamine misreads it: some cells name their place and some do not, or there
    is an error of a newer kind.
    """

    texts: dict[int, dict[int, str]]
    percents: dict[int, tuple[int, ...]]
    part: str = ""


_BOOK, _PARTS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_STYLES = "xl/styles.xml"
_SAFE = {
    "resolve_entities": False, "no_network": True, "remove_comments": True, "remove_pis": True,
}  # fmt: skip
ERROR = "e"
"""The type of a cell that has an error (ISO/IEC 29500-1, 18.18.11)."""
_WRITTEN = frozenset({ERROR, "d"})
"""Cells whose values calamine leaves out, or gives as they are written."""
_KNOWN_ERRORS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"})
"""The errors that calamine reads: over a newer one it gives up the workbook."""
_CELL_BYTES = 32  # of calamine, for an empty one too
_MEMORY = 2**30  # bytes, where the process has no limit
_MOST_EMPTY = 10  # cells for each that is there; a fuller sheet wants more memory


def marked_cells(data: bytes) -> dict[str, MarkedCells]:
    """Such cells by the names of their sheets; none of a file that cannot be read.

    Raises:
        UnreadableFile: a sheet is too large, and nearly empty.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        try:
            places, styles = _places(archive), _percent_styles(archive)
            return {name: _in_sheet(archive, place, styles) for name, place in places.items()}
        except (KeyError, etree.XMLSyntaxError):  # the reader of values tells what is amiss
            return {}


def _places(archive: ZipFile) -> dict[str, str]:
    """The part of the archive that each sheet is in, by its name."""
    book, parts = (
        etree.fromstring(part_of(archive, name), etree.XMLParser(**_SAFE))
        for name in (_BOOK, _PARTS)
    )
    targets = {part.get("Id"): part.get("Target", "") for part in parts.iterfind("{*}Relationship")}
    return {
        sheet.get("name", ""): targets[number].removeprefix("/xl/")
        for sheet in book.iterfind("{*}sheets/{*}sheet")
        for key, number in sheet.attrib.items()
        if key.endswith("}id")
    }


def _percent_styles(archive: ZipFile) -> frozenset[str]:
    """The numbers of the cell styles with a number format of percent, as cells name them.

    They are compared in Python: an XPath with thousands of alternatives fails, and with hundreds
    takes minutes for a large sheet.
    """
    if _STYLES not in archive.namelist():
        return frozenset()
    styles = etree.fromstring(part_of(archive, _STYLES), etree.XMLParser(**_SAFE))
    formats = styles.iterfind("{*}numFmts/{*}numFmt")
    codes = {one.get("numFmtId"): one.get("formatCode", "") for one in formats}
    used = [xf.get("numFmtId") for xf in styles.iterfind("{*}cellXfs/{*}xf")]
    known = {one for one in used if is_percent(codes.get(one, "%" if one in PERCENT_IDS else ""))}
    return frozenset(str(place) for place, one in enumerate(used) if one in known)


def _in_sheet(archive: ZipFile, place: str, percent_styles: Set[str]) -> MarkedCells:
    found = MarkedCells(defaultdict(dict), {})
    same = cache(tuple[int, ...])  # nearly all rows have the same columns
    formulas: dict[Any, str] = {}
    extent, number = Extent(), -1
    named: set[bool] = set()  # whether cells name their places
    is_newer = False  # an error is
    with archive.open(f"xl/{place}") as part:
        for _, element in etree.iterparse(part, tag=("{*}f", "{*}row"), **_SAFE):
            if local_name(element) == "f":
                formulas[element.getparent()] = element.text or ""
                continue
            number = row_number(element, number)
            columns, percents = columns_of(element), []
            for cell, column in zip(element, columns, strict=True):
                named.add(cell.get("r") is not None)
                kind = cell.get("t")
                if kind in _WRITTEN or (formulas and cell in formulas):
                    if text := _text_of(cell, formulas.get(cell, "")):
                        found.texts[number][column] = text
                    is_newer |= kind == ERROR and text not in _KNOWN_ERRORS
                if cell.get("s") in percent_styles:
                    percents.append(column)
            if percents:
                found.percents[number] = same(tuple(percents))
            extent.add(element, number, columns)
            _forget(element, formulas)
    extent.check()
    return found._replace(part=f"xl/{place}") if is_newer or len(named) > 1 else found


def _forget(row: Any, formulas: dict[Any, str]) -> None:
    """Free what a row that was read takes."""
    formulas.clear()
    row.clear()
    while row.getprevious() is not None:
        del row.getparent()[0]


def _text_of(cell: Any, formula: str) -> str:
    """The text of a cell in the place of its value: an error, a day, a formula without a value."""
    kind = cell.get("t")
    if kind == ERROR:
        return cell.findtext("{*}v") or ""
    if kind == "d":
        return _day(cell.findtext("{*}v") or "")
    # an empty text is a value: then the cell says that it is one
    return f"={formula}" if formula and kind != "str" and not cell.findtext("{*}v") else ""


def _day(text: str) -> str:
    """A day that is written out, as those are shown that are numbers; other text as it is."""
    with suppress(ValueError):
        day = datetime.datetime.fromisoformat(text)
        return text if day.utcoffset() else moment(day.replace(tzinfo=None))
    return text


class Extent:
    """The rectangle around the cells of a sheet that have something in them."""

    def __init__(self) -> None:
        self._top, self._left = 2**20, 2**14
        self._bottom = self._right = 0
        self._count = 0

    def add(self, row: Any, number: int, columns: Sequence[int]) -> None:
        """Take a ``row`` element with its cells, which are in these columns."""
        self._count += len(row)
        ends = ((row, columns), (reversed(row), reversed(columns)))
        for cells in (zip(*end, strict=True) for end in ends):
            filled = next((column for cell, column in cells if len(cell)), None)
            if filled is not None:
                self._top, self._bottom = min(self._top, number), max(self._bottom, number)
                self._left, self._right = min(self._left, filled), max(self._right, filled)

    def check(self) -> None:
        """Refuse a sheet whose rectangle is nearly empty, and larger than the memory there is.

        Raises:
            UnreadableFile: it is such a sheet.
        """
        height, width = self._bottom - self._top + 1, self._right - self._left + 1
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        fitting = (_MEMORY if limit == resource.RLIM_INFINITY else limit) // _CELL_BYTES
        if height > 0 and height * width > max(fitting, _MOST_EMPTY * self._count):
            raise UnreadableFile(
                f"a sheet of {height:,} rows and {width:,} columns with {self._count:,} cells in"
                " them: delete those far from the rest"
            )
