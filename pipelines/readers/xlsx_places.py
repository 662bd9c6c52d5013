"""Places of XLSX's rows and cells, which need not name them: then they follow the one before."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

_NAME = re.compile("[A-Za-z]{1,3}([0-9]{1,7})")
_DIGITS = "0123456789"


def row_number(row: Any, before: int) -> int:
    """The number of a row, from 0: its own, that of its cells, or the next after ``before``."""
    if (named := row.get("r", "")).isdecimal():
        return int(named) - 1
    names = (_NAME.fullmatch(cell.get("r", "")) for cell in row)
    name = next(filter(None, names), None)
    return int(name[1]) - 1 if name else before + 1


def columns_of(row: Any) -> list[int]:
    """The column of each cell of a row, from 0: its own, or the next after the one before it."""
    columns: list[int] = []
    column = -1
    for cell in row:
        name = cell.get("r")
        column = _column(name.rstrip(_DIGITS)) if name else column + 1
        columns.append(column)
    return columns


def letters_of(column: int) -> str:
    """The letters that name a column, which counts from 0: 27 is AB."""
    letters = ""
    while column >= 0:
        letters = chr(ord("A") + column % 26) + letters
        column = column // 26 - 1
    return letters


@cache
def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
