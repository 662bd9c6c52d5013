"""The cell of a table that a question names, by its row, its column and its period, as a statement.

Nothing is said where two cells of different values are named equally well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.domain.question_analysis import read_question
from helix.domain.relevance import companies_of, foreign_names
from helix.evidence.naming import Mention, Naming, Words
from helix.language.paraphrases import meanings
from helix.language.periods import Period, dates, keys_until, months_in, periods
from helix.language.rows import INWARDS, Amount, Named, TableRow, Units, amount, rows_of, units_in
from helix.language.sentences import Span
from helix.language.word_lists import tables, word_lists
from helix.providers.offline.reading import OfferedSource

_LOWERED = word_lists("tables")["lowered"]
_MONTH = "|".join(" ".join(tables("periods")["months"]).split())
_GOES_ON = re.compile(rf"\b(?:ended|ending|of|at|\d{{1,2}} (?:{_MONTH}))$", re.IGNORECASE)
"""The end of a header after which the next header follows without a comma: `31 December`."""
_ENDED = re.compile(r"\b(?:Months|Weeks|Year|Quarter|Period) (?:Ended|Ending)\b|\bEnded\b")


def cell_as_statement(row: TableRow, cell: Named, units: Units | None) -> str:
    """`Net sales › Products: $60,584 million, three months ended July 1, 2023`.

    Of a value that is no amount `Office, City: Berlin`.
    """
    value = amount(cell.value)
    shown = cell.value
    if value and units:
        shown = _with_units(cell.value, value, units, row, cell)
    named = INWARDS.join(row.path) or ", ".join(
        f"{other.header}: {other.value}" if other.header else other.value
        for other in row.cells if other is not cell
    )  # fmt: skip
    column = _in_prose(cell.header)
    if not row.path or (cell.header and value is None):
        return f"{named}, {cell.header}: {shown}" if named else f"{cell.header}: {shown}"
    return f"{named}: {shown}, {column}" if column else f"{named}: {shown}"


def _with_units(printed: str, value: Amount, units: Units, row: TableRow, cell: Named) -> str:
    named = (" ".join(row.path), cell.header, value)
    scale = units.scale_of(*named)
    # a negative number keeps its brackets, and its currency is left to the line that names it
    currency = units.currency_of(*named) if printed[0].isdigit() else ""
    return f"{currency}{printed} {scale}" if scale else printed


def _in_prose(header: str) -> str:
    """`three months ended July 1, 2023`, of `Three Months Ended › July 1, 2023`."""
    parts = [part.strip().rstrip(",") for part in header.split(INWARDS)]
    if len(parts) > 1 and _ENDED.search(parts[0]) and not periods(" ".join(parts)):
        parts = parts[1:]  # `Three Months Ended › Change`
    text = parts[0] if parts else ""
    for part in parts[1:]:
        text += (" " if _GOES_ON.search(text) else ", ") + part
    first, _, rest = text.partition(" ")
    lowered = first.isalpha() and first[1:].islower() and first.casefold() in _LOWERED
    return _ENDED.sub(
        lambda found: found[0].lower(), f"{first.lower()} {rest}".rstrip() if lowered else text
    )


LEAST_COVERED = 0.48
"""The share of what a question says that the names of a cell have to have."""
_CLOSE = 0.01
_SHORT_ROW = 30  # words
OTHER_YEAR = 0.6
"""The agreement of a cell with a year that it is of by its days, and does not print."""
_NEWEST, _CURRENT = 0.1, 0.2
"""The gain of a cell that stands in front, and of one of its document's own period."""


@dataclass(frozen=True)
class TableCell:
    """A cell of the source at place ``source``, named by its row, its column and its caption."""

    source: int
    table_row: TableRow
    cell: Named
    above: Span
    units: Units | None
    caption: str
    line: str

    @property
    def row(self) -> str:
        """The path of its row, with the name of the column of labels."""
        return INWARDS.join(self.table_row.path)

    @property
    def column(self) -> str:
        """The path of its column."""
        return self.cell.header

    @property
    def statement(self) -> str:
        """The cell in words, or its row as it stands where that is short and names its columns."""
        if self.table_row.corner and not self.units and len(self.line.split()) <= _SHORT_ROW:
            return self.line
        return cell_as_statement(self.table_row, self.cell, self.units)

    @property
    def value(self) -> str:
        """Its value as it compares: `$6,976` in one table is `6,976` in another."""
        number = amount(self.cell.value)
        return number.digits if number else self.cell.value


