"""ODS: sheet by sheet, a line a row that names its columns (tables.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from pipelines.readers import Progress, ReadText
from pipelines.readers.draft import Draft
from pipelines.readers.odf import SAFE, Package, attribute, opened
from pipelines.readers.odf_tables import table_rows, value_text
from pipelines.readers.office import local_name
from pipelines.readers.tables import add_table, one_line


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections of 20 rows labelled "sheet Budget, rows 2-21", hidden sheets included.

    Raises:
        UnreadableFile: encrypted, damaged, or without a value.
    """
    draft = Draft()
    with opened(data, "OpenDocument spreadsheet") as package:
        for sheet, rows in groupby(_rows(package), key=_sheet_of):
            name = one_line(attribute(sheet, "name"))
            add_table(draft, table_rows(rows, value_text), (name,), f"sheet {name}, ")
        title, metadata = package.properties()
        return replace(draft.finish(title), metadata=metadata)


def _rows(package: Package) -> Iterator[Any]:
    """The rows of all sheets as they come: a whole sheet as a tree may be larger than memory."""
    with package.open("content.xml") as part:
        for _, row in etree.iterparse(part, tag="{*}table-row", **SAFE):
            sheet = _sheet_of(row)
            if sheet is not None and local_name(sheet.getparent()) == "spreadsheet":
                yield row
                row.clear()
                while row.getprevious() is not None:
                    del row.getparent()[0]


def _sheet_of(row: Any) -> Any:
    """The table that a row is in, in whatever groups."""
    return next(row.iterancestors("{*}table"), None)
