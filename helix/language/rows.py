"""Rows of a table as readers write them: what a line names, what each of its cells says.

`Net sales › Products | Three Months Ended › July 1, 2023: $60,584 | … › June 25, 2022: $63,355`
is a label's path, then a cell a column, each behind the path of its column. What the numbers are
counted in stands on a line above the rows: `Net sales by category (in millions)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from helix.language.sentences import Span

INWARDS = " › "
BESIDE = " | "
_NAMED = re.compile(r"(.{1,400}?): (?=\S)")
_VALUE = re.compile(
    r"(?P<negative>[-–−(]?)\s?(?P<currency>[$€£¥]?)\s?(?P<opened>\(?)"
    r"(?P<digits>\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)\s?\)?\s?(?P<percent>%?)\)?"
    r"(?P<unit>(?: [^\W\d_]{1,14}){0,2})"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_SCALE = re.compile(
    r"\b(?:in|of|stated in|expressed in|presented in|amounts? in)\s+"
    r"(?:(?:US|U\.S\.|[$€£]|USD|EUR)\s*)?(thousand|million|billion|trillion)s?\b"
    r"|[$€£]\s?(?:in )?(thousand|million|billion)s\b|[$€£]\s?(000)s?\b|\(\s?[’']?(000)s?\s?\)",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\bexcept\b(.*)", re.IGNORECASE | re.DOTALL)
_CURRENCY = re.compile(r"([$€£¥])|\b(?:US |U\.S\. )?(dollars|USD|euros?|EUR|pounds|GBP)\b", re.I)
SCALES = frozenset(("thousand", "million", "billion", "trillion"))
_SIGNS = {"dollars": "$", "usd": "$", "euro": "€", "euros": "€", "eur": "€", "pounds": "£",
          "gbp": "£"}  # fmt: skip
_PER = re.compile(
    r"\bper\b|[%]|\bpercent(?:age)?\b|\bratio\b|\brate\b"
    r"|\bin (?:years|months|weeks|days|hours)\b",
    re.IGNORECASE,
)
_PERCENT_OF = re.compile(r"(?:^|\(|\bas (?:an? )?)percent(?:age)? of\b", re.IGNORECASE)
_SHARES = re.compile(r"\bshares?\b", re.IGNORECASE)
_COUNTED = re.compile(
    r"\b(?:shares?|number|units?|employees|headcount|customers|users|volumes?|hours|days)\b",
    re.IGNORECASE,
)
"""Words of rows whose values are no sums of money, though the line above the table names one."""


@dataclass(frozen=True, slots=True)
class Named:
    """A cell: the path of its column, '' where it has none, and where its value stands."""

    header: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row at ``text[start:end]``. ``path`` is its group, then its label; () where it has none.

    ``corner`` names the column of the labels, as in `Region: EMEA | …`; '' where nothing does.
    """

    start: int
    end: int
    corner: str
    path: tuple[str, ...]
    cells: tuple[Named, ...]

    @property
    def label(self) -> str:
        return self.path[-1] if self.path else ""


