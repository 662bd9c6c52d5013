"""PPTX: a section a slide, its title first, then its shapes as they are read, then the notes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pptx.opc.package import PartFactory
from pptx.oxml import parse_xml
from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.shapes.group import GroupShape
from pptx.shapes.picture import Picture

from pipelines.readers import Progress, ReadText
from pipelines.readers.charts import plots
from pipelines.readers.charts import title_of as title_of_chart
from pipelines.readers.draft import Draft
from pipelines.readers.formulas import formula_text
from pipelines.readers.list_numbers import numeral
from pipelines.readers.office import core_title, guarded, is_element, local_name
from pipelines.readers.outline import short_title
from pipelines.readers.slides import Piece, add_slide, title_of
from pipelines.readers.superscripts import superscript
from pipelines.readers.symbol_fonts import has_signs, with_signs
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import one_line, small_tables

_ROW_OF_SHAPES = 228_600  # EMU, a quarter of an inch: shapes that near stand side by side
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_INK = "{*}contentPart"
_NOT_CONTENT = ("DATE", "FOOTER", "SLIDE_NUMBER", "HEADER")
_CONTENT_TYPES = (  # beside those that python-pptx knows: a show and a template, with macros
    "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml",
    "application/vnd.ms-powerpoint.template.macroEnabled.main+xml",
)
_KINDS = ("buNone", "buChar", "buAutoNum", "buBlip")
_FORMS = {
    "alphaLc": "lowerLetter", "alphaUc": "upperLetter",
    "romanLc": "lowerRoman", "romanUc": "upperRoman",
}  # fmt: skip
"""Word's names of the forms that PowerPoint's begin with."""
_START = re.compile(r"[0-9]{1,9}")
_RAISED = tuple("123456789")  # what the offset of a run's baseline begins with


PartFactory.part_type_for |= dict.fromkeys(_CONTENT_TYPES, PresentationPart)


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections labelled "slide 3" with the slide's number as page, hidden slides included.

    Text in pictures is not read: a slide with nothing else is named in the warnings.

    Raises:
        UnreadableFile: encrypted, damaged, or without text.
    """
    draft = Draft()
    with guarded(data, "PowerPoint presentation"):
        slides = Package.open(io.BytesIO(data)).main_document_part.presentation.slides
        titles: list[str] = []
        for number, slide in enumerate(slides, 1):
            _choose(slide.shapes._spTree)
            titles.append(title := _title(slide))
            add_slide(draft, number, title, list(_pieces(slide, draft, number)))
            progress(number, len(slides))
        return draft.finish(title_of(core_title(data), titles))


def _choose(tree: Any) -> None:
    """Put the first of alternatives, that for the newest program, where all stand; ink goes.

    PowerPoint writes a shape with a formula so, which python-pptx passes over with all its text.
    """
    for each in list(tree.iter(_ALTERNATIVES)):
        first, parent = next(iter(each), None), each.getparent()
        if parent is not None and first is not None:
            for shape in reversed(first):
                each.addnext(shape)
            parent.remove(each)
    for ink in list(tree.iter(_INK)):  # at which python-pptx gives up
        ink.getparent().remove(ink)


def _title(slide: Any) -> str:
    title = slide.shapes.title
    return short_title(_plain(title.text_frame)) if title is not None else ""


def _pieces(slide: Any, draft: Draft, number: int) -> Iterator[Piece]:
    title = slide.shapes.title
    if title is not None:
        yield from _lines(title.text_frame)
    pictures, words = 0, 0
    for shape in _in_order(slide.shapes):
        if title is not None and shape._element is title._element:  # ids may be there twice
            continue
        pictures += isinstance(shape, Picture)
        try:
            pieces = list(_shape(shape))
        except Exception as error:  # noqa: BLE001 - an odd chart is no reason to lose the rest
            draft.warnings.append(f"slide {number}: a shape is not read ({type(error).__name__})")
            continue
        words += len(pieces)
        yield from pieces
    if pictures and not words:
        draft.warnings.append(f"slide {number}: text in pictures is not read")
    if slide.has_notes_slide:
        yield from _notes(slide.notes_slide)


def _notes(notes: Any) -> Iterator[Piece]:
    frame = notes.notes_text_frame
    text = _plain(frame).strip() if frame is not None else ""
    if text:
        yield Piece(f"Notes: {text}")


