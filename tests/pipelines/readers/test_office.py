"""DOCX and PPTX with their structure: headings, tables, notes, slides."""

from __future__ import annotations

import datetime
import io

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from pipelines.readers import ReadText, read
from tests.support.sample_documents import (
    Bullet,
    Heading,
    Slide,
    Table,
    changed,
    csv,
    docx,
    one_of_each,
    png,
    pptx,
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


# PPTX


def test_a_presentation_is_read_a_slide_at_a_time() -> None:
    heard: list[tuple[int, int]] = []
    deck = pptx(
        Slide("Plan", ("Hire two.", "Train them."), notes="Say why."),
        Slide(),
        Slide("Fees", table=(("Grade", "Fee"), ("A", "20"))),
        Slide("Extra", ("Not shown.",), hidden=True),
    )
    done = read("pptx", deck, lambda *step: heard.append(step))
    assert done.title == "Plan"
    assert parts(done) == [
        "Plan\n- Hire two.\n- Train them.\nNotes: Say why.",
        "Fees\nGrade: A | Fee: 20",
        "Extra\n- Not shown.",
    ]
    assert [(s.page, s.label, s.heading_path) for s in done.sections] == [
        (1, "slide 1", ("Plan",)),
        (3, "slide 3", ("Fees",)),
        (4, "slide 4", ("Extra",)),
    ]
    ((start, end),) = done.sections[1].blocks
    assert done.text[start:end] == "Grade: A | Fee: 20"
    assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_bullets_and_numbers_are_those_that_a_slide_shows() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text_frame.text = "Move"
    body = slide.placeholders[1].text_frame
    lines = (
        ("Pack:", 0, "<a:buNone/>"),
        ("books", 0, ""),
        ("the heavy ones apart", 1, ""),
        ("Call the van", 0, '<a:buAutoNum type="arabicPeriod" startAt="3"/>'),
        ("Load", 0, '<a:buAutoNum type="arabicPeriod" startAt="3"/>'),
        ("Leave", 0, '<a:buAutoNum type="alphaLcParenR" startAt="2"/>'),
        ("Lock", 0, '<a:buAutoNum type="alphaLcParenR" startAt="2"/>'),
        ("Wave", 1, '<a:buAutoNum type="romanUcPeriod" startAt="many"/>'),
    )
    for number, (text, level, bullet) in enumerate(lines):
        paragraph = body.add_paragraph() if number else body.paragraphs[0]
        paragraph.text, paragraph.level = text, level
        if bullet:
            named = bullet.replace("/>", f" xmlns:a='{_DRAWING}'/>")
            paragraph._p.get_or_add_pPr().append(parse_xml(named))
    box = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(3), Inches(1))
    box.text_frame.text = "By Friday."
    out = io.BytesIO()
    deck.save(out)
    assert read("pptx", out.getvalue()).text.splitlines() == [
        "Move",
        "Pack:",
        "- books",
        "  - the heavy ones apart",
        "3. Call the van",
        "4. Load",
        "b) Leave",
        "c) Lock",
        "  I. Wave",
        "By Friday.",
    ]


def test_shapes_are_read_from_the_top_groups_and_charts_too() -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text_frame.text = "Sales"

    def box(shapes: object, text: str, left: float, top: float) -> None:
        place = (Inches(left), Inches(top), Inches(1), Inches(1))
        shapes.add_textbox(*place).text_frame.text = text  # type: ignore[attr-defined]

    box(slide.shapes, "last", 1, 6)
    box(slide.shapes, "right", 5, 2.01)
    box(slide.shapes, "left", 1, 2.05)
    group = slide.shapes.add_group_shape()
    box(group.shapes, "grouped", 1, 3)
    numbers = CategoryChartData()  # type: ignore[no-untyped-call]
    numbers.categories = ["Q1", "Q2"]
    numbers.add_series("Revenue", (12, 13.5))  # type: ignore[no-untyped-call]
    numbers.add_series("Cost", (7, None))  # type: ignore[no-untyped-call]
    place = (Inches(1), Inches(4), Inches(3), Inches(1))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, numbers).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "By quarter"
    out = io.BytesIO()
    deck.save(out)
    assert read("pptx", out.getvalue()).text.splitlines() == [
        "Sales",
        "left",
        "right",
        "grouped",
        "By quarter",
        "Q1 | Revenue: 12 | Cost: 7",
        "Q2 | Revenue: 13.5",
        "last",
    ]


def chart_lines(form: XL_CHART_TYPE, data: object, drawn_as: bytes = b"barChart") -> list[str]:
    deck = Presentation()
    place = (Inches(1), Inches(1), Inches(3), Inches(3))
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_chart(form, *place, data)
    out = io.BytesIO()
    deck.save(out)
    [(name, chart)] = [
        file for file in unzipped(out.getvalue()).items() if file[0].startswith("ppt/charts/chart")
    ]
    saved = changed(out.getvalue(), {name: chart.replace(b"barChart", drawn_as)})
    return read("pptx", saved).text.splitlines()


def test_a_chart_of_three_dimensions_and_its_levels_of_categories() -> None:
    numbers = CategoryChartData()  # type: ignore[no-untyped-call]
    for year, quarters in (("2024", ("Q1", "Q2")), ("2025", ("Q1",))):
        category = numbers.add_category(year)  # type: ignore[no-untyped-call]
        for quarter in quarters:
            category.add_sub_category(quarter)
    numbers.add_series("Revenue", (1, 2, 3))  # type: ignore[no-untyped-call]
    lines = ["2024 › Q1 | Revenue: 1", "2024 › Q2 | Revenue: 2", "2025 › Q1 | Revenue: 3"]
    for drawn_as in (b"barChart", b"bar3DChart"):
        assert chart_lines(XL_CHART_TYPE.COLUMN_CLUSTERED, numbers, drawn_as) == lines


def test_a_chart_over_days_and_one_of_points() -> None:
    days = CategoryChartData()  # type: ignore[no-untyped-call]
    days.categories = [datetime.date(2026, 1, 5), datetime.date(2026, 1, 6)]
    days.add_series("Calls", (7, 8))  # type: ignore[no-untyped-call]
    lines = ["2026-01-05 | Calls: 7", "2026-01-06 | Calls: 8"]
    assert chart_lines(XL_CHART_TYPE.LINE, days) == lines
    points = XyChartData()  # type: ignore[no-untyped-call]
    for name, places in (("Left", ((1, 2.5), (2, 3.5))), ("Right", ((1.5, 9),))):
        series = points.add_series(name)  # type: ignore[no-untyped-call]
        for place in places:
            series.add_data_point(*place)
    lines = ["1 | Left: 2.5", "1.5 | Right: 9", "2 | Left: 3.5"]
    assert chart_lines(XL_CHART_TYPE.XY_SCATTER, points) == lines


def test_a_slide_that_is_a_picture_is_named() -> None:
    deck = Presentation()
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text_frame.text = "Words"
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_picture(
        io.BytesIO(png("Scanned", 60, 60)), 0, 0
    )
    out = io.BytesIO()
    deck.save(out)
    assert read("pptx", out.getvalue()).warnings == ("slide 2: text in pictures is not read",)


# Documents with macros, templates and shows

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_DECK = "application/vnd.openxmlformats-officedocument.presentationml."
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


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
