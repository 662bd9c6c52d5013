"""Calculations over numbers of sources: each operand is characters of a document. Pure.

A calculation is believed only when it is computed again from its operands (``holds``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from helix.domain.arithmetic import (
    Literal,
    Negated,
    Node,
    NotArithmetic,
    evaluate,
    is_percentage,
    literals,
    parse,
)
from helix.domain.expression_parts import (
    constants_of,
    divides_by,
    ends_in_hundredths,
    is_product,
    negated_literals,
)
from helix.language.rows import Amount, amount

_PLACES = 2
"""Decimals of a quotient as it is told."""
_POWERS = {"": 0, "thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_NAMES = {power: name for name, power in _POWERS.items()}
_FRACTION = re.compile(r"\.(\d+)")
_ROUND = str.maketrans("()[]", "    ")
"""Brackets within a note would end it, and `[2]` would cite source 2."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A number of a source: ``documents.text[start:end] == quote``, within the chunk ``chunk_id``.

    ``scale`` is what it is counted in where its table says so: "million", "%", or ''. ``row`` and
    ``column`` are what its row and its column are called, for people; '' of a number in a sentence.
    """

    chunk_id: int
    document_id: int
    start: int
    end: int
    quote: str
    scale: str = ""
    row: str = ""
    column: str = ""

    @property
    def amount(self) -> Amount | None:
        """The number as it is printed; None where the quote is none."""
        return amount(self.quote)

    @property
    def value(self) -> Decimal | None:
        """Its value in its scale, negative where it is printed so; None where it is no number."""
        read = self.amount
        return Decimal(read.digits) if read else None

    @property
    def is_percent(self) -> bool:
        """True if the operand counts hundredths, by its own sign or its column's."""
        return self.scale == "%" or bool(self.amount and self.amount.is_share)


@dataclass(frozen=True, slots=True)
class Calculation:
    """``expression`` = ``result``: an operand for each number of the expression, in their order.

    None stands for a constant: the 2 of an average of two, the 1 of `a / b - 1`. ``unit`` is what
    the result counts: "%", a scale such as "million", or ''.
    """

    expression: str
    operands: tuple[Operand | None, ...]
    result: Decimal
    unit: str = ""

    @property
    def said(self) -> str:
        """The result as an answer tells it: `-12.6 million`, `-22.22%`."""
        printed = f"{self.rounded:,f}"
        if self.unit == "%":
            return f"{printed}%"
        return " ".join(filter(None, (printed, self.unit, self._counted)))

    @property
    def _counted(self) -> str:
        """The unit of all operands, `euros`, where the result counts it too."""
        tree = parse(self.expression)
        known = [n for n, one in zip(literals(tree), self.operands, strict=True) if one]
        amounts = [one.amount for one in self.operands if one]
        units = {read.unit for read in amounts if read}
        if len(units) != 1 or divides_by(tree, known) or is_product(tree):
            return ""
        (unit,) = units
        return "" if unit.casefold().rstrip("s") in _POWERS else unit

    @property
    def rounded(self) -> Decimal:
        """The result with the decimals of its operands, or up to two where it divides."""
        tree = parse(self.expression)
        least = max(_decimals(one) for one in literals(tree))
        divides = divides_by(tree, list(literals(tree)))
        rounded = _cut(self.result, max(least, _PLACES) if divides else least)
        shorter = _cut(rounded, least)
        short = shorter if shorter == rounded else rounded
        return short if short else abs(short)

    @property
    def statement(self) -> str:
        """The calculation in one sentence: `Other: 44.1 (2019) - 56.7 (2018) = -12.6 million`.

        What all operands have in common stands in front, what tells one from another behind it.
        """
        named = [one for one in self.operands if one]
        one_row = len({one.row for one in named}) == 1
        one_column = len({one.column for one in named}) == 1
        lead = [named[0].row] * one_row + [named[0].column] * one_column
        head = ", ".join(filter(None, lead)) or "Calculated"
        text = self._noted_expression(with_row=not one_row, with_column=not one_column)
        # an asterisk would be Markdown's
        return f"{head}: {text.replace('*', '×')} = {self.said}"

    def _noted_expression(self, *, with_row: bool, with_column: bool) -> str:
        """The expression; behind the first use of each operand its row or column in brackets."""
        text, at, noted = "", 0, set[tuple[int, int, int]]()
        for number, operand in zip(literals(parse(self.expression)), self.operands, strict=True):
            text += self.expression[at : number.end]
            at = number.end
            if operand is None:
                continue
            place = operand.document_id, operand.start, operand.end
            if place in noted:
                continue
            noted.add(place)
            names = [operand.row] * with_row + [operand.column] * with_column
            note = ", ".join(filter(None, names)).translate(_ROUND)
            text += f" ({note})" if note else ""
        return text + self.expression[at:]

    def holds(self) -> bool:
        """True if the operands are the expression's numbers, and it comes to the result."""
        try:
            tree = parse(self.expression)
            numbers = list(literals(tree))
            if len(numbers) != len(self.operands) or not any(self.operands):
                return False
            negated, constants = negated_literals(tree), constants_of(tree)
            for number, operand in zip(numbers, self.operands, strict=True):
                if operand is None and number not in constants:
                    return False
                if operand and not stands_for(number, operand, negated=number in negated):
                    return False
            as_percent = self.unit == "%"
            return self._outcome(tree, as_percent) == (self.result, self.unit)
        except NotArithmetic:
            return False

    def _outcome(self, tree: Node, as_percent: bool) -> tuple[Decimal, str]:
        """The result and its unit; raises NotArithmetic where the scales do not fit."""
        value = evaluate(tree)
        if is_percentage(tree):
            return value, "%"
        known = {n: one for n, one in zip(literals(tree), self.operands, strict=True) if one}
        power = _power(tree, known)
        if len({one.is_percent for one in known.values()}) > 1 and not is_product(tree):
            raise NotArithmetic("its numbers are partly counted in percent")
        if power not in _NAMES:
            raise NotArithmetic("its numbers are counted in scales that do not go together")
        if as_percent and power == 0 and divides_by(tree, known):
            return (value if ends_in_hundredths(tree) else value * 100), "%"
        return value, _NAMES[power]

    def to_json(self) -> dict[str, Any]:
        """The calculation as a receipt and an answer carry it; the result as a text."""
        return {
            "expression": self.expression,
            "operands": [operand and asdict(operand) for operand in self.operands],
            "result": str(self.result),
            "unit": self.unit,
            "said": self.said,
        }

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Calculation:
        """The calculation that ``to_json`` made."""
        operands = tuple(one and Operand(**one) for one in stored["operands"])
        return cls(stored["expression"], operands, Decimal(stored["result"]), stored["unit"])


