"""The extent of a sheet of XLSX, whose reader makes all cells between its first and its last."""

from __future__ import annotations

import re
import resource
from functools import cache
from typing import Any

from pipelines.readers import UnreadableFile

_NAME = re.compile("([A-Z]{1,3})([0-9]{1,7})")
_CELL_BYTES = 32  # of calamine, for an empty one too
_MEMORY = 2**30  # bytes, where the process has no limit
_MOST_EMPTY = 10  # cells for each that is there; a fuller sheet wants more memory


class Extent:
    """The rectangle around the cells of a sheet that have something in them."""

    def __init__(self) -> None:
        self._top, self._left = 2**20, 2**14
        self._bottom = self._right = 0
        self._count = 0

    def add(self, row: Any) -> None:
        """Take a ``row`` element with its cells."""
        self._count += len(row)
        for cells in (row, reversed(row)):
            filled = next((cell for cell in cells if len(cell)), None)
            if filled is not None and (at := place_of(filled)):
                self._top, self._bottom = min(self._top, at[0]), max(self._bottom, at[0])
                self._left, self._right = min(self._left, at[1]), max(self._right, at[1])

    def check(self) -> None:
        """Refuse a sheet whose rectangle is nearly empty, and larger than the memory there is.

        Raises:
            UnreadableFile: it is such a sheet.
        """
        height, width = self._bottom - self._top + 1, self._right - self._left + 1
        limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
        fitting = (_MEMORY if limit == resource.RLIM_INFINITY else limit) // _CELL_BYTES
        if height > 0 and height * width > max(fitting, _MOST_EMPTY * self._count):
            raise UnreadableFile(
                f"a sheet of {height:,} rows and {width:,} columns with {self._count:,} cells in"
                " them: delete those far from the rest"
            )


def place_of(cell: Any) -> tuple[int, int] | None:
    """Row and column, from 0, that a ``c`` element names, if it does."""
    name = _NAME.fullmatch(cell.get("r", ""))
    return (int(name[2]) - 1, _column(name[1])) if name else None


@cache
def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
