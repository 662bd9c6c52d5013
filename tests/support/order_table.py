"""A table of orders in two passages, and questions asked of its columns."""

from __future__ import annotations

from helix.domain.calculations import Operand
from helix.domain.context import Source, sources_of
from helix.domain.records import Hit
from helix.language.rows import TableRow, rows_of

_ORDERS = (
    ("SO-1", "Alpina", "Austria", "12", "1,044.50", "Shipped"),
    ("SO-2", "Fjellheim", "Norway", "7", "980.00", "Cancelled"),
    ("SO-3", "Alpina", "Austria", "31", "310.25", "Open"),
    ("SO-4", "Dagsverk", "Norway", "5", "2,150.00", "Cancelled"),
    ("SO-5", "Dagsverk", "Norway", "9", "415.25", "Shipped"),
)
_HEADERS = ("Order", "Customer", "Country", "Quantity", "Amount (EUR)", "Status")
LINES = [" | ".join(f"{h}: {v}" for h, v in zip(_HEADERS, one, strict=True)) for one in _ORDERS]
TEXT = "\n".join(LINES)
ROWS: list[TableRow] = [row for row, _ in rows_of(TEXT)]
_CUT = len("\n".join(LINES[:3])) + 1
HITS = [
    Hit(1, 4, "Orders", "o.csv", 0, TEXT[:_CUT], 0, _CUT, "n1", 0.2),
    Hit(2, 4, "Orders", "o.csv", 1, TEXT[_CUT:], _CUT, len(TEXT), "n2", 0.2),
]
SOURCES: list[Source] = sources_of(HITS)


def cells(*columns: str) -> list[Operand]:
    """The cells of these columns, row by row, as a tool binds them."""
    return [
        Operand(1 if row.start < _CUT else 2, 4, cell.start, cell.end, cell.value, "", row.label,
                cell.header)
        for row in ROWS
        for column in columns
        for cell in row.cells
        if cell.header == column
    ]  # fmt: skip
