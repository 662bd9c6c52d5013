"""Cells that may be compared: those of one row by period, those of one column by row.

A comparison counts only where every cell in it says the same measure in the same unit: the headers
of a row's cells differ in their period alone, and the rows of a column are the parts of one total
or are named by one column of labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from helix.language.periods import months_in, periods, without_periods
from helix.language.rows import INWARDS, Named, TableRow, amount
from helix.language.sentences import Span

_TOTAL = re.compile(r"(?:sub)?-?totals?\b|(?:grand|consolidated|net) totals?\b", re.IGNORECASE)
_ROUNDING = Decimal("0.51")
"""By how much of its last digit each printed part of a sum may be off."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A cell of a comparison and its number as it is printed, without the table's scale."""

    row: TableRow
    cell: Named
    value: Decimal


def cells_by_period(row: TableRow, cell: Named) -> list[Compared]:
    """The cells of ``row`` that say what ``cell`` does, of other periods, and ``cell`` itself.

    Empty where its header names no single period, or one of the others has no number.
    """
    kind = _header_without_period(cell)
    alike = [each for each in row.cells if kind and _header_without_period(each) == kind]
    found = [Compared(row, each, value) for each in alike if (value := _value(each)) is not None]
    named = {_period(each) for each in alike}
    shares = {_is_share(each) for each in alike}
    whole = len(found) == len(alike) == len(named) and len(shares) == 1
    return found if whole and len(found) > 1 else []


def cells_by_row(rows: Sequence[TableRow], row: TableRow, cell: Named) -> list[Compared]:
    """The cells of a table's ``rows`` below the header of ``cell``: of rows that are parts of one.

    They are where their values sum up to a total's beside them, or where the column of their labels
    has a name. Totals are left out. Empty where one has no number, or two rows have one label.
    """
    beside = [one for one in rows if one.path[:-1] == row.path[:-1] and one.path]
    below = [
        (one, each) for one in beside for each in one.cells if each.header == cell.header
    ]  # fmt: skip
    parts = [(one, each) for one, each in below if not is_total(one)]
    found = [
        Compared(one, each, value) for one, each in parts if (value := _value(each)) is not None
    ]
    totals = [value for one, each in below if is_total(one)
              and (value := _value(each)) is not None]  # fmt: skip
    labels = {one.label for one, _ in parts}
    is_one_unit = len({_is_share(each) for _, each in parts}) == 1
    if not is_one_unit or not len(found) == len(parts) == len(labels) or len(found) < 2:
        return []
    return found if row.corner or _sum_up(found, totals) else []


def greatest(compared: Sequence[Compared], *, least: bool = False) -> Compared | None:
    """The one with the greatest number, or the least; None of several, or where signs differ."""
    if not compared or any(one.value < 0 for one in compared):
        return None
    best = (min if least else max)(compared, key=lambda one: one.value)
    return best if sum(one.value == best.value for one in compared) == 1 else None


def is_total(row: TableRow) -> bool:
    """True if a row's label says that it is a total of others."""
    return _TOTAL.match(row.label) is not None


def rows_of_table(rows: Sequence[tuple[TableRow, Span]], row: TableRow) -> list[TableRow]:
    """The rows of the same table as ``row``, which is among them."""
    above = next((span for one, span in rows if one.start == row.start), None)
    return [one for one, span in rows if span == above]


def _header_without_period(cell: Named) -> tuple[str, int | None] | None:
    """A header's words beside its period, and the period's months; None without a single one."""
    header = cell.header.replace(INWARDS, " ")
    if len(periods(header)) != 1:
        return None
    rest = " ".join(re.findall(r"\w+", without_periods(header).casefold()))
    return rest, months_in(header)


def _period(cell: Named) -> str:
    return periods(cell.header.replace(INWARDS, " "))[0].keys[0]


def _value(cell: Named) -> Decimal | None:
    value = amount(cell.value)
    return Decimal(value.digits) if value and not value.unit else None


def _is_share(cell: Named) -> bool:
    value = amount(cell.value)
    return value is not None and value.is_share


def _sum_up(found: Sequence[Compared], totals: Sequence[Decimal]) -> bool:
    """True if the numbers sum up to the total, as far as they are rounded."""
    if len(totals) != 1:
        return False
    exponent = min(one.value.as_tuple().exponent for one in found)
    last = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    off = abs(sum(one.value for one in found) - totals[0])
    return off <= last * _ROUNDING * len(found)
