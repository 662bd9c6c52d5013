"""Measurements of reading alone: cells of tables, furniture, boxes. No database is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from evals.datasets.sec10q import report_files
from evals.datasets.tatqa import TableContext
from evals.documents import furniture
from evals.documents.boxes import drawn, quotes
from evals.documents.drawn_pages import drawn_pdfs
from evals.documents.drawn_tables import drawn_tables
from evals.documents.printed_files import PrintedDocument, docx, pdf
from evals.documents.read_cells import CellScore, read_cells, score
from evals.documents.true_tables import TrueTable, labelled_tables, matrix_table
from evals.metrics.statistics import Estimate, wilson
from pipelines.readers import ReadText, read

CITATIONS = 1000
DRAWN_PDFS = 40
_SHOWN = 200
"""Failures of a measure that are kept."""

TITLE = "Notes to the Financial Statements"


@dataclass
class Part:
    """Measures by name, all of them better when higher, and what failed, a line each."""

    measures: dict[str, Estimate] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, name: str, hits: int, of: int, failed: Iterable[str] = ()) -> None:
        """A share with the failures behind it; nothing where nothing was counted."""
        if of:
            self.measures[name] = wilson(hits, of)
        self.failures += [f"{name} | {line}" for line in list(failed)[:_SHOWN]]

    def join(self, other: Part) -> None:
        """Add all of another part."""
        self.measures |= other.measures
        self.failures += other.failures


def printed(context: TableContext) -> PrintedDocument | None:
    """A table of TAT-QA with its paragraphs around it; None where no row has a value."""
    table = matrix_table(context.matrix)
    if table is None:
        return None
    above, below = context.paragraphs[:1], context.paragraphs[1:]
    return PrintedDocument(TITLE, above, table, below)


FORMATS: Mapping[str, tuple[str, Callable[[PrintedDocument], bytes]]] = {
    "PDF with lines": ("pdf", lambda one: pdf(one, lines=True)),
    "PDF without lines": ("pdf", lambda one: pdf(one, lines=False)),
    "DOCX": ("docx", docx),
}
"""The ways to print a table, by name: the reader's kind, and the function that makes the file."""


def printed_tables(name: str, documents: Sequence[PrintedDocument]) -> Part:
    """Cells exact of tables printed in each format, and cells read that are none of theirs."""
    part = Part()
    for form, (kind, make) in FORMATS.items():
        scores = []
        for document in documents:
            given = read(kind, make(document))
            scores.append(score(document.table.cells, read_cells(given.text, given.tables)))
        total = _sum(scores)
        label = f"{name}, {form}"
        part.add(f"{label}: cells exact", total.exact, total.cells, _missed(scores))
        part.add(f"{label}: cells with text and row", total.with_row, total.cells)
        part.add(f"{label}: cells with text", total.text, total.cells)
        found = total.text + total.strange
        part.add(f"{label}: of the cells read, a cell of the table", total.text, found)
    return part


def _sum(scores: Sequence[CellScore]) -> CellScore:
    return CellScore(
        sum(one.cells for one in scores), sum(one.exact for one in scores),
        sum(one.with_row for one in scores), sum(one.text for one in scores),
        sum(one.strange for one in scores),
    )  # fmt: skip


def _missed(scores: Sequence[CellScore]) -> Iterator[str]:
    """One cell of each table that has any wrong, the worst tables first."""
    order = sorted(range(len(scores)), key=lambda n: scores[n].exact - scores[n].cells)
    for number in order:
        one = scores[number]
        if one.missed:
            cell = one.missed[0]
            yield f"table {number}: {len(one.missed)} of {one.cells} missed, such as {cell}"


def tables_without_data() -> Part:
    """Tables of our own making in every format."""
    return printed_tables("drawn tables", drawn_tables())


class Filings:
    """The filings of sec10q below the folder ``data``, each read once."""

    def __init__(self, data: Path, every: int = 1) -> None:
        self.paths = report_files(data)[::every]
        self.read = cache(self._read)

    def _read(self, path: Path) -> ReadText:
        return read("pdf", path.read_bytes())


def labelled(filings: Filings) -> Part:
    """Cells exact of the tables labelled by hand."""
    part = Part()
    scores: list[CellScore] = []
    failed: list[str] = []
    names = {path.name: path for path in filings.paths}
    for table in labelled_tables():
        if path := names.get(table.document):
            given = filings.read(path)
            on_page = [one for one in given.tables if one.page in (table.page, table.page - 1)]
            scores.append(score(table.cells, read_cells(given.text, on_page)))
            failed += _of_labelled(table, scores[-1])
    total = _sum(scores)
    name = "sec10q tables labelled by hand"
    part.add(f"{name}: cells exact", total.exact, total.cells, failed)
    part.add(f"{name}: cells with text and row", total.with_row, total.cells)
    part.add(f"{name}: cells with text", total.text, total.cells)
    return part


def _of_labelled(table: TrueTable, scored: CellScore) -> Iterator[str]:
    if scored.missed:
        where = f"{table.document} page {table.page}, {table.name}"
        yield f"{where}: {len(scored.missed)} of {scored.cells} missed, such as {scored.missed[0]}"


def furniture_of(filings: Filings) -> Part:
    """Furniture recognised and lines of the body kept, of the filings that have a rule."""
    part, total = Part(), furniture.FurnitureScore()
    for path in filings.paths:
        if path.name not in furniture.RULES:
            continue
        one = furniture.score(list(furniture.labelled_pages(path)), filings.read(path))
        total.furniture += one.furniture
        total.recognised += one.recognised
        total.body += one.body
        total.kept += one.kept
        total.missed += [f"{path.name}, {line}" for line in one.missed]
    part.add("sec10q furniture recognised", total.recognised, total.furniture, total.missed)
    part.add("sec10q body lines kept", total.kept, total.body)
    return part


def boxes(filings: Filings | None, citations: int, pdfs: int = DRAWN_PDFS) -> Part:
    """Citations whose rectangles hold the quote, of the filings and of ``pdfs`` drawn here."""
    part = Part()
    files = [(name, data, read("pdf", data)) for name, data in drawn_pdfs(pdfs)]
    if filings:
        files += [(path.name, path.read_bytes(), filings.read(path)) for path in filings.paths]
    same, count, failed = 0, 0, []
    for seed, (name, data, given) in enumerate(files):
        left = citations * (seed + 1) // len(files) - citations * seed // len(files)
        cited = quotes(given, left, seed)
        for one in drawn(data, given, cited):
            count += 1
            same += one.same
            if not one.same:
                failed.append(f"{name}: {one.quote!r} has inside {one.inside!r}"[:400])
    part.add("citations whose boxes hold the quote", same, count, failed)
    return part
