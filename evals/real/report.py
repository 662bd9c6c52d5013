"""The table of a real run: answerers beside each other, over the questions that all were asked."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence

from evals.metrics.statistics import share
from evals.real.answers import KeptAnswer
from evals.real.judged_answer import JudgedAnswer, is_marked, is_proved, is_proved_as_marked
from helix.answering.proof import Statement

Row = Sequence[JudgedAnswer | None]
"""The answers to one question in the order of the columns; None where it was not asked."""


def table(titles: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """The lines of a Markdown table, a column for each of ``titles``."""
    whole = [[one for one in row if one] for row in rows if all(row)]
    yield "| | " + " | ".join(titles) + " |"
    yield "|---|" + "---|" * len(titles)
    for suite in sorted({row[0].question.suite for row in whole}):
        columns = list(zip(*(row for row in whole if row[0].question.suite == suite), strict=True))
        for name, values in _MEASURES:
            cells = [_cell(list(values(column))) for column in columns]
            if any(cells):
                yield f"| {suite}: {name} | " + " | ".join(cell or "–" for cell in cells) + " |"


def speed(pairs: Sequence[tuple[KeptAnswer, KeptAnswer]]) -> Iterator[str]:
    """Lines on the first deltas of ``pairs``: text and schema form of one question, each asked
    right after the other."""
    if not pairs:
        return
    text, schema = ([answer.first for answer in one] for one in zip(*pairs, strict=True))
    ratios = [other / one for one, other in zip(text, schema, strict=True)]
    yield f"first token, p50 of {len(pairs)}: text {_p50(text)}, schema {_p50(schema)}"
    yield f"schema by text, p50 of the ratios {_p50(ratios, 3)}, the greatest {max(ratios):.3f}"
    for form, answered in zip(("text", "schema"), zip(*pairs, strict=True), strict=True):
        rates = [rate for answer in answered if (rate := tokens_a_second(answer))]
        if rates:
            yield f"tokens a second behind the first, p50, {form}: {_p50(rates)}"


def tokens_a_second(answer: KeptAnswer) -> float | None:
    """The tokens written behind the first delta, by the seconds that took."""
    written = (answer.tokens or {}).get("output_tokens")
    seconds = answer.whole - answer.first
    return (written - 1) / seconds if written and written > 1 and seconds > 0 else None


def _p50(values: Iterable[float], places: int = 2) -> str:
    return f"{statistics.median(values):.{places}f}"


def _cell(values: Sequence[bool]) -> str:
    found = share(values)
    return f"{sum(values)} of {len(values)}: {found}" if found else ""


def _of(answers: Sequence[JudgedAnswer], *, refusal: bool) -> list[JudgedAnswer]:
    return [one for one in answers if one.question.case.refusal == refusal]


def _statements(
    answers: Sequence[JudgedAnswer], holds: Callable[[Statement], bool]
) -> Iterator[bool]:
    for answer in answers:
        yield from map(holds, answer.statements)


_MEASURES: Sequence[tuple[str, Callable[[Sequence[JudgedAnswer]], Iterable[bool]]]] = (
    ("right, of the answerable", lambda a: [one.is_right for one in _of(a, refusal=False)]),
    ("answered, of the answerable", lambda a: [one.answered for one in _of(a, refusal=False)]),
    ("refused, of the unanswerable", lambda a: [one.is_right for one in _of(a, refusal=True)]),
    ("answers with a citation of its own", lambda a: [one.cites for one in a if one.answered]),
    ("statements with a marker of its own", lambda a: _statements(a, is_marked)),
    ("borne out by the sources it names", lambda a: _statements(a, is_proved_as_marked)),
    ("borne out, by sources that Helix finds too", lambda a: _statements(a, is_proved)),
    ("broke off", lambda a: [one.failed for one in a]),
)
