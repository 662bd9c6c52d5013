"""Counts, sums, averages and extremes over a column of a table, whose cells stand in sources. Pure.

The cells of all rows are the operands, so that an aggregate is computed again from them alone
(``holds``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any, Literal

from helix.domain.calculations import Calculation, Operand
from helix.language.rows import INWARDS

Operation = Literal["highest", "lowest", "sum", "average", "count"]
_ROUNDED = 1000
"""The share of a total, as its inverse, by which its rounded parts may miss it."""
_PLACES = 2
"""Decimals of an average as it is told, unless its cells have more."""
_LONGEST, _EXACT = 20, Context(prec=60)
"""Characters of a number that is computed with, and what adds many such without rounding."""


@dataclass(frozen=True, slots=True)
class Condition:
    """The value that a row has in a column: `Status: Cancelled`."""

    column: str
    value: str

    def is_met(self, operand: Operand) -> bool:
        """True if a cell has the value, whatever its capitals."""
        return operand.quote.strip().casefold() == self.value.casefold()


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An operation over the rows of a table that meet all ``conditions``.

    ``operands`` are the cells of each row in its order: one a condition, then, of all but a count,
    the cell of the ``column``. ``kind`` is what the rows are called, '' where nothing says so.
    """

    operation: Operation
    column: str
    kind: str
    conditions: tuple[Condition, ...]
    operands: tuple[Operand, ...]
    result: Decimal

    @property
    def unit(self) -> str:
        """The scale that the column is counted in; '' of a count."""
        return "" if self.operation == "count" else self.used[0].scale

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the operands of a row."""
        own = () if self.operation == "count" else (self.column,)
        return (*(one.column for one in self.conditions), *own)

    @property
    def rows(self) -> list[tuple[Operand, ...]]:
        """The operands row by row."""
        width = len(self.columns)
        return [self.operands[at : at + width] for at in range(0, len(self.operands), width)]

    @property
    def met(self) -> list[tuple[Operand, ...]]:
        """The rows that meet the conditions."""
        return [
            row for row in self.rows
            if all(one.is_met(cell) for one, cell in zip(self.conditions, row, strict=False))
        ]  # fmt: skip

    @property
    def used(self) -> list[Operand]:
        """The cells that the result comes from, an extreme's own in front."""
        cells = [row[-1] for row in self.met]
        if self.operation not in ("highest", "lowest"):
            return cells
        return sorted(cells, key=lambda one: one.value != self.result)

    @property
    def said(self) -> str:
        """The result as an answer tells it, in its cells' unit; an extreme as it is printed."""
        if self.operation == "count":
            return f"{self.result:,f}"
        is_extreme = self.operation in ("highest", "lowest")
        printed = self.used[0].quote if is_extreme else _printed_as(self._rounded, self.used)
        if not self.unit or self.unit in printed:
            return printed
        return f"{printed}%" if self.unit == "%" else f"{printed} {self.unit}"

    @property
    def _rounded(self) -> Decimal:
        """The result; an average with two decimals, or as many as its cells have, without zeros."""
        if self.operation != "average":
            return self.result
        exponents = (one.value.as_tuple().exponent for one in self.used if one.value is not None)
        finest = Decimal(1).scaleb(min(-_PLACES, *map(int, exponents)))
        rounded = self.result.quantize(finest, ROUND_HALF_UP, _EXACT)
        return rounded.normalize(_EXACT)

    @property
    def expression(self) -> str:
        """The operation in words: `the highest of 60 rows: Amount (EUR)`."""
        return f"{self._of_rows}: {self._column or self._conditions}"

    @property
    def _column(self) -> str:
        return self.column.replace(INWARDS, ", ")

    @property
    def _conditions(self) -> str:
        return ", ".join(f"{one.column}: {one.value}" for one in self.conditions)

    @property
    def _of_rows(self) -> str:
        if self.operation == "count":
            return f"count in {len(self.rows)} rows"
        return f"the {self.operation} of {len(self.met)} rows"

    @property
    def statement(self) -> str:
        """The aggregate in one sentence: `SO-12: 10,693.00, Amount, the highest of 60 rows`.

        A count is `Order: 8 of 60 rows, Status: Cancelled`.
        """
        behind = f", {self._conditions}" if self.conditions else ""
        if self.operation == "count":
            return f"{self.kind}: {self.said} of {len(self.rows)} rows{behind}"
        if self.operation in ("highest", "lowest"):
            return f"{self.used[0].row}: {self.said}, {self._column}, {self._of_rows}{behind}"
        return f"{self._column}: {self.said}, {self._of_rows}{behind}"

    def holds(self) -> bool:
        """True if the operands are of their columns, and the result is what comes of them."""
        columns = self.columns
        if not columns or not self.operands or len(self.operands) % len(columns):
            return False
        named = {tuple(cell.column for cell in row) for row in self.rows}
        return named == {columns} and _outcome(self) == self.result

    def to_json(self) -> dict[str, Any]:
        """The aggregate as an answer carries it, with the cells that its result comes from."""
        return {
            "expression": self.expression,
            "operands": [asdict(operand) for operand in self.used],
            "result": str(self.result),
            "unit": self.unit,
            "said": self.said,
        }


