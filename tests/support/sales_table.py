"""A passage with a table of sales, its cells as operands, and calculations over them."""

from __future__ import annotations

from helix.domain.calculations import Calculation, Operand, calculate
from helix.domain.context import Source, sources_of
from helix.domain.records import Hit

START = 100
YEARS = ("2019", "2018", "2017")
_ROWS = {
    "Fixed price": ("$1,452.4", "$1,146.2", "$1,036.9"),
    "Lamps": ("44.1", "56.7", "70.8"),
    "Returns": ("(3.2)", "(1.1)", "(0.4)"),
    "Total sales": ("$1,493.3", "$1,201.8", "$1,107.3"),
    "Margin": ("4.5%", "5.0%", "5.5%"),
}
TEXT = "\n".join(
    ["Sales by contract type (in millions)"]
    + [
        " | ".join([row, *(f"Years ended › {y}: {v}" for y, v in zip(YEARS, values, strict=True))])
        for row, values in _ROWS.items()
    ]
)
HIT = Hit(7, 1, "Annual Report", "r.pdf", 0, TEXT, START, START + len(TEXT), "n7", 0.2)
SOURCES: list[Source] = sources_of([HIT])


def cell(row: str, year: str) -> Operand:
    """The cell as a tool binds it."""
    quote = _ROWS[row][YEARS.index(year)]
    at = TEXT.index(f"{year}: {quote}") + len(f"{year}: ")
    scale = "%" if quote.endswith("%") else "million"
    column = f"Years ended, {year}"
    return Operand(7, 1, START + at, START + at + len(quote), quote, scale, row, column)


def lamps_change(as_percent: bool = False) -> Calculation:
    """Sales of lamps in 2019 less those in 2018; ``as_percent``: by those in 2018."""
    later, earlier = cell("Lamps", "2019"), cell("Lamps", "2018")
    if as_percent:
        return calculate("(44.1 - 56.7) / 56.7", (later, earlier, earlier), as_percent=True)
    return calculate("44.1 - 56.7", (later, earlier))


def share_of_lamps() -> Calculation:
    """Lamps by all sales in 2019."""
    return calculate(
        "44.1 / 1,493.3", (cell("Lamps", "2019"), cell("Total sales", "2019")), as_percent=True
    )