def _in_order(shapes: Any) -> Iterator[Any]:
    """From the top, and from the left among those side by side; a group's where it stands."""

    def place(shape: Any) -> tuple[int, int]:
        return ((shape.top or 0) // _ROW_OF_SHAPES, shape.left or 0)

    for shape in sorted(shapes, key=place):
        if isinstance(shape, GroupShape):
            yield from _in_order(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> Iterator[Piece]:
    if shape.is_placeholder and shape.placeholder_format.type.name in _NOT_CONTENT:
        return
    elif shape.has_text_frame:
        yield from map(Piece, paragraphs(shape))
    elif getattr(shape, "has_table", False):
        lines, tables = small_tables(_rows(shape.table))
        if lines:
            yield Piece(lines, tables)
    elif getattr(shape, "has_chart", False):
        yield from _chart(shape.chart)
    else:
        yield from _diagram(shape)


def _lines(frame: Any) -> Iterator[Piece]:
    for line in _plain(frame).split("\n"):
        if text := line.strip():
            yield Piece(text)


def _plain(frame: Any) -> str:
    return "\n".join(map(_text, frame.paragraphs))


def _text(paragraph: Any) -> str:
    """The text of a paragraph with its formulas, which python-pptx leaves out."""
    parts = filter(is_element, paragraph._p)
    return "".join(formula_text(part) if local_name(part) == "m" else _run(part) for part in parts)


def _run(part: Any) -> str:
    if local_name(part) == "br":
        return "\n"
    text = "".join(t.text or "" for t in part.iterfind("{*}t"))
    for name in ("sym", "latin") if has_signs(text) else ():
        for font in part.iterfind(f"{{*}}rPr/{{*}}{name}"):
            text = with_signs(font.get("typeface", ""), text)
    offsets = (one.get("baseline", "0") for one in part.iterfind("{*}rPr"))
    return superscript(text) if any(one.startswith(_RAISED) for one in offsets) else text


def _rows(table: Any) -> Iterator[Row]:
    """Rows numbered from 1; a cell merged downwards is repeated, each row being a line."""
    below: dict[int, tuple[int, int, str]] = {}  # column to rows left of a merge, width, text
    for number, row in enumerate(table.rows, 1):
        cells: list[str] = []
        spans: dict[int, int] = {}
        for column, cell in enumerate(row.cells):
            text = one_line(_plain(cell.text_frame))
            if cell.is_merge_origin:
                below[column] = (cell.span_height, cell.span_width, text)
            left, width, merged = below.get(column, (0, 1, ""))
            if left:
                below[column] = (left - 1, width, merged)
                spans[column] = width
            cells.append(merged if left else text)
        yield Row(number, cells, {column: width for column, width in spans.items() if width > 1})


def _chart(chart: Any) -> Iterator[Piece]:
    """The chart's title and its numbers, a line a category."""
    yield from map(Piece, title_of_chart(chart._chartSpace))
    for lines, table in plots(chart._chartSpace):
        yield Piece(lines, [table])


def _diagram(shape: Any) -> Iterator[Piece]:
    """SmartArt: the text of its points, which is in a part of its own."""
    for element in shape._element.iter(f"{{{_DIAGRAM}}}relIds"):
        part = shape.part.related_part(element.get(_RELATION))
        for paragraph in parse_xml(part.blob).iter("{*}p"):
            parts = (run.text or "" for run in paragraph.iter("{*}t") if is_element(run))
            if local_name(paragraph) == "p" and (text := "".join(parts).strip()):
                yield Piece(text)


def paragraphs(shape: Any) -> Iterator[str]:
    """The paragraphs of a shape with text, each behind its mark and moved in by its level.

    Marks are nowhere in the text: each follows from the paragraph, its shape, or the placeholders
    and the master that the shape inherits from (ISO/IEC 29500-1, 19.3.1.52 and 21.1.2.4).
    """
    styles = list(_styles(shape))
    counts: dict[int, tuple[str, int]] = {}  # the form and number of the last one, by level
    for paragraph in shape.text_frame.paragraphs:
        text = _text(paragraph).strip()
        if not text:
            continue
        level, bullet = paragraph.level, _bullet(paragraph, styles)
        if bullet is None:
            yield text
            continue
        form, (last_form, number) = bullet.get("type", ""), counts.get(level, ("", 0))
        number = number + 1 if form == last_form else _start(bullet)
        counts = {deep: last for deep, last in counts.items() if deep < level}
        counts[level] = form, number
        yield f"{'  ' * level}{_mark(form, number)} {text}"


def _start(bullet: Any) -> int:
    start = bullet.get("startAt", "1")
    return int(start) if _START.fullmatch(start) else 1


def _mark(form: str, number: int) -> str:
    """`3.`, `b)`; a hyphen for what is no number."""
    counted = numeral(number, _FORMS.get(form[:7], "decimal"))
    return f"{counted}{')' if 'Paren' in form else '.'}" if form else "-"


def _styles(shape: Any) -> Iterator[Any]:
    """The styles of lists that a shape has and inherits, the nearest first."""
    place = shape
    while place is not None:
        yield place._element.find(".//{*}lstStyle")
        place = getattr(place, "_base_placeholder", None)
    if shape.is_placeholder:
        master = shape.part.slide_layout.slide_master
        yield master.element.find("{*}txStyles/{*}bodyStyle")


def _bullet(paragraph: Any, styles: Sequence[Any]) -> Any:
    """The element of the nearest bullet; None where there is none, or the nearest says so."""
    name = f"{{*}}lvl{paragraph.level + 1}pPr"
    own = [style.find(name) for style in styles if style is not None]
    for properties in (paragraph._p.pPr, *own):
        for kind in _KINDS if properties is not None else ():
            if (found := properties.find(f"{{*}}{kind}")) is not None:
                return found if kind != _KINDS[0] else None
    return None