@dataclass(frozen=True)
class NamedCell:
    """A cell with its mention in a question, and its score with that of its period."""

    of: TableCell
    mention: Mention
    score: float


def named_cell(question: str, sources: Sequence[OfferedSource]) -> NamedCell | None:
    """The cell that a question names best; None where it names none, or none alone."""
    found = named_cells(question, sources)
    best = max(found, key=lambda one: one.score, default=None)
    if best is None:
        return None
    rivals = (one for one in found if one.score >= best.score - _CLOSE)
    return best if len({one.of.value for one in rivals}) == 1 else None


def named_cells(
    question: str,
    sources: Sequence[OfferedSource],
    aside: Words = frozenset(),
    least: float = LEAST_COVERED,
) -> list[NamedCell]:
    """The cells that a question names by the share ``least`` of what it says at least.

    Words ``aside`` name none of them.
    """
    asked, companies = read_question(question), companies_of(sources)
    found = []
    for place, source in enumerate(sources):
        cells = list(cells_of(place, source))
        known = frozenset(meanings(source.text)) if cells else frozenset[str]()
        if not cells or foreign_names(asked, source.place, known, companies):
            continue
        naming = Naming(question, cells, aside | source.place.company)
        if naming.unmet(known | source.place.about):
            continue
        for one in cells:
            mention = naming.mention(one)
            if mention is None or mention.covered < least:
                continue
            score = period_score(question, asked.periods, one, source)
            if score is not None:
                found.append(NamedCell(one, mention, mention.score + score))
    return found


def cells_of(place: int, source: OfferedSource) -> Iterator[TableCell]:
    """The cells of a source's tables that say something."""
    table, heading = (0, 0), ""
    for row, above in rows_of(source.text):
        if above != table:
            table, heading = above, ""
        if row.label and not any(amount(cell.value) for cell in row.cells):
            heading = row.label  # `Revenue by country | 2019: $M`: a heading inside the table
        caption = " ".join((source.text[slice(*above)], heading, row.corner))
        units, line = units_in(source.text, above), source.text[row.start : row.end]
        for cell in row.cells:
            if any(map(str.isalnum, cell.value)):
                yield TableCell(place, row, cell, above, units, caption, line)


def period_score(
    question: str, asked: Sequence[Period], one: TableCell, source: OfferedSource
) -> float | None:
    """The agreement of a cell's period with those asked for, 0 to 1.3; None: it is another."""
    stated = f"{one.column.replace(INWARDS, ' ')} {' '.join(one.table_row.path)}"
    above = source.text[slice(*one.above)]
    own = _keys_of(stated, source) or _keys_of(above, source) or source.place.period_keys
    months, wanted = months_in(stated) or months_in(above), months_in(question)
    if wanted and months and wanted != months:
        return None
    if months not in (None, 3) and any(p.keys[0].startswith("quarter:") for p in asked):
        return None
    order = _NEWEST * (1 - one.table_row.cells.index(one.cell) / (len(one.table_row.cells) + 1))
    if not asked:
        return order + _CURRENT * (f"day:{source.place.period_end}" in own)
    if not own:
        return order
    agreeing = [period for period in asked if period.keys[0] in own]
    if not agreeing:
        return None
    is_printed = any(period.keys[0].partition(":")[2][:4] in stated for period in agreeing)
    return (1.0 if is_printed else OTHER_YEAR) + order


def _keys_of(text: str, source: OfferedSource) -> frozenset[str]:
    """The keys of the periods that a text names, and of the company's own quarter."""
    months, keys = months_in(text), set[str]()
    days = [day for _, _, day in dates(text)]
    for day in days:
        for length in [months] if months else [3, 12]:
            keys.update(keys_until(day, length))
        keys.update(source.place.fiscal_keys(day))
    if not days:
        keys.update(key for period in periods(text) for key in period.keys)
    return frozenset(keys)
