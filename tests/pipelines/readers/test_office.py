"""DOCX with its structure, headings, tables, notes; and office files however they were saved."""

from __future__ import annotations

import io

import pytest
from docx import Document
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph

from pipelines.readers import ReadText, read
from tests.support.sample_documents import (
    Bullet,
    Heading,
    Table,
    changed,
    csv,
    docx,
    one_of_each,
    unzipped,
    word_body,
    word_run,
)


def parts(done: ReadText) -> list[str]:
    return [done.text[section.start : section.end] for section in done.sections]


# DOCX


def test_a_document_is_read_by_its_headings() -> None:
    done = read(
        "docx",
        docx(
            Heading("The handbook", 0),
            "For everybody.",
            Heading("Leave"),
            Heading("Holidays", 2),
            "Twenty days a year.",
            Bullet("Ask first."),
            Bullet("Write it down."),
            Heading("Illness", 2),
            "Call before nine.",
            Heading("Pay"),
            "Monthly.",
        ),
    )
    assert done.title == "The handbook"
    assert parts(done) == [
        "The handbook\n\nFor everybody.",
        "Leave\n\nHolidays\n\nTwenty days a year.\n\n- Ask first.\n- Write it down.",
        "Illness\n\nCall before nine.",
        "Pay\n\nMonthly.",
    ]
    assert [section.heading_path for section in done.sections] == [
        (),
        ("Leave", "Holidays"),
        ("Leave", "Illness"),
        ("Pay",),
    ]
    assert {(section.label, section.page) for section in done.sections} == {("", None)}


def test_a_title_is_that_of_the_properties_or_the_first_heading() -> None:
    assert read("docx", docx(Heading("First"), "x", title="A  title")).title == "A title"
    assert read("docx", docx("x", Heading("First"), title="Word Document")).title == "First"
    assert read("docx", docx("x")).title is None
    parts = Heading("Part", 2), "x"
    assert read("docx", docx(Heading("Whole"), "x", *parts, *parts)).title == "Whole"
    assert read("docx", docx(Heading("First"), "x", *parts, Heading("Second"), "x")).title is None


def test_a_table_is_rows_under_its_heading() -> None:
    rows = [("Grade", "Days"), *((f"G{n}", n) for n in range(1, 26))]
    done = read("docx", docx(Heading("Leave"), "As follows:", Table(rows), "That is all."))
    assert [section.label for section in done.sections] == [
        "",
        "table 1, rows 2-21",
        "table 1, rows 22-26",
        "",
    ]
    assert parts(done)[1].splitlines()[:2] == ["Grade: G1 | Days: 1", "Grade: G2 | Days: 2"]
    assert {section.heading_path for section in done.sections} == {("Leave",)}
    assert done.sections[1].context == "Grade | Days"


def test_a_small_table_stays_with_the_text_around_it() -> None:
    rows = [("Grade", "Days"), ("A", 20), ("B", 25)]
    done = read("docx", docx(Heading("Leave"), "As follows:", Table(rows), "That is all."))
    (section,) = done.sections
    ((start, end),) = section.blocks
    assert done.text[start:end] == "Grade: A | Days: 20\nGrade: B | Days: 25"
    assert done.text == f"Leave\n\nAs follows:\n\n{done.text[start:end]}\n\nThat is all."


def test_merged_cells_and_nested_tables() -> None:
    document = Document()
    table = document.add_table(3, 3)
    for row, cells in enumerate([("Grade", "Days", "Note"), ("A", "20", ""), ("", "25", "new")]):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(1, 2).add_table(1, 1).cell(0, 0).text = "within"
    frame = document.add_table(1, 2)  # text set side by side
    frame.cell(0, 0).text, frame.cell(0, 1).text = "On the left", "On the right"
    out = io.BytesIO()
    document.save(out)
    assert parts(read("docx", out.getvalue())) == [
        "Grade: A | Days: 20 | Note: within\nGrade: A | Days: 25 | Note: new"
        "\n\nOn the left\n\nOn the right",
    ]


