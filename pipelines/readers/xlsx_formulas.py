"""Formulas of XLSX that were saved without their value, by programs that count nothing."""

from __future__ import annotations

import io
from collections import defaultdict
from zipfile import ZipFile

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers.office import local_name
from pipelines.readers.xlsx_extent import Extent, place_of

Formulas = dict[int, dict[int, str]]
"""Row to column, both from 0, to the formula with its sign: ``=SUM(B2:B9)``."""
_BOOK, _PARTS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_SAFE = {"resolve_entities": False, "no_network": True}


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
