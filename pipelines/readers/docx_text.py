"""The text of a DOCX's paragraphs, cells and notes, from their XML.

python-docx's own ``text`` leaves out insertions, content controls, fields and text boxes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from docx.oxml import parse_xml

from pipelines.readers.formulas import formula_text
from pipelines.readers.office import is_element, local_name
from pipelines.readers.superscripts import superscript
from pipelines.readers.symbol_fonts import has_signs, sign_of, with_signs
from pipelines.readers.table_heads import Cells, Row
from pipelines.readers.tables import one_line

_LEFT_OUT = frozenset(
    "del moveFrom delText delInstrText instrText pPr rPr sdtPr sdtEndPr txbxContent rt "
    "footnoteReference endnoteReference annotationRef comment".split()
)
_AS_TEXT = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WRAPPERS = frozenset("sdt sdtContent customXml smartTag ins moveTo".split())
_CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_NOTE_PARTS = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_CALLED = {"footnoteReference": "Footnote", "endnoteReference": "Endnote"}


def children(element: Any) -> Iterator[Any]:
    """The elements directly in ``element``."""
    return filter(is_element, element)


def child(element: Any, name: str) -> Any | None:
    return next((found for found in children(element) if local_name(found) == name), None)


def attribute(element: Any, name: str) -> str:
    """By its name without namespace; '' when absent."""
    found = (value for key, value in element.attrib.items() if key.rpartition("}")[2] == name)
    return str(next(found, ""))


def value_of(element: Any, name: str) -> str:
    """The ``val`` of the child called ``name``; '' without such a child."""
    found = child(element, name)
    return "" if found is None else attribute(found, "val")


def within(element: Any, name: str) -> Iterator[Any]:
    """The elements called ``name`` in ``element``, or in content controls there."""
    for found in children(element):
        if local_name(found) == name:
            yield found
        elif local_name(found) in _WRAPPERS:
            yield from within(found, name)


def paragraph_text(element: Any) -> str:
    """Runs, links, fields, insertions; neither deletions nor what has a place of its own."""
    return "".join(_texts(element))


def is_deleted(paragraph: Any) -> bool:
    """True where tracked changes delete a paragraph's end: what is left of it joins the next."""
    properties = child(paragraph, "pPr")
    marks = None if properties is None else child(properties, "rPr")
    return marks is not None and child(marks, "del") is not None


def _texts(element: Any) -> Iterator[str]:
    for part in _parts(element):
        name = local_name(part)
        if name == "t":
            yield _shown(part.text or "", part.getparent())
        elif name == "sym":
            yield sign_of(attribute(part, "font"), attribute(part, "char"))
        elif name == "r" and _is_hidden(part):
            continue
        elif name in _AS_TEXT:
            yield _AS_TEXT[name]
        elif name in ("checkBox", "ddList"):
            yield _answer(part, name)
        elif name == "oMath":
            yield formula_text(part)
        else:
            yield from _texts(part)


def _is_hidden(run: Any) -> bool:
    """True where nobody who opens the document sees a run."""
    properties = child(run, "rPr")
    return properties is not None and _is_on(properties, "vanish")


def _shown(text: str, run: Any) -> str:
    """The text of a run as its properties have it drawn: raised, or in a font of signs."""
    properties = child(run, "rPr")
    if properties is None:
        return text
    if has_signs(text):
        fonts = child(properties, "rFonts")
        font = "" if fonts is None else attribute(fonts, "ascii") or attribute(fonts, "hAnsi")
        text = with_signs(font, text)
    return superscript(text) if value_of(properties, "vertAlign") == "superscript" else text


def _answer(field: Any, name: str) -> str:
    """The answer of a form's field that has no text: a mark, or the entry that was chosen."""
    if name == "checkBox":
        state = "checked" if child(field, "checked") is not None else "default"
        return "☒" if _is_on(field, state) else "☐"
    entries = [attribute(entry, "val") for entry in within(field, "listEntry")]
    chosen = value_of(field, "result") or value_of(field, "default") or "0"
    return next((text for place, text in enumerate(entries) if str(place) == chosen), "")


