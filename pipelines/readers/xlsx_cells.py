"""Cells of XLSX that are not shown by their value: formulas without one, and percent."""

from __future__ import annotations

import io
import re
import resource
from collections import defaultdict
from collections.abc import Set
from functools import cache
from typing import Any, NamedTuple
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.number_formats import PERCENT_IDS, is_percent
from pipelines.readers.office import local_name, part_of


class MarkedCells(NamedTuple):
    """Cells of a sheet that are not shown by their value alone; rows and columns count from 0.

    ``formulas``: row to column to a formula with its sign, ``=SUM(B2:B9)``. ``percents``: row to
    the columns that are shown as percent.
    """

    formulas: dict[int, dict[int, str]]
    percents: dict[int, tuple[int, ...]]


_BOOK, _PARTS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_STYLES = "xl/styles.xml"
_SAFE = {"resolve_entities": False, "no_network": True}
_NAME = re.compile("([A-Z]{1,3})([0-9]{1,7})")
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
    columns = cache(tuple[int, ...])  # nearly all rows have the same
    begun = []
    extent = Extent()
    with archive.open(f"xl/{place}") as part:
        for _, element in etree.iterparse(part, tag=("{*}f", "{*}row"), **_SAFE):
            if local_name(element) == "f":
                begun.append(element)
                continue
            for formula in begun:
                cell = formula.getparent()
                at = place_of(cell)
                # an empty text is a value: then the cell says that it is one
                if at and formula.text and not cell.findtext("{*}v") and cell.get("t") != "str":
                    found.formulas[at[0]][at[1]] = f"={formula.text}"
            begun.clear()
            percent = (cell for cell in element if cell.get("s") in percent_styles)
            if percents := [at for cell in percent if (at := place_of(cell))]:
                found.percents[percents[0][0]] = columns(tuple(column for _, column in percents))
            extent.add(element)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    extent.check()
    return found


class Extent:
    """The rectangle around the cells of a sheet that have something in them."""

    def __init__(self) -> None:
        self._top, self._left = 2**20, 2**14
        self._bottom = self._right = 0
        self._count = 0

    def add(self, row: Any) -> None:
        """Take a ``row`` element with its cells."""
        self._count += len(row)
        for cells in (row, reversed(row)):
            filled = next((cell for cell in cells if len(cell)), None)
            if filled is not None and (at := place_of(filled)):
                self._top, self._bottom = min(self._top, at[0]), max(self._bottom, at[0])
                self._left, self._right = min(self._left, at[1]), max(self._right, at[1])

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


def place_of(cell: Any) -> tuple[int, int] | None:
    """Row and column, from 0, that a ``c`` element names, if it does."""
    name = _NAME.fullmatch(cell.get("r", ""))
    return (int(name[2]) - 1, _column(name[1])) if name else None


@cache
def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
