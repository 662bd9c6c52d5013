"""PPTX a slide at a time: titles, lists, tables, charts, notes, pictures."""

from __future__ import annotations

import datetime
import io

from docx.oxml import parse_xml
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from pipelines.readers import ReadText, read
from tests.support.sample_documents import Slide, changed, png, pptx, unzipped

_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"


def parts(done: ReadText) -> list[str]:
    return [done.text[section.start : section.end] for section in done.sections]


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


def test_the_first_slide_says_the_title_before_the_properties_do() -> None:
    deck = Presentation()
    deck.core_properties.title = "blue-squares"
    for title in ("", "Agenda"):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text_frame.text = title
    titles: list[str | None] = []
    for first in ("", "Move", "Squares"):
        deck.slides[0].shapes.title.text_frame.text = first
        out = io.BytesIO()
        deck.save(out)
        titles.append(read("pptx", out.getvalue()).title)
    assert titles == ["blue-squares", "Move", "blue-squares"]


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


_CHOICE = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    '<mc:Choice Requires="p14"><p:contentPart'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"/></mc:Choice>'
    "<mc:Fallback/></mc:AlternateContent>"
)


def test_ink_ids_given_twice_and_signs_of_fonts_cost_no_text() -> None:
    deck, out = Presentation(), io.BytesIO()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text_frame.text = "Parts"
    box = slide.shapes.add_textbox(0, Inches(2), Inches(3), Inches(1))
    box._element.nvSpPr.cNvPr.set("id", str(slide.shapes.title.shape_id))
    box.text_frame.text = "\uf06d"
    font = '<a:sym xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    run = box.text_frame.paragraphs[0].runs[0]
    run.font._rPr.append(parse_xml(f'{font} typeface="Symbol"/>'))
    box.text_frame.paragraphs[0].add_run().text = "m"
    box._element.addnext(parse_xml(_CHOICE))
    deck.save(out)
    assert read("pptx", out.getvalue()).text == "Parts\nμm"


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


def test_a_chart_of_shares_has_them_as_percent() -> None:
    shares = CategoryChartData(number_format="0.0%")  # type: ignore[no-untyped-call]
    shares.categories = ["Lead", "Won"]
    shares.add_series("Share", (1, 0.115))  # type: ignore[no-untyped-call]
    lines = ["Lead | Share: 100%", "Won | Share: 11.5%"]
    assert chart_lines(XL_CHART_TYPE.BAR_CLUSTERED, shares) == lines


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
