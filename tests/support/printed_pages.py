"""PDF pages drawn for tests: text at places, lines, rotation, columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from helix.sandbox.pdfium.document import Document, Page, PageText
from pipelines.readers.printed.rules import Rule, packed_rules, unpacked
from pipelines.readers.printed.words import Word, page_words

Drawing = Callable[[Canvas], None]

WIDTH, HEIGHT = 600, 800  # points


def drawn(*pages: Drawing, rotation: int = 0, title: str = "") -> bytes:
    """A PDF file with a page of 600 x 800 points a drawing, shown turned clockwise."""
    buffer = io.BytesIO()
    size = (WIDTH, HEIGHT) if rotation % 180 == 0 else (HEIGHT, WIDTH)  # as the page is shown
    canvas = Canvas(buffer, pagesize=size, invariant=True)
    canvas.setTitle(title)
    for draw in pages:
        canvas.setPageRotation(rotation)
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def put(
    canvas: Canvas, left: float, top: float, *lines: str,
    size: float = 10, bold: bool = False, leading: float | None = None,
) -> None:  # fmt: skip
    """Lines of text below each other, the top of the first so far from the page's top."""
    canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size)
    for number, line in enumerate(lines):
        canvas.drawString(left, HEIGHT - top - size - number * (leading or 1.2 * size), line)


@contextmanager
def opened(data: bytes) -> Iterator[tuple[Page, PageText]]:
    """The first page of a file and its text, closed afterwards."""
    with Document(data) as document:
        page = document[0]
        text = page.text()
        try:
            yield page, text
        finally:
            text.close()
            page.close()


def words_of(page: Page, text: PageText) -> list[Word]:
    """The upright words of a page, in the order of its file."""
    packed = page_words(page, text)
    return packed.words().chosen([n for n, aside in enumerate(packed.aside) if not aside])


def rules_of(page: Page) -> list[Rule]:
    """The rules of a page as it is shown."""
    return unpacked(packed_rules(page))