def test_changes_links_controls_and_fields() -> None:
    done = read(
        "docx",
        word_body(
            f"<w:p>{word_run('Pay ')}<w:del><w:r><w:delText>30</w:delText></w:r></w:del>"
            f"<w:ins>{word_run('40')}</w:ins><w:hyperlink>{word_run(' euros')}</w:hyperlink>"
            "<w:fldSimple w:instr='PAGE'>" + word_run(" now") + "</w:fldSimple>"
            "<w:r><w:tab/><w:t>tab</w:t><w:br/><w:instrText>HIDDEN</w:instrText></w:r>"
            f"<w:moveFrom>{word_run('gone')}</w:moveFrom><w:moveTo>{word_run('moved')}</w:moveTo></w:p>"
            f"<w:sdt><w:sdtContent><w:p>{word_run('controlled')}</w:p></w:sdtContent></w:sdt>"
            f"<w:p><!-- remark --><w:del>{word_run('all of it')}</w:del></w:p>"
        ),
    )
    assert done.text == "Pay 40 euros now\ttab\nmoved\n\ncontrolled"


def test_answers_in_the_fields_of_a_form() -> None:
    def field(content: str) -> str:
        begin = "<w:fldChar w:fldCharType='begin'>"
        return f"<w:r>{begin}<w:ffData>{content}</w:ffData></w:fldChar></w:r>"

    def box(states: str) -> str:
        return field(f"<w:checkBox>{states}</w:checkBox>")

    grades = "<w:listEntry w:val='low'/><w:listEntry w:val='high'/>"
    boxes = [
        box("<w:default w:val='0'/><w:checked/>"),
        box("<w:default w:val='1'/><w:checked w:val='0'/>"),
        box("<w:default w:val='1'/>"),
        box(""),
        field(f"<w:ddList><w:result w:val='1'/>{grades}</w:ddList>"),
        field(f"<w:ddList>{grades}</w:ddList>"),
        field("<w:ddList><w:result w:val='7'/></w:ddList>"),
    ]
    body = f"<w:p>{''.join(one + word_run(' x ') for one in boxes)}</w:p>"
    assert read("docx", word_body(body)).text == "☒ x ☐ x ☒ x ☐ x high x low x  x"


def test_a_text_box_is_read_once() -> None:
    box = f"<w:txbxContent><w:p>{word_run('In the box')}</w:p></w:txbxContent>"
    done = read(
        "docx",
        word_body(
            f"<w:p>{word_run('Beside')}<w:r><mc:AlternateContent>"
            f"<mc:Choice Requires='wps'><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing>"
            f"</mc:Choice><mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
        ),
    )
    assert done.text == "Beside\n\nIn the box"


def test_notes_stand_after_their_paragraph() -> None:
    types = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    relations, kinds = "word/_rels/document.xml.rels", "[Content_Types].xml"
    plain = word_body(
        f"<w:p>{word_run('Paid monthly.')}<w:r><w:footnoteReference w:id='2'/></w:r></w:p>"
        f"<w:p>{word_run('Next.')}</w:p>"
    )
    files = unzipped(plain)
    done = read(
        "docx",
        changed(
            plain,
            {
                "word/footnotes.xml": f"<w:footnotes {nsdecls('w')}><w:footnote w:id='2'><w:p>"
                f"{word_run('Except in May.')}</w:p></w:footnote></w:footnotes>".encode(),
                relations: files[relations].replace(
                    b"</Relationships>",
                    b'<Relationship Id="rId99" Target="footnotes.xml" Type="http://schemas.'
                    b'openxmlformats.org/officeDocument/2006/relationships/footnotes"/>'
                    b"</Relationships>",
                ),
                kinds: files[kinds].replace(
                    b"</Types>",
                    f'<Override PartName="/word/footnotes.xml" ContentType="{types}"/>'
                    "</Types>".encode(),
                ),
            },
        ),
    )
    assert done.text == "Paid monthly.\n\nFootnote: Except in May.\n\nNext."


def test_headings_of_other_styles_are_headings() -> None:
    document = Document()
    own = document.styles.add_style("Überschrift eigen", 1)
    own.base_style = document.styles["Heading 2"]
    outlined = document.styles.add_style("Kapitel", 1)
    outlined.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="0"/>'))
    document.add_paragraph("Erstes", "Kapitel")
    document.add_paragraph("Teil", "Überschrift eigen")
    document.add_paragraph("Text.")
    direct: Paragraph = document.add_paragraph("Zweites")
    direct._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="0"/>'))
    document.add_paragraph("Mehr.")
    out = io.BytesIO()
    document.save(out)
    sections = read("docx", out.getvalue()).sections
    assert [section.heading_path for section in sections] == [("Erstes", "Teil"), ("Zweites",)]