def stands_for(number: Literal, operand: Operand, *, negated: bool) -> bool:
    """True if a number of an expression is this operand: value, sign, scale and percent sign."""
    value = operand.value or Decimal(0)
    has_sign = (value < 0) == negated or not value
    return has_sign and number.is_percent == operand.is_percent and is_value(number, operand)


def is_value(number: Literal, operand: Operand) -> bool:
    """True if a number has an operand's digits, or their value where it has its scale."""
    value = operand.value
    if value is None:
        return False
    scaled = abs(value).scaleb(_POWERS.get(operand.scale, 0))
    return number.value == (scaled if number.has_scale else abs(value))


def calculate(
    expression: str, operands: tuple[Operand | None, ...], *, as_percent: bool = False
) -> Calculation:
    """The calculation of ``expression`` with these operands.

    ``as_percent``: a quotient of two operands is told in percent.

    Raises:
        NotArithmetic: the expression is none, or the operands are not its numbers.
    """
    tree = parse(expression)
    if len(list(literals(tree))) != len(operands):
        raise NotArithmetic("each number needs the place where it stands")
    drafted = Calculation(expression.strip(), operands, Decimal(0))
    result, unit = drafted._outcome(tree, as_percent)
    made = replace(drafted, result=result, unit=unit)
    if not made.holds():
        raise NotArithmetic("its numbers are not those of the sources")
    return made


def _power(tree: Node, known: Mapping[Literal, Operand]) -> int:
    """The power of ten that the value of an expression counts: 6 of a sum of millions.

    Raises:
        NotArithmetic: numbers of two scales are added.
    """
    if isinstance(tree, Literal):
        operand = known.get(tree)
        return _POWERS.get(operand.scale, 0) if operand and not tree.has_scale else 0
    if isinstance(tree, Negated):
        return _power(tree.part, known)
    left, right = _power(tree.left, known), _power(tree.right, known)
    if tree.sign == "*":
        return left + right
    if tree.sign == "/":
        return left - right
    if left != right:
        raise NotArithmetic(
            "its numbers are counted in different scales: write each with its own, as in"
            " 1.2 million - 300 thousand"
        )
    return left


def _cut(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _decimals(number: Literal) -> int:
    """The decimals of a number as it is written; of a scaled one none count."""
    found = None if number.has_scale else _FRACTION.search(number.text)
    return len(found[1]) if found else 0
