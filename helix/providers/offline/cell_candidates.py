"""Cells that may be what a question asks for, each with how well its row, column and table fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from helix.domain.question_analysis import AnswerKind, AskedQuestion, without_document
from helix.language.durations import months_in, without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, dates, keys_until, periods
from helix.language.rates import rates_of
from helix.language.rows import INWARDS, Named, TableRow, Units, amount, rows_of, units_in
from helix.language.word_lists import word_lists
from helix.providers.offline.labels import label_match
from helix.providers.offline.reading import PromptSource

_LISTS = word_lists("tables")
GENERIC = _LISTS["generic"]
_OF_TIME = _LISTS["of_time"]
_QUALIFYING = _LISTS["qualifying"]
_CHANGE = re.compile(
    r"\b(?:chang|increas|decreas|gr[eo]w|declin|rise|rose|f[ea]ll(?!\w* due\b)|drop)\w*"
    r"|[%]\s*chg",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"\bpercent(?:age)?\b|%|\bhow much .{0,200}?\bby\b|\brate of\b", re.IGNORECASE
)
_SHARE = re.compile(r"\bpercent(?:age)?\b|%", re.IGNORECASE)
_SHARE_ASKED = re.compile(
    r"\bpercent\w*|%|\b(?:rates?|ratios?|margins?|share|portion|proportion|part|fraction|yield)\b",
    re.IGNORECASE,
)
_OF_SHARES = re.compile(r"\bpercent(?:age)? (?:growth|change|of)\b|\bas (?:a|an?) percent", re.I)
"""Of a group whose rows are shares of something: `Percent of Net Sales`."""
_OWED = re.compile(r"\b(?:outstanding|ow(?:e|es|ed)|unpaid|borrow\w*)\b", re.IGNORECASE)
_HELD = re.compile(r"\b(?:securities|investments?|assets|cash equivalents)\b", re.IGNORECASE)
"""Assets: securities that a company holds are not debt that it owes."""
_OF_REPORT = re.compile(r"\d (?:form )?10-[qk]\b", re.IGNORECASE)
"""`In the Q3 2022 10-Q` is of a report, which tells of nine months too."""
_ENOUGH_ASKED = 0.65
"""Share of what the question asks about that label, headers, caption and document have to have."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_OTHER_YEAR = 0.6  # for a year that a cell is of by its days, and not by the year that it prints
_INNER = 1.0  # a word of the question in the row's own label
_GROUP = 0.9  # in its group
_IN_HEADER = 0.05  # for each word of the question in the column's header
_OUTER = 0.75  # in the caption, the column's header
_ABOUT = 0.5  # in the headings above, the title, the facts


@dataclass(frozen=True)
class AskedCells:
    """A question to tables: its subject without period and company, and the value it asks for."""

    text: str
    subject: tuple[str, ...]
    named: tuple[Period, ...]
    months: int | None
    is_quarter: bool
    change: bool
    percent: bool
    kind: AnswerKind
    rates: frozenset[str]


@dataclass(frozen=True)
class Candidate:
    source: int
    row: TableRow
    cell: Named
    units: Units | None
    score: float
    line: str


def asked_of_cells(question: AskedQuestion) -> AskedCells:
    text = question.text
    months = months_in(text)
    subject = list(question.subject)
    change = bool(_CHANGE.search(text))
    if change:
        subject = [word for word in subject if word != "cut" and not _CHANGE.match(word)]
    percent = bool(_PERCENT.search(text))
    is_quarter = not _OF_REPORT.search(text) and any(
        period.keys[0].startswith("quarter:") for period in question.periods
    )
    named = question.periods
    return AskedCells(
        text, tuple(subject), named, months, is_quarter, change, percent, question.kind,
        rates_of(without_document(text)),
    )  # fmt: skip


def candidates(asked: AskedCells, place: int, source: PromptSource) -> Iterator[Candidate]:
    company = source.place.company & set(asked.subject)
    subject = [word for word in asked.subject if word not in company] or list(asked.subject)
    about = _stated(meanings(source.place.text), subject)
    table, heading = (0, 0), ""
    for row, above in rows_of(source.text):
        if above != table:
            table, heading = above, ""
        if row.label and not any(amount(cell.value) for cell in row.cells):
            heading = row.label  # `Revenue by country | 2019: $M`: a heading inside the table
        caption = _stated(meanings(f"{source.text[slice(*above)]} {heading}"), subject)
        path = frozenset(meanings(" ".join(row.path[:-1])))
        label = label_match(asked.text, subject, company, row)
        if label is None:
            continue
        units = units_in(source.text, above)
        for cell in row.cells:
            if not _is_of_kind(asked, row, cell) or (label.is_loss and not _is_negative(cell)):
                continue
            period = period_score(asked, row, cell, source, slice(*above))
            if period is None:
                continue
            header = frozenset(meanings(without_periods(cell.header))) - _OF_TIME
            stated = (
                label.meanings,
                path,
                caption | header | frozenset(meanings(row.corner)),
                about,
            )
            asked_for = _share_asked(subject, stated, row, cell)
            if asked_for < _ENOUGH_ASKED or not (set(subject) & (label.meanings | path | header)):
                continue
            extra = header - set(subject) - GENERIC - caption
            score = asked_for + label.score + period - 0.15 * len(extra) - 0.02 * place
            score += _IN_HEADER * len(header.intersection(subject))
            yield Candidate(place, row, cell, units, score, source.text[row.start : row.end])


