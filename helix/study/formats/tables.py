"""Cards as CSV, written for spreadsheets and read from them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from helix.errors import BadRequest
from helix.library.access import Row
from helix.study.formats.anki import MOST_NOTES, cited

_HEADER = ("front", "back", "source")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters by which a spreadsheet takes a cell for a formula."""


def to_csv(items: Sequence[Row]) -> bytes:
    """The cards of a set in UTF-8 with a byte order mark, which spreadsheets need."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_HEADER)
    for item in items:
        cells = (item["body"]["front"], item["body"]["back"], cited(item))
        writer.writerow(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells)
    return buffer.getvalue().encode("utf-8-sig", "replace")


def cards_of_csv(data: bytes) -> list[tuple[str, str]]:
    """Front and back of each line; a first line that names them is left out.

    Raises:
        BadRequest: it is no CSV in UTF-8, or a line has no back.
    """
    try:
        text = data.decode("utf-8-sig")
        dialect = "excel-tab" if "\t" in text.partition("\n")[0] else "excel"
        rows = list(csv.reader(io.StringIO(text.replace("\0", "")), dialect))
    except (UnicodeError, csv.Error):
        raise BadRequest("the file is no CSV in UTF-8: front and back in a line each") from None
    cards: list[tuple[str, str]] = []
    for n, row in enumerate(rows[: MOST_NOTES + 1], 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or (n == 1 and [c.lower() for c in cells[:2]] == ["front", "back"]):
            continue
        if len(cells) < 2 or not cells[0] or not cells[1]:
            raise BadRequest(f"line {n} has no front and back: two cells in a line each")
        cards.append((_unmarked(cells[0]), _unmarked(cells[1])))
    return cards


def _unmarked(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_FORMULA) else cell
