"""Read cells against true ones; printed tables; furniture; boxes: each fails where it should."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from evals.documents.boxes import Drawn, Quote, drawn, quotes
from evals.documents.drawn_pages import TURNS, drawn_pdf, drawn_pdfs, sentence
from evals.documents.drawn_tables import COUNT, drawn_tables
from evals.documents.furniture import LabelledPage
from evals.documents.furniture import score as furniture_score
from evals.documents.printed_files import docx, pdf
from evals.documents.read_cells import read_cells, score
from evals.documents.true_tables import TrueCell
from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.records import Section
from helix.domain.tables import Cell, Table
from pipelines.readers import ReadText, read

TEXT = "Net sales › Products | 2023: $60,584 | 2022: (4)%"
TABLE = Table(
    0, len(TEXT), (("Net sales:", "Products(1)"),), (("Ended", "2023"), ("Ended", "2022")),
    (Cell(0, 0, 29, 36), Cell(0, 1, 45, 49)), page=1,
)  # fmt: skip
TRUE = TrueCell("60,584", (("Net sales", "Products"),), (("Ended", "2023"),))


def test_a_cell_is_exact_by_text_row_and_column() -> None:
    cells = read_cells(TEXT, [TABLE])
    assert [cell.text for cell in cells] == ["60,584", "(4)%"]
    good = score([TRUE], cells)
    assert (good.exact, good.with_row, good.text, good.strange) == (1, 1, 1, 1)
    for wrong, expected in (
        (replace(TRUE, columns=(("Ended", "2022"),)), (0, 1, 1)),
        (replace(TRUE, rows=(("Products",),)), (0, 0, 1)),
        (replace(TRUE, text="60,585"), (0, 0, 0)),
    ):
        scored = score([wrong], cells)
        assert (scored.exact, scored.with_row, scored.text) == expected
        assert scored.missed == (wrong,)
    either = replace(TRUE, rows=(("Products",), ("Net sales", "Products")))
    assert score([either], cells).exact == 1
    assert score([TRUE, TRUE], cells).exact == 1, "a read cell counts once"


@pytest.mark.parametrize("lines", [True, False])
def test_a_printed_table_has_every_cell_and_the_same_bytes_each_time(lines: bool) -> None:
    document = drawn_tables()[0]
    data = pdf(document, lines=lines)
    assert data == pdf(document, lines=lines)
    text = "".join(read("pdf", data).text.split())
    for cell in document.table.cells:
        assert "".join(cell.text.split()) in text


def test_a_table_in_docx_has_its_cells() -> None:
    documents = drawn_tables()
    assert len(documents) == COUNT
    given = read("docx", docx(documents[0]))
    assert all(cell.text in given.text for cell in documents[0].table.cells)


def _read(text: str, furniture: tuple[str, ...], words: bytes = b"") -> ReadText:
    page = PrintedPage(1, "7", 612, 792, 0, len(text), furniture, words)
    return ReadText(text, sections=(Section(0, len(text), page=1),), pages=(page,))


def test_furniture_is_recognised_and_body_is_not_lost() -> None:
    pages = [
        LabelledPage(1, ("Notes to Statements 7", "7"), ("Sales rose well￾being", "Costs fell"))
    ]
    good = furniture_score(
        pages, _read("Sales rose wellbeing.\n\nCosts fell.", ("Notes to Statements 7",))
    )
    assert (good.furniture, good.recognised, good.body, good.kept) == (2, 2, 2, 2)
    bad = furniture_score(pages, _read("Sales rose wellbeing 7", ("Costs fell", "17")))
    assert (bad.recognised, bad.kept) == (0, 1)
    assert len(bad.missed) == 3


@pytest.mark.parametrize("turn", TURNS)
def test_the_text_inside_boxes_is_what_is_printed_there(turn: int) -> None:
    """The heading is at the top of the page before it is turned."""
    data = drawn_pdf(1, turn=turn, columns=2)
    wide, high = (612.0, 792.0) if turn in (0, 180) else (792.0, 612.0)
    strip = {
        0: (0, 0, wide, 70), 90: (wide - 70, 0, wide, high),
        180: (0, high - 70, wide, high), 270: (0, 0, 70, high),
    }[turn]  # fmt: skip
    heading = sentence(random.Random(1)).rstrip(".")
    page = PrintedPage(
        1, "", wide, high, 0, len(heading), (), pack_words([WordBox(0, len(heading), *strip)])
    )
    given = ReadText(heading, sections=(Section(0, len(heading), page=1),), pages=(page,))
    [whole] = drawn(data, given, [Quote(0, len(heading))])
    assert whole.same
    moved = replace(page, words=pack_words([WordBox(0, len(heading), 0, 0, 40, 40)]))
    [beside] = drawn(data, replace(given, pages=(moved,)), [Quote(0, len(heading))])
    assert not beside.same


def test_a_box_beside_the_quote_is_told() -> None:
    assert Drawn("Sales rose by 4%.", "Sales rose by4%.").same
    assert not Drawn("Sales rose by 4%.", "Sales rose by 5%.").same
    assert not Drawn("Sales rose by 4%.", "").same


def test_quotes_are_sentences_and_cells() -> None:
    prose = "The harbour was measured in spring. The ledger was settled in autumn."
    text = f"{TEXT}\n\n{prose}"
    start = len(TEXT) + 2
    sections = (Section(0, len(TEXT), page=1, rows=True), Section(start, len(text), page=1))
    found = quotes(ReadText(text, sections=sections, tables=(TABLE,)), 3, seed=0)
    cited = {text[one.start : one.end] for one in found}
    assert len(found) == 3 and sum(one.of_cell for one in found) == 1
    assert cited - {"$60,584", "(4)%"} == set(prose.replace(". ", ".|").split("|"))


def test_drawn_files_have_every_turn_and_both_columns() -> None:
    names = [name for name, _ in drawn_pdfs(8)]
    assert len(set(names)) == 8
    assert {name.rpartition("columns-")[2] for name in names} == {"1.pdf", "2.pdf"}