def _parts(element: Any) -> Iterator[Any]:
    """Children that count; of alternatives for newer and older programs, the first."""
    if local_name(element) == "AlternateContent":
        yield from list(children(element))[:1]
        return
    for part in children(element):
        if local_name(part) not in _LEFT_OUT:
            yield part


def boxes(paragraph: Any) -> Iterator[Any]:
    """The contents of the text boxes anchored in a paragraph; a box within a box is its own."""
    for box in paragraph.iter("{*}txbxContent"):
        if not _is_under(box, paragraph, ("Fallback", "txbxContent", "del")):
            yield box


def charts(anchor: Any) -> Iterator[str]:
    """The relations of the charts in a paragraph or table."""
    for chart in anchor.iter(f"{{{_CHART}}}chart"):
        if not _is_under(chart, anchor, ("Fallback", "txbxContent", "del")):
            yield attribute(chart, "id")


def _is_under(element: Any, top: Any, names: tuple[str, ...]) -> bool:
    """True where one of ``names`` lies between; a Fallback says again what its Choice says."""
    while (element := element.getparent()) is not None and element is not top:
        if local_name(element) in names:
            return True
    return False


def table_rows(rows: Iterable[Any], text_of: Callable[[Any], str]) -> Iterator[Row]:
    """Rows numbered from 1; a cell merged downwards is repeated, each row being a line.

    ``text_of`` gives the text of a paragraph.
    """
    above: Cells = []
    for number, row in enumerate(rows, 1):
        properties = child(row, "trPr")
        if properties is not None and child(properties, "del") is not None:
            yield Row(number, [])
            continue
        cells: Cells = [""] * _columns(properties, "gridBefore", 0)
        spans: dict[int, int] = {}
        for cell in within(row, "tc"):
            span, joined = _merging(cell)
            column = len(cells)
            text = above[column] if joined and column < len(above) else _cell_text(cell, text_of)
            cells += [text, *[""] * (span - 1)]
            if span > 1:
                spans[column] = span
        above = cells
        is_header = properties is not None and _is_on(properties, "tblHeader")
        yield Row(number, cells, spans, is_header)


def _is_on(properties: Any, name: str) -> bool:
    """True where a property is set: without a value it is."""
    return child(properties, name) is not None and value_of(properties, name) not in _OFF


_MOST_COLUMNS = 63  # Word's own limit
_OFF = ("0", "false", "off")


def _merging(cell: Any) -> tuple[int, bool]:
    """The number of columns that a cell takes, and whether it goes on from the one above."""
    properties = child(cell, "tcPr")
    if properties is None:
        return 1, False
    merge = child(properties, "vMerge")
    joined = merge is not None and attribute(merge, "val") != "restart"
    return _columns(properties, "gridSpan", 1), joined


def _columns(properties: Any, name: str, otherwise: int) -> int:
    """A count of columns; ``otherwise`` where none is given."""
    given = "" if properties is None else value_of(properties, name)
    return min(int(given), _MOST_COLUMNS) if re.fullmatch(r"[1-9]\d?", given) else otherwise


def _cell_text(cell: Any, text_of: Callable[[Any], str] = paragraph_text) -> str:
    """All paragraphs of a cell in one line, those of tables within it too."""
    found = (part for part in cell.iter("{*}p") if not _is_under(part, cell, ("Fallback",)))
    return one_line("\n".join(map(text_of, found)))


class Notes:
    """Footnotes and endnotes by their ids."""

    def __init__(self, part: Any) -> None:
        self._texts: dict[tuple[str, str], str] = {}
        for relation in part.rels.values():
            kind = relation.reltype.rpartition("/")[2]
            if kind in _NOTE_PARTS.values() and not relation.is_external:
                for note in children(parse_xml(relation.target_part.blob)):
                    self._texts[kind, attribute(note, "id")] = _cell_text(note)

    def of(self, paragraph: Any) -> Iterator[str]:
        """The notes a paragraph refers to, in order, as "Footnote: …"."""
        for name, kind in _NOTE_PARTS.items():
            for reference in paragraph.iter("{*}" + name):
                if text := self._texts.get((kind, attribute(reference, "id"))):
                    yield f"{_CALLED[name]}: {text}"