def _is_negative(cell: Named) -> bool:
    value = amount(cell.value)
    return value is not None and value.digits.startswith("-")


def _stated(stated: Sequence[str], subject: Sequence[str]) -> frozenset[str]:
    """The words stated, but for a measure that is another by the word before it.

    `Unearned revenue by segment` says nothing of revenue, unless unearned revenue is asked for.
    """
    before = ("", *stated)
    return frozenset(
        word
        for word, previous in zip(stated, before, strict=False)
        if previous not in _QUALIFYING or previous in subject
    )


def _share_asked(
    subject: Sequence[str],
    stated: Sequence[frozenset[str]],
    row: TableRow,
    cell: Named,
) -> float:
    """The share of the question's subject that the cell's row, table and document say, 0 to 1.

    ``stated``: what the label, the groups, the caption with the headers, and the document say.
    """
    label, group, outer, about = stated
    beside = frozenset(
        word for other in row.cells if other is not cell for word in meanings(other.value)
    )
    total = 0.0
    for word in subject:
        if word in label or word in beside:
            total += _INNER
        elif word in group:
            total += _GROUP + 0.1 * (word in GENERIC)
        elif word in outer:
            total += _OUTER + 0.25 * (word in GENERIC)
        elif word in about or word in GENERIC:
            total += _ABOUT
    return total / len(subject)


def _is_of_kind(asked: AskedCells, row: TableRow, cell: Named) -> bool:
    """True if the value is of the kind asked for: a number, a day, a name; a change, or none."""
    value = amount(cell.value)
    rates = rates_of(f"{row.label} {cell.header}")
    if asked.rates and rates and rates.isdisjoint(asked.rates):
        return False
    if asked.kind is AnswerKind.TIME:
        return bool(list(dates(cell.value))) or bool(periods(cell.value))
    if asked.kind is AnswerKind.NAME:
        return value is None and cell.value[:1].isupper()
    if value is None:
        stated = any(map(str.isalnum, cell.value)) and len(cell.value.split()) <= 30
        # a dash says nothing
        return asked.kind is AnswerKind.OPEN and bool(cell.header) and stated
    if not (asked.change or _SHARE_ASKED.search(asked.text)) and _OF_SHARES.search(
        f"{row.group} {cell.header}"
    ):
        return False
    columns = " ".join(other.header for other in row.cells)
    if _OWED.search(asked.text) and _HELD.search(f"{row.group} {columns}"):
        return False
    is_change = bool(_CHANGE.search(cell.header)) or cell.header.strip(" %").casefold() == "chg"
    if asked.change:
        return (is_change or bool(_CHANGE.search(row.label))) and (
            value.is_share or "%" in cell.header or not asked.percent
        )
    if _SHARE.search(asked.text) and not (value.is_share or _SHARE.search(cell.header + row.label)):
        return False
    return not is_change


def period_score(
    asked: AskedCells, row: TableRow, cell: Named, source: PromptSource, above: slice
) -> float | None:
    """The agreement of the cell's period with the one asked for, 0 to 1; None: it is another."""
    stated = f"{cell.header.replace(INWARDS, ' ')} {' '.join(row.path)}"
    own = _keys_of(stated, source)
    if not own:
        own = _keys_of(source.text[above], source)
        if asked.named and not own and months_in(stated):
            return None  # `Three Months Ended` of no day, above rows of this year and the last
        own, stated = own or source.place.period_keys, ""
    months = months_in(stated) or months_in(source.text[above])
    if asked.months and asked.months != months and (months or any(dates(cell.header))):
        return None  # a column that names its last day alone may be of any length
    if asked.is_quarter and months not in (None, 3) and "quarter" not in stated.casefold():
        return None
    order = 0.1 * (1 - row.cells.index(cell) / (len(row.cells) + 1))  # the newest stands first
    if not asked.named:
        current = source.place.period_end is not None and f"day:{source.place.period_end}" in own
        return 0.3 + 0.2 * current + order
    if not own:
        return 0.2 + order
    scores = [_agreement(period, own, stated) for period in asked.named]
    best = max(scores)
    return None if not best else best + order + 0.2 * (asked.months == months)


def _agreement(period: Period, keys: frozenset[str], stated: str) -> float:
    """The agreement of a cell's ``keys`` with a period, 0 to 1; ``stated``: its header and row.

    A year is best agreed with by the cell that prints it: one that ends in March has two.
    """
    first, *further = period.keys
    if first in keys:
        kind, _, year = first.partition(":")
        is_other = kind == "annual" and bool(_YEAR.search(stated)) and year not in stated
        return _OTHER_YEAR if is_other else 1.0
    if first.startswith("day:"):
        return 0.5 if not any(key.startswith("day:") for key in keys) and set(further) & keys else 0
    return (
        0.5
        if any(key.startswith(("annual", "year")) for key in set(further) & keys)
        and (first.startswith("annual"))
        else 0.0
    )


def _keys_of(text: str, source: PromptSource) -> frozenset[str]:
    """The keys of the periods that a header or caption names, and of the company's own quarter."""
    months = months_in(text)
    keys: set[str] = set()
    days = [day for _, _, day in dates(text)]
    for day in days:
        for length in [months] if months else [3, 12]:
            keys.update(keys_until(day, length))
        keys.update(source.place.fiscal_keys(day))
    if not days:
        for period in periods(text):
            keys.update(period.keys)
            if months is None or months == 12:
                keys.add(period.keys[-1])
    return frozenset(keys)
