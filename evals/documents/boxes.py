"""Citations drawn on their pages: whether the text inside the rectangles is the quote."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pypdfium2  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from evals.documents.read_cells import squeezed
from helix.domain.pages import Box, PrintedPage, boxes_of, unpack_words
from helix.language.sentences import sentence_spans
from pipelines.readers import ReadText

_UNCOUNTED = re.compile("[\u00ad\ufffe\x02®™¹²³⁴⁵]")
_SHORTEST = 20
_LONGEST = 400
"""Characters of a sentence that is cited."""


@dataclass(frozen=True)
class Quote:
    """A quote of a document: ``text[start:end]``, a sentence or the cell of a table."""

    start: int
    end: int
    of_cell: bool = False


@dataclass(frozen=True)
class Drawn:
    """A quote beside what stands in its rectangles."""

    quote: str
    inside: str

    @property
    def same(self) -> bool:
        """True where both have the same letters, digits and signs in the same order.

        Raised marks (®, ¹) do not count: pdfium gives them after the line that they stand in.
        """
        return _compared(self.quote) == _compared(self.inside)


def _compared(text: str) -> str:
    return re.sub(r"[\s-]+", "", squeezed(_UNCOUNTED.sub("", text)))


def quotes(read: ReadText, count: int, seed: int) -> list[Quote]:
    """At most ``count`` quotes of a document: sentences of its prose and cells of its tables."""
    draw = random.Random(seed)
    tables = [(table.start, table.end) for table in read.tables]
    prose = [
        Quote(start, end)
        for section in read.sections
        if not section.rows
        for first, last in sentence_spans(read.text[section.start : section.end])
        for start, end in [(section.start + first, section.start + last)]
        if _SHORTEST <= end - start <= _LONGEST
        and not any(start < t_end and t_start < end for t_start, t_end in tables)
    ]
    cells = [Quote(c.start, c.end, True) for table in read.tables for c in table.cells]
    of_cells = draw.sample(cells, min(count // 3, len(cells)))
    return of_cells + draw.sample(prose, min(count - len(of_cells), len(prose)))


def drawn(data: bytes, read: ReadText, cited: Sequence[Quote]) -> Iterator[Drawn]:
    """Each quote with the text that pdfium finds inside its rectangles, page by page."""
    words = [(page, list(unpack_words(page.words))) for page in read.pages]
    with pypdfium2.PdfDocument(data) as document:
        letters: dict[int, list[_Letter]] = {}
        for quote in cited:
            inside = []
            for page, boxes in words:
                if not (hit := boxes_of(boxes, quote.start, quote.end)):
                    continue
                if page.number not in letters:
                    letters[page.number] = _letters(document[page.number - 1], page)
                inside += [_text_in(hit, letters[page.number])]
            yield Drawn(read.text[quote.start : quote.end], "".join(inside))


@dataclass(frozen=True)
class _Letter:
    text: str
    across: float
    down: float


def _letters(page: pypdfium2.PdfPage, printed: PrintedPage) -> list[_Letter]:
    """The characters of a page with their middle, in points from its top left as it is shown."""
    textpage = page.get_textpage()
    turn, found = page.get_rotation(), []
    left, bottom, right, top = page.get_cropbox()
    for place in range(textpage.count_chars()):
        code = pdfium.FPDFText_GetUnicode(textpage, place)
        text = chr(code)
        if not text.isprintable() or text.isspace():
            continue
        x0, y0, x1, y1 = textpage.get_charbox(place)
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        across, down = {
            0: (x - left, top - y),
            90: (y - bottom, x - left),
            180: (right - x, y - bottom),
            270: (top - y, right - x),
        }[turn]
        found.append(_Letter(text, across, down))
    return found


def _text_in(boxes: Sequence[Box], letters: Sequence[_Letter]) -> str:
    """The characters whose middle is inside one of the boxes, box by box."""
    return "".join(
        letter.text
        for box in boxes
        for letter in letters
        if box.left <= letter.across <= box.right and box.top <= letter.down <= box.bottom
    )
