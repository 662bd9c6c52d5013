"""OpenDocument: files as LibreOffice saves them, others' smaller ones, and those made to harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.readers import ReadText, UnreadableFile, read
from tests.support import open_documents as made
from tests.support.open_documents import package, paragraph
from tests.support.sample_documents import Bullet, Heading, Slide, Table, changed

SAVED = Path(__file__).parent / "libreoffice"


def saved(name: str) -> ReadText:
    """A file that LibreOffice 7.4 saved."""
    return read(name.rpartition(".")[2], (SAVED / name).read_bytes())


def parts(found: ReadText) -> list[tuple[tuple[str, ...], str, str]]:
    return [
        (one.heading_path, one.label, found.text[one.start : one.end]) for one in found.sections
    ]


def cells(found: ReadText, table: int = 0) -> list[str]:
    return [found.text[cell.start : cell.end] for cell in found.tables[table].cells]


def test_a_text_has_its_headings_lists_tables_notes_and_boxes() -> None:
    found = saved("handbook.odt")
    assert found.title == "Garden handbook"
    assert found.metadata == {"author": "Mara Lind", "date": "2025-03-04"}
    assert parts(found) == [
        (
            ("1. Watering",), "",
            "The garden\n\n1. Watering\n\nWater at dawn, with  care.\n\nFootnote: Never at noon.",
        ),
        (
            ("1. Watering", "1.1 Cans"), "",
            "1.1 Cans\n\n1. Green can\n\nIt leaks.\n\n  a) small\n  b) large\n2. Red can\n\n"
            "Between.\n\n3. Blue can\n- bullet one\n- bullet two",
        ),
        (
            ("2. Beds",), "",
            "2. Beds\n\nBed: North | Plants: Kale | Plants: 12\n"
            "Bed: North | Plants: Leek | Plants: 7\n\n"
            "See the map.\n\nBoxed words.\n\nIn a section.\nSecond line.",
        ),
    ]  # fmt: skip
    assert cells(found) == ["North", "Kale", "12", "North", "Leek", "7"]
    assert "DELETED" not in found.text and "COMMENT" not in found.text


def test_a_spreadsheet_is_read_as_one_of_excel_is() -> None:
    found = saved("budget.ods")
    first, far, *merged = parts(found)
    assert first == (
        ("Budget",), "sheet Budget, rows 2-4",
        "Region: EMEA | Revenue: 12345.678 | Share: 9.25% | Due: 2024-01-05 | Paid: 1"
        " | Price: 12.5 EUR | Note: first second\n"
        "Region: APAC | Revenue: 7 | Share: 50% | Due: 2024-02-03 04:05 | Paid: 0 | Price: 3 EUR\n"
        "Region: Sum | Revenue: 12352.678 | Price: #DIV/0! | Note: 30:05:00",
    )  # fmt: skip
    assert far[1:] == ("sheet Far, rows 2-901", "Name: x | Value: 1\nName: far away\ncorner")
    assert [label for _, label, _ in merged] == [
        f"sheet Merged, rows {rows}" for rows in ("2-21", "22-41", "42-61", "62-63")
    ]
    assert merged[0][2].startswith(
        "Team: Red | Person: Ann | Days: 3\nTeam: Red | Person: Bob | Days: 4\n"
    )
    assert "SECRET" not in found.text


def test_slides_have_their_shapes_in_order_tables_charts_and_notes() -> None:
    found = saved("deck.odp")
    assert found.title == "Plan"  # that of its properties is of something else
    assert parts(found) == [
        (
            ("Plan",), "slide 1",
            "Plan\n- Hire two\n- Buy desks\nRegion: EMEA | Revenue: 12\n"
            "Notes: Say why.\nAnd when.",
        ),
        (("Risks",), "slide 2", "Risks\n- Fog"),
        (
            ("Chart slide",), "slide 3",
            "Chart slide\nUpper box\nEast | Q1: 19.2 | Q2: 22.3\nWest | Q1: 21.4 | Q2: 28.6\n"
            "Lower box",
        ),
    ]  # fmt: skip
    assert [one.page for one in found.sections] == [1, 2, 3]


def test_files_without_styles_and_classes() -> None:
    rows = (("Grade", "Days"), ("A", "20"), ("B", "25"))
    text = read("odt", made.odt(Heading("Leave"), "Ask.", Bullet("Early"), Table(rows)))
    assert text.text == "Leave\n\nAsk.\n\n- Early\n\nGrade: A | Days: 20\nGrade: B | Days: 25"
    assert text.title == "Leave"
    sheets = read("ods", made.ods({"Leave": (("Grade", "Days"), ("A", 20))}, title="Days off"))
    assert (sheets.title, sheets.text) == ("Days off", "Grade: A | Days: 20")
    deck = read("odp", made.odp(Slide("Plan", ("Hire two",), notes="Say why."), title="Plan B"))
    assert (deck.title, deck.text) == ("Plan B", "Plan\nHire two\nNotes: Say why.")


def test_a_chart_that_is_missing_is_told_and_the_rest_is_read() -> None:
    frame = '<text:p>Above<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>'
    found = read("odt", package("text", frame))
    assert found.text == "Above" and found.warnings == ("a chart is not read (KeyError)",)
    part = made.chart(
        f"<chart:chart><chart:title>{paragraph('Sales')}</chart:title><table:table>"
        f"<table:table-row><table:table-cell/><table:table-cell>{paragraph('Q1')}"
        "</table:table-cell></table:table-row><table:table-row><table:table-cell>"
        f"{paragraph('East')}</table:table-cell><table:table-cell office:value-type='float' "
        f"office:value='19.2'>{paragraph('19')}</table:table-cell></table:table-row></table:table>"
        "</chart:chart>"
    )
    found = read("odt", package("text", frame, parts={"Object 1/content.xml": part}))
    assert found.text == "Above\n\nSales\n\nEast | Q1: 19.2"


def sheet(rows: str) -> bytes:
    return package("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')


def test_repetitions_are_followed_and_the_empty_ones_passed_over() -> None:
    rows = repeated(1, 2, "a") + repeated(1_048_000, 2, "") + repeated(2, 3, "b")
    found = read("ods", sheet(rows))
    assert found.text == "a | a\nb | b | b\nb | b | b"
    assert found.sections[-1].label == "sheet S, rows 1-1048003"


def repeated(rows: int, columns: int, text: str) -> str:
    """A row again and again, with one cell again and again and the empty ones to the edge."""
    return (
        f'<table:table-row table:number-rows-repeated="{rows}">'
        f'<table:table-cell table:number-columns-repeated="{columns}">{paragraph(text)}'
        '</table:table-cell><table:table-cell table:number-columns-repeated="16000"/>'
        "</table:table-row>"
    )


@pytest.mark.parametrize(
    ("value", "shown", "text"),
    [
        ('"string" office:string-value="told"', "", "told"),
        ('"date"', "5 January", "5 January"),
        ('"boolean"', "TRUE", "TRUE"),
        ('"date" office:date-value="2024-01-05T10:30:00"', "5 January", "2024-01-05 10:30"),
    ],
)
def test_a_value_is_what_is_told_or_else_what_is_shown(value: str, shown: str, text: str) -> None:
    cell = f"<table:table-cell office:value-type={value}>{paragraph(shown)}</table:table-cell>"
    assert read("ods", sheet(f"<table:table-row>{cell}</table:table-row>")).text == text


@pytest.mark.parametrize("kind", ["ods", "odt"])
def test_a_table_of_repetitions_alone_is_refused(kind: str) -> None:
    rows = repeated(1, 2, "a") + repeated(1_048_575, 16_384, "x")
    data = sheet(rows) if kind == "ods" else package("text", f"<table:table>{rows}</table:table>")
    with pytest.raises(UnreadableFile, match="more than 1,000,000 cells that are only repetitions"):
        read(kind, data)


def test_encrypted_and_damaged_files_have_their_reason() -> None:
    sound = made.odt("Words.")
    manifest = b"<manifest><file-entry><encryption-data/></file-entry></manifest>"
    for changes, reason in (
        ({"META-INF/manifest.xml": manifest}, "^encrypted: save it without a password$"),
        ({"content.xml": None}, "damaged"),
        ({"content.xml": b"<not"}, "damaged"),
        ({"content.xml": b"<a/>"}, "damaged"),
        ({"content.xml": b"<a><body/></a>"}, "^empty"),
    ):
        with pytest.raises(UnreadableFile, match=reason):
            read("odt", changed(sound, changes))


def test_deep_nesting_gives_a_reason() -> None:
    deep = "<text:list><text:list-item>" * 5_000 + "x" + "</text:list-item></text:list>" * 5_000
    with pytest.raises(UnreadableFile, match="damaged"):
        read("odt", package("text", deep))


def test_entities_are_not_expanded() -> None:
    content = (
        '<!DOCTYPE x [<!ENTITY a "laughing">]><office:document-content xmlns:office="o" '
        'xmlns:text="t"><office:body><office:text><text:p>Words &a; more.</text:p></office:text>'
        "</office:body></office:document-content>"
    )
    found = read("odt", changed(made.odt("x"), {"content.xml": content.encode()}))
    assert found.text == "Words  more."


@pytest.mark.parametrize("shape", ["circle", "polygon", "path", "connector", "line", "caption"])
def test_the_text_of_a_shape_stands_below_the_paragraph_that_it_hangs_on(shape: str) -> None:
    drawn = f"<draw:{shape}>{paragraph('Inside.')}</draw:{shape}>"
    found = read("odt", package("text", f"<text:p>Be{drawn}fore.</text:p>"))
    assert found.text == "Before.\n\nInside."
