"""The calculator's expression from the numbers that were found. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from helix.agent.offline.computations import Kind
from helix.agent.offline.operands import ScoredFigure
from helix.domain.calculations import Operand

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?|\.\d+")
_FORMS: dict[Kind, tuple[str, tuple[int, ...]]] = {
    "change": ("{} - {}", (0, 1)), "decrease": ("{} - {}", (1, 0)),
    "difference": ("{} - {}", (0, 1)), "percent change": ("({} - {}) / {}", (0, 1, 1)),
    "percent decrease": ("({} - {}) / {}", (1, 0, 1)), "share": ("{} / {}", (0, 1)),
    "ratio": ("{} / {}", (0, 1)),
}  # fmt: skip
"""By kind, an expression and the index of the number at each of its places."""


def call_arguments(kind: Kind, operands: Sequence[ScoredFigure]) -> dict[str, Any]:
    """The arguments of ``calculator``: the expression, and where each of its numbers stands."""
    mixed = len({one.figure.operand.scale for one in operands if not one.figure.operand.is_percent})
    numbers = [_as_printed(one.figure.operand, with_scale=mixed > 1) for one in operands]
    if kind in _FORMS:
        form, order = _FORMS[kind]
        expression = form.format(*(numbers[place] for place in order))
    else:
        total = " + ".join(numbers)
        expression = f"({total}) / {len(numbers)}" if kind == "average" else total
        order = tuple(range(len(numbers)))
    references = [_operand(operands[place]) for place in order]
    as_percent = kind in ("percent change", "percent decrease", "share")
    return {"expression": expression, "operands": references, "as_percent": as_percent}


def _as_printed(operand: Operand, *, with_scale: bool) -> str:
    amount = operand.amount
    digits = _digits(operand)
    scale = f" {operand.scale}" if with_scale and operand.scale and not operand.is_percent else ""
    percent = "%" if operand.is_percent else ""
    negative = amount is not None and amount.digits.startswith("-")
    text = f"{digits}{scale}{percent}"
    return f"(-{text})" if negative else text


def _digits(operand: Operand) -> str:
    """The digits of the number as it is printed, without currency, sign and unit."""
    match = _NUMBER.search(operand.quote)
    return match[0] if match else operand.quote


def _operand(scored: ScoredFigure) -> dict[str, Any]:
    figure = scored.figure
    return {
        "number": _digits(figure.operand),
        "source": scored.source,
        "row": figure.row,
        "column": figure.column,
    }
