"""ODP: a section a slide, its title first, then its shapes as they are read, then the notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from helix.domain.tables import Table
from pipelines.readers import Progress, ReadText
from pipelines.readers.draft import Draft
from pipelines.readers.odf import attribute, children, opened, raised_spans
from pipelines.readers.odf_body import Body, Styles
from pipelines.readers.odf_tables import paragraphs, shown_text
from pipelines.readers.office import local_name
from pipelines.readers.outline import short_title
from pipelines.readers.slides import Piece, add_slide, title_of
from pipelines.readers.superscripts import write_superscripts
from pipelines.readers.table_heads import Row
from pipelines.readers.tables import small_tables

_NOT_CONTENT = frozenset(("header", "footer", "date-time", "page-number", "notes"))
_LENGTH = re.compile(r"(-?[0-9]{1,6}(?:\.[0-9]{1,9})?)(cm|mm|in|pt|pc|px)?")
_INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1, "pt": 1 / 72, "pc": 1 / 6, "px": 1 / 96}
_ROW_OF_SHAPES = 0.25  # inches: shapes that near stand side by side


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections labelled "slide 3" with the slide's number as page, hidden slides included.

    Raises:
        UnreadableFile: encrypted, damaged, or without text.
    """
    draft = Draft()
    with opened(data, "OpenDocument presentation") as package:
        content = package.xml("content.xml")
        write_superscripts(raised_spans(content))
        styles = Styles(*package.styles(), content)
        pages = content.findall("{*}body/{*}presentation/{*}page")
        titles: list[str] = []
        for number, page in enumerate(pages, 1):
            out = _Slide(draft.warnings)
            _write(page, Body(package, styles, out), out)
            titles.append(title := short_title(_title(page)))
            add_slide(draft, number, title, out.pieces)
            progress(number, len(pages))
        told, metadata = package.properties()
        return replace(draft.finish(title_of(told, titles)), metadata=metadata)


class _Slide:
    """The pieces of a slide, as a body writes them."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.pieces: list[Piece] = []

    def heading(self, text: str, level: int, number: str = "") -> None:
        self.line(number + text)

    def item(self, text: str, depth: int, number: str) -> None:
        self.line(f"{'  ' * depth}{number or '- '}{text}")

    def line(self, text: str) -> None:
        self.pieces.append(Piece(text))

    def table(self, rows: Sequence[Row]) -> None:
        self.small_table(*small_tables(rows))

    def small_table(self, lines: str, tables: Sequence[Table]) -> None:
        if lines:
            self.pieces.append(Piece(lines, tables))


def _write(page: Any, body: Body, out: _Slide) -> None:
    shapes = sorted(_shapes(page), key=_place)
    body.walk(filter(_is_title, shapes))
    body.walk(shape for shape in shapes if not _is_title(shape))
    for frame in page.iterfind("{*}notes/{*}frame"):
        if attribute(frame, "class") == "notes" and (text := "\n".join(paragraphs(frame))):
            out.line(f"Notes: {text}")


def _shapes(parent: Any) -> Iterator[Any]:
    """The shapes of a slide, those of groups too; prompts and what every slide has are none."""
    for shape in children(parent):
        if local_name(shape) == "g":
            yield from _shapes(shape)
        elif local_name(shape) not in ("notes", "forms"):
            is_prompt = attribute(shape, "placeholder") == "true"
            if not is_prompt and attribute(shape, "class") not in _NOT_CONTENT:
                yield shape


def _is_title(shape: Any) -> bool:
    return attribute(shape, "class") == "title"


def _title(page: Any) -> str:
    return " ".join(shown_text(shape) for shape in _shapes(page) if _is_title(shape))


def _place(shape: Any) -> tuple[float, float]:
    """From the top, and from the left among those side by side."""
    top, left = (_inches(attribute(shape, one) or attribute(shape, f"{one}1")) for one in "yx")
    return top // _ROW_OF_SHAPES, left


def _inches(length: str) -> float:
    told = _LENGTH.fullmatch(length)
    return float(told[1]) * _INCHES[told[2] or "px"] if told else 0.0
