"""Tests that numbers have the measure that a question asks for, and fit one another. Pure.

A number with the right name may have another measure: an amount where a share is asked for, or a
year's value where an average is. A computation with it would be proved all the same, so the number
is not taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from helix.agent.figures import Figure
from helix.agent.offline.computations import Computation, Kind
from helix.language.paraphrases import meanings
from helix.language.rows import INWARDS
from helix.language.word_lists import word_lists

_OUTFLOW = word_lists("tables")["outflow"]
_SHARE = re.compile(r"%|\b(?:percent|percentages?|rates?|ratios?|proportions?|share of)\b", re.I)
_AVERAGE = frozenset(meanings("average mean"))
_EITHER_SIGN = re.compile(r"\(|/|\bor\b")


def is_suitable(computation: Computation, figure: Figure) -> bool:
    """True if the names of a cell's row, column and table fit the measure asked for."""
    if computation.of_shares and not (
        figure.operand.is_percent or _SHARE.search(f"{figure.row} {figure.column}")
    ):
        return False
    header_words = figure.row_words | figure.column_words
    return not computation.of_averages or bool(
        _AVERAGE & (header_words | frozenset(meanings(figure.caption)))
    )


def is_sound(computation: Computation, figures: Sequence[Figure]) -> bool:
    """True if a computation over these cells would answer the question.
    No part of a whole is negative, or more than the whole. Where costs are printed as negative
    numbers, the change of the cost and the change of the number have opposite signs, and the
    question does not say which of them it means.
    """
    if computation.within:
        part, whole = (figure.operand.value or Decimal(0) for figure in figures)
        return part * whole >= 0 and abs(part) <= abs(whole)
    return computation.kind not in ("change", "difference") or not _are_negative_costs(figures)


def kind_over(computation: Computation, figures: Sequence[Figure]) -> Kind:
    """The kind of computation over these cells: a cost printed as -8, then -7, has fallen by 1."""
    if computation.kind == "decrease" and _are_negative_costs(figures):
        return "change"
    return computation.kind


def _are_negative_costs(figures: Sequence[Figure]) -> bool:
    return all((one.operand.value or 0) < 0 and _is_outflow(one) for one in figures)


def _is_outflow(figure: Figure) -> bool:
    """True if a row has the name of a cost, and not one such as `income (loss)`."""
    label = figure.row.rpartition(INWARDS)[2]
    return not _EITHER_SIGN.search(label) and bool(_OUTFLOW & frozenset(meanings(label)))
