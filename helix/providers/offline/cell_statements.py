"""A cell of a table as a statement: what its row and its column name, its value and its unit."""

from __future__ import annotations

import re

from helix.language.periods import periods
from helix.language.rows import INWARDS, Amount, Named, TableRow, Units, amount
from helix.language.word_lists import tables, word_lists

_LOWERED = word_lists("tables")["lowered"]
_MONTH = "|".join(" ".join(tables("periods")["months"]).split())
_GOES_ON = re.compile(rf"\b(?:ended|ending|of|at|\d{{1,2}} (?:{_MONTH}))$", re.IGNORECASE)
"""The end of a header after which the next header follows without a comma: `31 December`."""
_ENDED = re.compile(r"\b(?:Months|Weeks|Year|Quarter|Period) (?:Ended|Ending)\b|\bEnded\b")


def cell_as_statement(row: TableRow, cell: Named, units: Units | None) -> str:
    """`Net sales › Products: $60,584 million, three months ended July 1, 2023`.

    Of a value that is no amount `Office, City: Berlin`.
    """
    value = amount(cell.value)
    shown = cell.value
    if value and units:
        shown = _with_units(cell.value, value, units, row, cell)
    named = INWARDS.join(row.path) or ", ".join(
        f"{other.header}: {other.value}" if other.header else other.value
        for other in row.cells if other is not cell
    )  # fmt: skip
    column = _in_prose(cell.header)
    if not row.path or (cell.header and value is None):
        return f"{named}, {cell.header}: {shown}" if named else f"{cell.header}: {shown}"
    return f"{named}: {shown}, {column}" if column else f"{named}: {shown}"


def _with_units(printed: str, value: Amount, units: Units, row: TableRow, cell: Named) -> str:
    named = (" ".join(row.path), cell.header, value)
    scale = units.scale_of(*named)
    # a negative number keeps its brackets, and its currency is left to the line that names it
    currency = units.currency_of(*named) if printed[0].isdigit() else ""
    return f"{currency}{printed} {scale}" if scale else printed


def _in_prose(header: str) -> str:
    """`three months ended July 1, 2023`, of `Three Months Ended › July 1, 2023`."""
    parts = [part.strip().rstrip(",") for part in header.split(INWARDS)]
    if len(parts) > 1 and _ENDED.search(parts[0]) and not periods(" ".join(parts)):
        parts = parts[1:]  # `Three Months Ended › Change`
    text = parts[0] if parts else ""
    for part in parts[1:]:
        text += (" " if _GOES_ON.search(text) else ", ") + part
    first, _, rest = text.partition(" ")
    lowered = first.isalpha() and first[1:].islower() and first.casefold() in _LOWERED
    return _ENDED.sub(
        lambda found: found[0].lower(), f"{first.lower()} {rest}".rstrip() if lowered else text
    )
