"""Formulas of XLSX that were saved without their value, by programs that count nothing."""

from __future__ import annotations

import io
import re
import resource
from collections import defaultdict
from functools import cache
from typing import Any
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import UnreadableFile
from pipelines.readers.office import local_name

Formulas = dict[int, dict[int, str]]
"""Row to column, both from 0, to the formula with its sign: ``=SUM(B2:B9)``."""
_BOOK, _PARTS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_SAFE = {"resolve_entities": False, "no_network": True}
_NAME = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_CELL_BYTES = 32  # of calamine, for an empty one too
_MEMORY = 2**30  # bytes, where the process has no limit
_MOST_EMPTY = 10  # cells for each that is there; a fuller sheet wants more memory


def formulas_without_value(data: bytes) -> dict[str, Formulas]:
    """Such formulas by the names of the sheets that have any; what cannot be read has none.

    Raises:
        UnreadableFile: a sheet is too large, and nearly empty.
    """
    with ZipFile(io.BytesIO(data)) as archive:
        try:
            places = _places(archive)
            found = {name: _in_sheet(archive, place) for name, place in places.items()}
        except (KeyError, etree.XMLSyntaxError):  # the reader of values tells what is amiss
            return {}
    return {name: formulas for name, formulas in found.items() if formulas}


def _places(archive: ZipFile) -> dict[str, str]:
    """The part of the archive that each sheet is in, by its name."""
    book, parts = (
        etree.fromstring(archive.read(name), etree.XMLParser(**_SAFE)) for name in (_BOOK, _PARTS)
    )
    targets = {part.get("Id"): part.get("Target", "") for part in parts.iterfind("{*}Relationship")}
    return {
        sheet.get("name", ""): targets[number].removeprefix("/xl/")
        for sheet in book.iterfind("{*}sheets/{*}sheet")
        for key, number in sheet.attrib.items()
        if key.endswith("}id")
    }


def _in_sheet(archive: ZipFile, place: str) -> Formulas:
    found: Formulas = defaultdict(dict)
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
                    found[at[0]][at[1]] = f"={formula.text}"
            begun.clear()
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
