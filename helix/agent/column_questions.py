"""The operation over a whole column that a question asks for, read by a table's structure. Pure.

A wrong result over a right table is worse than none. So a column, a condition or what the rows are
has to be named by all of its words, and by them alone, and no word of the question that says
something may be left over (``ColumnQuestion.unmet``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from helix.answering.proof.number_parser import numbers_of
from helix.domain.aggregates import Condition, Operation
from helix.evidence.naming import Words, agrees, telling_words
from helix.language.comparisons import is_total
from helix.language.paraphrases import meaning, meanings
from helix.language.periods import Period, months_in, periods, without_periods
from helix.language.rows import INWARDS, Named, TableRow, amount
from helix.language.terms import STOP_WORDS
from helix.language.word_lists import word_lists
from helix.language.words import words

_EXTREMES = word_lists("tables")
_NAMES: Mapping[Operation, Words] = {
    "highest": _EXTREMES["greatest"],
    "lowest": _EXTREMES["least"],
    "sum": frozenset(("sum", "total")),
    "average": frozenset(("average", "mean")),
    "count": frozenset(("many",)),
}
"""The names of the operations: by these alone a question asks for one."""
_DENIALS = word_lists("words")
_LIMITING = frozenset[str]().union(
    word_lists("opposites")["limiting"] - {"alone"}, _DENIALS["negations"], _DENIALS["exceptions"]
)
_SAYS = 0.4
"""The weight from which on a word has to be met: `came` says less, `sold` more."""
_BRACKETS = re.compile(r"\([^()]{0,40}\)")


@dataclass(frozen=True)
class ColumnQuestion:
    """An operation over the rows of a table: on ``column``, '' of a count, where conditions hold.

    ``kind`` is the header of what the rows are called by, ``keys`` are the headers of the columns
    that tell one row from another. ``unmet`` are meanings that the table itself does not have, and
    ``period`` a period that no header has: what stands around the table must have both.
    """

    operation: Operation
    column: str
    kind: str
    conditions: tuple[Condition, ...]
    keys: tuple[str, ...]
    unmet: Words
    period: Period | None

    def is_about(self, text: str) -> bool:
        """True if ``text``, which stands around the table, has what the table has not."""
        named = self.period is None or any(agrees(self.period, one) for one in periods(text))
        return named and self.unmet <= frozenset(meanings(text))


def operation_of(question: str) -> Operation | None:
    """The one operation that a question names; None without one, with two, limited or denied."""
    asked = frozenset(words(question))
    named = [operation for operation, names in _NAMES.items() if names & asked]
    limited = asked & _LIMITING or any(word.endswith("n't") for word in asked)
    return named[0] if len(named) == 1 and not limited else None


def column_question(question: str, rows: Sequence[TableRow]) -> ColumnQuestion | None:
    """The operation that ``question`` asks for over ``rows``; None where it is not certain."""
    operation, table = operation_of(question), _Columns(parts_of(rows))
    dated = {period.keys[0]: period for period in periods(question)}
    if operation is None or not table.is_regular or len(dated) > 1:
        return None
    read = _Reading(question, operation, table, next(iter(dated.values()), None))
    if read.is_of_one_row:
        return None
    if operation == "sum" and len(table.rows) < len(rows):
        return None  # it has a total of its own
    return read.counted() if operation == "count" else read.computed()


def names_a_column(question: str, row: TableRow) -> bool:
    """True if a question has a word of one of a row's headers."""
    headers = " ".join((row.corner, *(cell.header for cell in row.cells)))
    return not _words(headers).isdisjoint(meanings(without_periods(question)))


def parts_of(rows: Sequence[TableRow]) -> list[TableRow]:
    """The rows without totals of others."""
    return [row for row in rows if not is_total(row)]


class _Columns:
    """The columns of a table by their headers."""

    def __init__(self, rows: Sequence[TableRow]) -> None:
        self.rows = rows
        self.headers = tuple(cell.header for cell in rows[0].cells) if rows else ()

    @cached_property
    def is_regular(self) -> bool:
        """True if all rows are parts of one list, each with a cell below every header."""
        shapes = {(row.corner, row.path[:-1], len(row.path)) for row in self.rows}
        headers = {tuple(cell.header for cell in row.cells) for row in self.rows}
        is_list = len(self.rows) > 1 and len(shapes) == len(headers) == 1
        return is_list and all(self.headers) and len(set(self.headers)) == len(self.headers)

    def cells(self, header: str) -> list[Named]:
        at = self.headers.index(header)
        return [row.cells[at] for row in self.rows]

    @cached_property
    def numeric(self) -> list[str]:
        return [one for one in self.headers if all(amount(c.value) for c in self.cells(one))]

    @cached_property
    def values(self) -> dict[str, Counter[str]]:
        """The values of the columns of text, as they are printed, with how often each is there."""
        texts = [one for one in self.headers if not any(amount(c.value) for c in self.cells(one))]
        return {one: Counter(cell.value for cell in self.cells(one)) for one in texts}

    @cached_property
    def is_grouped(self) -> bool:
        """True if a column of text divides the rows, as rows of one kind are divided."""
        return any(1 < len(found) < len(self.rows) for found in self.values.values())

    @cached_property
    def of_one_row(self) -> list[str]:
        """The labels, and the values of text, that one row alone has."""
        labels = Counter(row.label for row in self.rows)
        found = [labels, *self.values.values()]
        return [one for values in found for one, times in values.items() if times == 1]

    @cached_property
    def keys(self) -> list[str]:
        """The headers of the columns of text in which no value stands twice, the labels' first."""
        labels = {row.path for row in self.rows}
        corner = self.rows[0].corner
        own = [corner] if corner and len(labels) == len(self.rows) else []
        return own + [one for one, found in self.values.items() if max(found.values()) == 1]


