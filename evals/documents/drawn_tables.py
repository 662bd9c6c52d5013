"""Tables of our own making, so that a run without any data set has tables to read."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from evals.documents.printed_files import PrintedDocument
from evals.documents.true_tables import matrix_table

COUNT = 12
_TITLE = "Notes of an Invented Company"
_ABOVE = "The following table is part of the notes to the financial statements (in thousands):"
_BELOW = "Amounts are rounded to the nearest thousand; totals may differ from the sums shown."
_GROUPS: Sequence[tuple[str, Sequence[str]]] = (
    ("Revenue:", ("Instruments", "Services and repairs", "Licences", "Other revenue")),
    ("Operating expenses:", ("Research", "Marketing and sales", "Administration", "Restructuring")),
    ("Current assets:", ("Cash at banks", "Receivables, net", "Inventories", "Prepaid costs")),
    ("Leases:", ("Within one year", "One to five years", "After five years", "Imputed interest")),
)
_PERIODS = (("Three Months Ended", "Nine Months Ended"), ("Year Ended", "Half-Year Ended"))
_DATES = ("March 31, 2024", "March 31, 2023", "June 30, 2024", "June 30, 2023")


def drawn_tables() -> list[PrintedDocument]:
    """COUNT documents with a table each: one header row or two, with groups or without."""
    made = []
    for seed in range(COUNT):
        table = matrix_table(
            _matrix(random.Random(seed), two_rows=seed % 2 == 0, grouped=seed % 3 > 0)
        )
        assert table is not None, "a drawn table has values"
        made.append(PrintedDocument(_TITLE, [_ABOVE], table, [_BELOW]))
    return made


def _matrix(draw: random.Random, *, two_rows: bool, grouped: bool) -> list[list[str]]:
    first = draw.sample(_DATES, 2)
    rows: list[list[str]] = []
    if two_rows:
        early, late = draw.choice(_PERIODS)
        rows.append(["", early, "", late, ""])
        rows.append(["", *first, *first])
    else:
        rows.append(["", *_DATES[: draw.randint(2, 4)]])
    columns = len(rows[-1]) - 1
    for title, labels in draw.sample(_GROUPS, 2 if grouped else 1):
        if grouped:
            rows.append([title, *[""] * columns])
        kept = labels[: draw.randint(3, 4)]
        rows += [[label, *_values(draw, columns)] for label in kept]
        rows.append([f"Total {title.rstrip(':').casefold()}", *_values(draw, columns, sign="$")])
    return rows


def _values(draw: random.Random, count: int, sign: str = "") -> Iterator[str]:
    for _ in range(count):
        number = f"{draw.randint(10, 99_999):,}"
        yield draw.choice((f"{sign}{number}", f"{sign}{number}", f"({number})", "—"))
