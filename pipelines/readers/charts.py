"""The numbers of a chart, a line a category or point, as the file keeps them to draw it."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from helix.domain.tables import Table
from pipelines.readers.grids import Entry, Grid, GridHead, GridRow, one_table
from pipelines.readers.number_formats import is_date, is_percent, percent
from pipelines.readers.office import is_element, local_name
from pipelines.readers.tables import one_line

_DAY_ZERO = datetime.datetime(1899, 12, 30)
Names = tuple[str, ...]


def plots(chart: Any) -> Iterator[tuple[str, Table]]:
    """The lines and the table of each plot in a ``chartSpace`` element, of whatever form it is."""
    for plot in chart.iterfind(".//{*}plotArea/*"):
        if series := plot.findall("{*}ser"):
            lines, table = one_table(_grid(series))
            if lines.text:
                yield lines.text, table


def title_of(chart: Any) -> Iterator[str]:
    """The lines of the title of a ``chartSpace`` element, where it has one of its own."""
    for paragraph in chart.iterfind("{*}chart/{*}title/{*}tx//{*}p"):
        pieces = filter(is_element, paragraph)  # runs, fields and line breaks
        if text := one_line("".join(piece.findtext("{*}t", " ") for piece in pieces)):
            yield text


def _grid(series: Sequence[Any]) -> Grid:
    rows: dict[tuple[int, Names], dict[int, str]] = {}  # points of different names are apart
    shared = next(filter(None, map(_names, series)), {})
    for column, one in enumerate(series):
        names = _names(one) or shared
        for index, value in _points(one, "{*}val", "{*}yVal").items():
            rows.setdefault((index, names.get(index, ())), {})[column] = value
    return Grid(
        GridHead(tuple((Entry(one_line(one.findtext("{*}tx//{*}v") or "")),) for one in series)),
        tuple(
            GridRow(
                tuple(map(Entry, names)),
                tuple(Entry(values.get(column, "")) for column in range(len(series))),
            )
            for (_, names), values in sorted(rows.items(), key=lambda row: row[0][0])
        ),
    )


def _names(series: Any) -> dict[int, Names]:
    """The names of a series' points, outermost first; an outer one holds until the next."""
    found: dict[int, Names] = {}
    for place in (*series.iterfind("{*}cat"), *series.iterfind("{*}xVal")):
        levels = [*place.iterfind(".//{*}lvl")] or [place]
        inner, *outer = (_points(level) for level in levels)
        outer.reverse()
        above = [""] * len(outer)
        for index in sorted(inner):
            above = [level.get(index, name) for level, name in zip(outer, above, strict=True)]
            found[index] = tuple(filter(None, (*above, inner[index])))
    return found


def _points(element: Any, *within: str) -> dict[int, str]:
    places = [found for name in within for found in element.iterfind(name)] or [element]
    return {int(point.get("idx")): _text(point) for point in places[0].iterfind(".//{*}pt[@idx]")}


def _text(point: Any) -> str:
    text, parent = one_line(point.findtext("{*}v") or ""), point.getparent()
    with suppress(ValueError, OverflowError):
        if local_name(parent) in ("numCache", "numLit"):
            code = point.get("formatCode") or parent.findtext("{*}formatCode") or ""
            if is_date(code):
                day = _DAY_ZERO + datetime.timedelta(days=float(text))
                return day.isoformat(" ").removesuffix(" 00:00:00")
            return percent(float(text)) if is_percent(code) else format(float(text), ".15g")
    return text
