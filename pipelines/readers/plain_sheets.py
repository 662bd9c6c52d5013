"""Sheets of XLSX that calamine misreads or refuses, in the plain form that it reads."""

from __future__ import annotations

import io
from collections.abc import Collection
from zipfile import ZIP_DEFLATED, ZipFile

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers.office import part_of
from pipelines.readers.xlsx_cells import ERROR
from pipelines.readers.xlsx_places import columns_of, letters_of, row_number


def with_plain_sheets(data: bytes, parts: Collection[str]) -> bytes:
    """The workbook with these of its parts, which are sheets, in that form.

    Each row and cell names its place there, and errors are texts.
    """
    out = io.BytesIO()
    with (
        ZipFile(io.BytesIO(data)) as before,
        ZipFile(out, "w", ZIP_DEFLATED, compresslevel=1) as after,
    ):
        for name in before.namelist():
            part = part_of(before, name)
            after.writestr(name, _plain(part) if name in parts else part)
    return out.getvalue()


def _plain(sheet: bytes) -> bytes:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        remove_comments=True,
        remove_pis=True,
    )
    root = etree.fromstring(sheet, parser)
    number = -1
    for row in root.iterfind("{*}sheetData/{*}row"):
        number = row_number(row, number)
        for cell, column in zip(row, columns_of(row), strict=True):
            cell.set("r", f"{letters_of(column)}{number + 1}")
            if cell.get("t") == ERROR:
                cell.set("t", "str")
        row.set("r", str(number + 1))
    plain: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return plain
