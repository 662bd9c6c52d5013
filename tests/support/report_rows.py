"""Rows of made-up quarterly reports as readers write them, as sources with their places."""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.context import Source
from helix.domain.records import Hit
from helix.domain.relevance import SourcePlace

PERIODS = (
    "Three Months Ended › July 1, 2023", "Three Months Ended › June 25, 2022",
    "Nine Months Ended › July 1, 2023", "Nine Months Ended › June 25, 2022",
)  # fmt: skip
ORCHARD = SourcePlace(
    "Orchard Inc. 10-Q, quarter ended July 1, 2023",
    ("Notes", "Note 2 – Revenue"),
    {
        "company": "Orchard Inc.", "kind": "10-Q", "period": "quarter ended July 1, 2023",
        "period_end": "2023-07-01", "fiscal": "Q3 2023",
    },
)  # fmt: skip
QUARRY = SourcePlace(
    "Quarry Corporation 10-Q",
    ("Statements of Income",),
    {
        "company": "Quarry Corporation", "kind": "10-Q", "period": "quarter ended April 1, 2023",
        "period_end": "2023-04-01", "fiscal": "Q1 2023",
    },
)  # fmt: skip


def lines(caption: str, columns: Sequence[str], rows: dict[str, str]) -> str:
    """A table below its caption; the values of a row stand between spaces, ``-`` where empty."""
    found = [caption]
    for label, values in rows.items():
        cells = zip(columns, values.split(), strict=True)
        found.append(" | ".join([label, *(f"{c}: {v}" for c, v in cells if v != "-")]))
    return "\n".join(found)


CATEGORIES = lines(
    "Net sales by category (in millions)",
    PERIODS,
    {
        "Lamps": "$39,669 $40,665 $156,778 $162,863",
        "Chairs": "6,840 7,382 21,743 28,669",
        "Rugs, Shelves and Hooks": "8,284 8,084 30,523 31,591",
        "Services": "21,213 19,604 62,886 58,941",
        "Total net sales": "$81,797 $82,959 $293,787 $304,182",
    },
)
OPERATIONS = lines(
    "STATEMENTS OF OPERATIONS (In millions, except number of shares, which are reflected in"
    " thousands, and per-share amounts)",
    PERIODS,
    {
        "Net sales › Products": "$60,584 $63,355 $230,901 $245,241",
        "Net sales › Services": "21,213 19,604 62,886 58,941",
        "Cost of sales › Products": "39,136 41,485 146,696 155,084",
        "Cost of sales › Services": "6,248 5,589 18,370 16,411",
        "Operating expenses › Research and development": "7,442 6,797 22,608 19,490",
        "Operating income": "22,998 23,076 87,332 94,543",
        "Earnings per share › Basic": "$1.27 $1.20 $4.69 $4.86",
        "Earnings per share › Diluted": "$1.26 $1.19 $4.67 $4.82",
        "Shares used in computing › Diluted": "15,775,021 16,262,203 15,859,263 16,394,937",
    },
)
REGIONS = lines(
    "(Dollars in millions)",
    (*PERIODS[:2], "Three Months Ended › Change"),
    {"Americas": "$35,383 $37,472 (6)%", "Greater Bay": "15,758 14,604 8%"},
)
INCOME = lines(
    "(In Millions, Except Per Share Amounts; Unaudited)",
    ("Three Months Ended › Apr 1, 2023", "Three Months Ended › Apr 2, 2022"),
    {
        "Net revenue": "$11,715 $18,353",
        "Research and development": "4,109 4,362",
        "Net income (loss)": "(2,768) 8,113",
    },
)
REPORTS = ((CATEGORIES, ORCHARD), (OPERATIONS, ORCHARD), (REGIONS, ORCHARD), (INCOME, QUARRY))


FLOWS = lines(
    "CONSOLIDATED STATEMENTS OF CASH FLOWS (in millions)",
    ("Three Months Ended › Apr 1, 2023", "Three Months Ended › Apr 2, 2022"),
    {
        "Adjustments to reconcile net income (loss) to net cash › Depreciation": "1,901 1,847",
        "Adjustments to reconcile net income (loss) to net cash › Other expense (income), net":
            "(1,272) 8,689",
    },
)  # fmt: skip


def report_sources(reports: Sequence[tuple[str, SourcePlace]] = REPORTS) -> list[Source]:
    """The tables as numbered sources; each is the whole text of its document."""
    found = []
    for n, (text, place) in enumerate(reports, 1):
        hit = Hit(
            n, n, place.title, f"{n}.pdf", 0, text, 0, len(text), str(n), 0.1, 1,
            place.heading_path, "", place.facts,
        )  # fmt: skip
        found.append(Source(hit, (hit,), text, 0, len(text)))
    return found