Computed = Calculation | Aggregate
"""A result that an answer computes from cells, each of which it cites."""


def aggregate(
    operation: Operation,
    column: str,
    kind: str,
    conditions: Sequence[Condition],
    operands: Sequence[Operand],
) -> Aggregate | None:
    """The aggregate of ``operands``; None where one is no number of the others' unit, no row meets
    the conditions, or an extreme is that of several rows.
    """
    drafted = Aggregate(operation, column, kind, tuple(conditions), tuple(operands), Decimal(0))
    result = _outcome(drafted)
    if result is None:
        return None
    return Aggregate(operation, column, kind, tuple(conditions), tuple(operands), result)


def _outcome(of: Aggregate) -> Decimal | None:
    cells = [row[-1] for row in of.met]
    if not cells or of.operation == "count":
        return Decimal(len(cells)) if cells else None
    values = [
        one.value for one in cells
        if one.value is not None and one.amount and len(one.amount.digits) <= _LONGEST
    ]  # fmt: skip
    if len(values) < len(cells) or len(values) < 2 or not _is_one_unit(cells):
        return None
    if _has_total(values) or _is_misread(values):
        return None
    if of.operation in ("sum", "average"):
        with localcontext(_EXACT):
            total = sum(values, Decimal(0))
        return total if of.operation == "sum" else total / len(values)
    result = max(values) if of.operation == "highest" else min(values)
    return None if values.count(result) > 1 or any(value < 0 for value in values) else result


def _is_one_unit(cells: Sequence[Operand]) -> bool:
    """True if cells count the same; a currency may be printed in some of them alone."""
    amounts = [one.amount for one in cells if one.amount]
    units = {(one.scale, one.amount and (one.amount.is_share, one.amount.unit)) for one in cells}
    return len(units) == 1 and len({one.currency for one in amounts if one.currency}) <= 1


def _printed_as(result: Decimal, cells: Sequence[Operand]) -> str:
    """A number as cells of one unit print theirs: `-$1.50`, `3%`, `12 kg`."""
    amounts = [one.amount for one in cells if one.amount]
    sign, currency = "-" * (result < 0), max(one.currency for one in amounts)
    share, unit = "%" * amounts[0].is_share, f" {amounts[0].unit}".rstrip()
    return f"{sign}{currency}{result.copy_abs():,f}{share}{unit}"


def _has_total(values: Sequence[Decimal]) -> bool:
    """True where the greatest is the sum of all others, as a total without its name is."""
    most = max(values)
    return len(values) > 2 and abs(2 * most - sum(values)) * _ROUNDED <= most


def _is_misread(values: Sequence[Decimal]) -> bool:
    """True where whole numbers stand beside such of three decimals: `1.299` may be a thousand."""
    return {0, 3} <= set(map(_decimals, values))


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0