class _Reading:
    """The words of a question beside those of one table."""

    def __init__(
        self, question: str, operation: Operation, table: _Columns, period: Period | None
    ) -> None:
        self._question, self._operation, self._table = question, operation, table
        self._period = period
        bare = without_periods(question)
        self._asked = frozenset(meanings(bare))
        numbers = " ".join(bare[one.start : one.end] for one in numbers_of(bare) if one.sure)
        self._told = telling_words(bare, _SAYS).union(
            meanings(numbers), (word for word in self._asked if any(map(str.isdigit, word)))
        )
        self._names = frozenset(meanings(" ".join(_NAMES[operation])))

    @property
    def is_of_one_row(self) -> bool:
        """True if the question names a row itself, which is no question of the column."""
        each = map(_words, self._table.of_one_row)
        return any(own and own <= self._asked for own in each)

    def counted(self) -> ColumnQuestion | None:
        """The count of the rows with the values that the question names, and with such alone."""
        conditions = self._conditions()
        if not conditions or any(self._is_named(one) for one in self._table.numeric):
            return None
        kind = self._counted_kind(conditions)
        return self._found("", kind, conditions, self._period) if kind else None

    def computed(self) -> ColumnQuestion | None:
        """The operation on the one numeric column that the question names most fully.

        Of which rows is said by what they are called, or by a value of a column that many share;
        where a table has such a column, by a word that has to stand around it, too.
        """
        columns = [one for one in self._table.numeric if self._is_named(one) or self._is_of(one)]
        most = max((len(_words(one)) for one in columns), default=0)
        best = [one for one in columns if len(_words(one)) == most]
        conditions, kind = self._conditions(), self._kind()
        if len(best) != 1 or conditions is None:
            return None
        period = None if self._is_of(best[0]) else self._period
        found = self._found(best[0], kind, conditions, period)
        is_of_rows = kind or conditions or self._operation in _PICKS
        is_told = is_of_rows or (found and found.unmet and self._table.is_grouped)
        return found if is_told else None

    def _is_named(self, header: str) -> bool:
        own = _words(header)
        return bool(own) and own <= self._asked and not periods(_line(header))

    def _is_of(self, header: str) -> bool:
        """True if a column is of the question's period, and its other words are named."""
        named = periods(_line(header))
        is_asked = self._period and any(agrees(self._period, one) for one in named)
        return bool(is_asked) and len(named) == 1 and _words(header) <= self._asked

    def _conditions(self) -> tuple[Condition, ...] | None:
        """The values of columns that the question names; None where one may be another.

        `Email` beside `Email and chat` may be meant with it or without it.
        """
        found: list[Condition] = []
        met = Counter[str]()
        for header, values in self._table.values.items():
            if max(values.values()) == 1:
                continue
            named = [one for one in values if (own := _words(one)) and own <= self._asked]
            wider = any(_words(one) > _words(each) for each in named for one in values)
            if wider or len(named) > 1:
                return None
            found += [Condition(header, one) for one in named]
            met.update(word for one in named for word in _words(one))
        return tuple(found) if all(times == 1 for times in met.values()) else None

    def _kind(self) -> str:
        """The header that names the rows, in words of the question."""
        return next((one for one in self._table.keys if _words(one) & self._asked), "")

    def _counted_kind(self, conditions: Sequence[Condition]) -> str:
        """The header of what stands behind `many`, values of conditions aside."""
        values = frozenset(word for one in conditions for word in _words(one.value))
        for word in _behind(self._question, _NAMES["count"]):
            if word in values:
                continue
            return next((one for one in self._table.keys if word in _words(one)), "")
        return ""

    def _found(
        self, column: str, kind: str, conditions: Sequence[Condition], period: Period | None
    ) -> ColumnQuestion | None:
        keys = tuple(self._table.keys)
        texts = [*keys, column, *(text for one in conditions for text in (one.column, one.value))]
        met = self._names | frozenset(word for text in texts for word in _words(text))
        unmet = self._told - met
        others = frozenset(word for one in self._table.headers for word in _words(one))
        length = None if self._period else months_in(self._question)
        if unmet & others or length not in (None, months_in(column)):
            return None  # it asks by another column, or of a length of time
        return ColumnQuestion(
            self._operation, column, kind, tuple(conditions), keys, unmet, period
        )  # fmt: skip


_PICKS = ("highest", "lowest")
"""Operations whose result is one row, which the answer names."""


def _behind(question: str, names: Words) -> Iterator[str]:
    """The meanings of the words behind an operation's name, up to the next function word."""
    found = words(question)
    first = next(place for place, word in enumerate(found) if word in names)
    for word in found[first + 1 :]:
        if word in STOP_WORDS:
            return
        yield meaning(word)


def _line(header: str) -> str:
    return header.replace(INWARDS, " ")


def _words(name: str) -> Words:
    """The meanings of the words of a name, without its periods and what is in brackets."""
    bare = _BRACKETS.sub(" ", _line(name))
    return frozenset(meanings(without_periods(bare if meanings(bare) else name)))