@dataclass(frozen=True, slots=True)
class Amount:
    """A value as it is printed: ``digits`` without thousands separators, negative with a `-`.

    ``unit`` is what it counts, at most two words, '' where it says nothing: `49 euros`.
    """

    digits: str
    currency: str
    is_share: bool
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of the numbers below a line, as the line says it at ``text[start:end]``."""

    start: int
    end: int
    text: str

    def scale_of(self, label: str, column: str, value: Amount) -> str:
        """`million` of a value that is counted in millions; '' of one that is not scaled.

        Shares of a whole and amounts per share are never; what `except` names is not.
        """
        if value.unit.casefold().rstrip("s") in SCALES:
            return value.unit.casefold().rstrip("s")
        named = f"{label} {column}"
        if value.is_share or value.unit or _PER.search(named):
            return ""
        excepted = _EXCEPT.search(self.text)
        if excepted and _SHARES.search(excepted[1].lower().replace("per share", "").replace(
            "per-share", ""
        )) and _SHARES.search(named):  # fmt: skip
            return _scale(excepted[1])
        return _scale(self.text[: excepted.start()] if excepted else self.text)

    def currency_of(self, label: str, column: str, value: Amount) -> str:
        """The sign of a scaled value printed without one: `£` under `in thousands of pounds`.

        '' where the value names its currency, is no sum of money, or the line names none.
        """
        named = f"{label} {column}"
        if value.currency or _COUNTED.search(named) or not self.scale_of(label, column, value):
            return ""
        return self.currency

    @property
    def currency(self) -> str:
        """The sign `$` where the line says that they are dollars; '' where it says nothing."""
        found = _CURRENCY.search(self.text)
        return (found[1] or _SIGNS.get(found[2].lower(), "")) if found else ""


NO_UNITS = Units(0, 0, "")


def _scale(text: str) -> str:
    found = _SCALE.search(text)
    if not found:
        return ""
    return (found[1] or found[2] or "thousand").lower()


def amount(value: str) -> Amount | None:
    """The number that a value is, with its unit at most; None of any other text."""
    found = _VALUE.fullmatch(value.strip())
    if not found:
        return None
    sign = "-" if found["negative"] or found["opened"] else ""
    digits = sign + found["digits"].replace(",", "")
    return Amount(digits, found["currency"], bool(found["percent"]), found["unit"].strip())


def is_row(line: str) -> bool:
    """True if a line is a row that names its columns."""
    return BESIDE in line and ": " in line and not line.startswith(("|", "#"))


def is_label(value: str) -> bool:
    """True if a row may be called so: by a text, or a year."""
    return _YEAR.fullmatch(value) is not None or not amount(value)


def read_row(text: str, span: Span) -> TableRow | None:
    """The row at ``span``; None where it is no row, or none of its cells names its column."""
    start, end = span
    if not is_row(text[start:end]):
        return None
    corner, at = "", start
    path: tuple[str, ...] = ()
    cells: list[Named] = []
    for number, piece in enumerate(text[start:end].split(BESIDE)):
        named = _NAMED.match(piece)
        value_at = at + (named.end() if named else 0)
        value = text[value_at : at + len(piece)]
        if number == 0 and (named is None or INWARDS not in named[1]) and is_label(value):
            corner, path = (named[1] if named else ""), tuple(value.split(INWARDS))
        else:
            cells.append(Named(named[1] if named else "", value, value_at, at + len(piece)))
        at += len(piece) + len(BESIDE)
    if not any(cell.header for cell in cells):
        return None
    return TableRow(start, end, corner, path, tuple(cells))


def rows_of(text: str) -> Iterator[tuple[TableRow, Span]]:
    """The rows of a text, each with the span of the line above its table, empty where none is."""
    return iter(_rows_of(text)) if BESIDE in text else iter(())


@lru_cache(maxsize=512)  # chunks, which are asked again; a row takes some 2 KB
def _rows_of(text: str) -> tuple[tuple[TableRow, Span], ...]:
    return tuple(_read_rows(text))


def _read_rows(text: str) -> Iterator[tuple[TableRow, Span]]:
    above, at, in_table = (0, 0), 0, False
    for line in text.splitlines(keepends=True):
        bare = len(line.rstrip())
        row = read_row(text, (at, at + bare))
        if row:
            in_table = True
            yield row, above
        elif BESIDE not in line and bare and not (in_table and INWARDS in line):
            above, in_table = (at, at + bare), False
        at += len(line)


def units_in(text: str, span: Span) -> Units | None:
    """The units that a line above a table gives; None where it gives none."""
    line = text[slice(*span)]
    return Units(*span, line) if _SCALE.search(line) else None


def counted_in(row: TableRow, cell: Named, units: Units | None) -> str:
    """The unit of a cell's value: "%", a scale such as "million", or ''."""
    value = amount(cell.value)
    if value is None:
        return ""
    if value.is_share or "%" in cell.header or "%" in row.label:
        return "%"
    plain = not (value.currency or value.unit)
    if plain and (_PERCENT_OF.search(cell.header) or _PERCENT_OF.search(row.label)):
        return "%"
    return (units or NO_UNITS).scale_of(" ".join(row.path), cell.header, value)