def test_a_style_based_on_itself_ends() -> None:
    plain = docx(Heading("A"), "b")
    name = "word/styles.xml"
    styles = unzipped(plain)[name].replace(
        b'w:styleId="Heading1">', b'w:styleId="Heading1"><w:basedOn w:val="Heading1"/>'
    )
    assert read("docx", changed(plain, {name: styles})).sections[0].heading_path == ("A",)


# Documents with macros, templates and shows

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_DECK = "application/vnd.openxmlformats-officedocument.presentationml."


@pytest.mark.parametrize(
    ("name", "saved_as"),
    [
        ("manual.docx", "application/vnd.ms-word.document.macroEnabled.main+xml"),
        ("manual.docx", f"{_WORD}template.main+xml"),
        ("manual.docx", "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"),
        ("deck.pptx", "application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml"),
        ("deck.pptx", f"{_DECK}slideshow.main+xml"),
        ("deck.pptx", f"{_DECK}template.main+xml"),
        ("deck.pptx", "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml"),
        ("deck.pptx", "application/vnd.ms-powerpoint.template.macroEnabled.main+xml"),
    ],
)
def test_what_is_read_does_not_hang_on_how_it_was_saved(name: str, saved_as: str) -> None:
    data, kind = one_of_each("The fee is 12.")[name], name[-4:]
    types = unzipped(data)["[Content_Types].xml"].decode()
    usual = f"{_WORD}document.main+xml" if kind == "docx" else f"{_DECK}presentation.main+xml"
    assert usual in types
    other = changed(data, {"[Content_Types].xml": types.replace(usual, saved_as).encode()})
    assert read(kind, other) == read(kind, data)


# The builders


def test_the_same_call_builds_the_same_bytes() -> None:
    first, again = one_of_each("The fee is 12."), one_of_each("The fee is 12.")
    assert first == again
    for name in ("manual.docx", "deck.pptx", "book.xlsx"):
        files = unzipped(first[name])
        assert b"2026-01-01T00:00:00Z" in files["docProps/core.xml"]
    assert csv([("a", "b")]) == b"a,b\n"


# --- charts in Word

_DRAWN = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_CHART = f"""<c:chartSpace xmlns:c="{_DRAWN}"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><c:chart><c:title><c:tx><c:rich>
<a:p><a:pPr/><a:r><a:t>Units</a:t></a:r><a:br/><a:fld><a:t>sold</a:t></a:fld></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser>
<c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>Iberia</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strLit><c:pt idx="0"><c:v>Q1</c:v></c:pt><c:pt idx="1"><c:v>Q2</c:v></c:pt></c:strLit>
</c:cat><c:val><c:numLit><c:pt idx="0"><c:v>120</c:v></c:pt><c:pt idx="1"><c:v>80</c:v></c:pt>
</c:numLit></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>""".encode()


def with_chart(chart: bytes, *, in_table: bool = False) -> ReadText:
    document = Document()
    before = document.add_table(2, 2).cell(0, 0).paragraphs[0] if in_table else None
    before = before or document.add_paragraph("Sales grew.")
    before.add_run()._r.append(
        parse_xml(
            f'<w:drawing {nsdecls("w")}><c:chart xmlns:c="{_DRAWN}" xmlns:r="{_RELATIONS}"'
            ' r:id="rId9"/></w:drawing>'
        )
    )
    document.add_paragraph("Costs fell.")
    part = Part(PackURI("/word/charts/chart1.xml"), "application/xml", chart, document.part.package)
    document.part.load_rel(f"{_RELATIONS}/chart", part, "rId9")
    out = io.BytesIO()
    document.save(out)
    return read("docx", out.getvalue())


def test_a_chart_in_a_document_is_read_where_it_stands() -> None:
    done = with_chart(_CHART)
    assert (
        done.text == "Sales grew.\n\nUnits sold\n\nQ1 | Iberia: 120\nQ2 | Iberia: 80\n\nCosts fell."
    )
    assert [done.text[cell.start : cell.end] for cell in done.tables[0].cells] == ["120", "80"]


def test_a_chart_in_a_table_is_read_behind_it() -> None:
    done = with_chart(_CHART, in_table=True)
    assert done.text == "Units sold\n\nQ1 | Iberia: 120\nQ2 | Iberia: 80\n\nCosts fell."


def test_a_chart_that_is_damaged_loses_nothing_else() -> None:
    done = with_chart(b"<chart")
    assert done.text == "Sales grew.\n\nCosts fell."
    assert done.warnings == ("a chart is not read (XMLSyntaxError)",)
