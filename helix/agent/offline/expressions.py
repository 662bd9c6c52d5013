"""The calculator's expression from the cells that were found. Pure."""

from __future__ import annotations

import re
from typing import Any

from helix.agent.figures import Figure
from helix.agent.offline.computations import Computation, Kind
from helix.domain.calculations import Operand

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_FORMS: dict[Kind, tuple[str, tuple[int, ...]]] = {
    "change": ("{} - {}", (0, 1)), "percent change": ("({} - {}) / {}", (0, 1, 1)),
    "share": ("{} / {}", (0, 1)), "ratio": ("{} / {}", (0, 1)),
}  # fmt: skip
"""By kind, an expression and the index of the number at each of its places."""


def call_arguments(found: Computation) -> dict[str, Any]:
    """The arguments of ``calculator``: the expression, and where each of its numbers stands."""
    operands = [figure.operand for _, figure in found.cells]
    mixed = len({one.scale for one in operands if not one.is_percent}) > 1
    numbers = [_as_printed(one, with_scale=mixed) for one in operands]
    if found.kind in _FORMS:
        form, order = _FORMS[found.kind]
        expression = form.format(*(numbers[place] for place in order))
    else:
        total = " + ".join(numbers)
        expression = f"({total}) / {len(numbers)}" if found.kind == "average" else total
        order = tuple(range(len(numbers)))
    references = [_operand(*found.cells[place]) for place in order]
    as_percent = found.kind in ("percent change", "share")
    return {"expression": expression, "operands": references, "as_percent": as_percent}


def _as_printed(operand: Operand, *, with_scale: bool) -> str:
    amount = operand.amount
    scale = f" {operand.scale}" if with_scale and operand.scale and not operand.is_percent else ""
    text = f"{_digits(operand)}{scale}{'%' if operand.is_percent else ''}"
    return f"(-{text})" if amount is not None and amount.digits.startswith("-") else text


def _digits(operand: Operand) -> str:
    """The digits of the number as it is printed, without currency, sign and unit."""
    match = _NUMBER.search(operand.quote)
    return match[0] if match else operand.quote


def _operand(source: int, figure: Figure) -> dict[str, Any]:
    return {
        "number": _digits(figure.operand),
        "source": source,
        "row": figure.row,
        "column": figure.column,
    }
