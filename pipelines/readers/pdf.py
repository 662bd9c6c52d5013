"""PDF as it is printed: text in reading order, tables, boxes; OCR for pages that are only pictures.

Every page is read first, as words with boxes; then, as only all pages tell what is furniture and
how large the text is, they are written one after the other. pdfium is not thread-safe: one reader a
process, which the sandbox sees to.
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from helix.domain.pages import LONGEST_SIDE
from helix.sandbox.pdfium.document import (
    NEEDS_PASSWORD,
    UNKNOWN_SECURITY,
    Document,
    Page,
    PdfiumError,
)
from helix.sandbox.pdfium.objects import IMAGE, draw, kinds
from pipelines.readers import Progress, ReadText, UnreadableFile, ocr
from pipelines.readers.printed.bookmarks import Bookmarks
from pipelines.readers.printed.frame import Frame
from pipelines.readers.printed.furniture import EdgeRow, edge_rows, furniture_of
from pipelines.readers.printed.hyphens import Vocabulary
from pipelines.readers.printed.layout import TableFinder, asides, laid_out, largest_heading
from pipelines.readers.printed.monospaced import MonospacedWidths
from pipelines.readers.printed.pages import DocumentWriter
from pipelines.readers.printed.rules import PackedRules, packed_rules, unpacked
from pipelines.readers.printed.tables import find_tables
from pipelines.readers.printed.words import (
    UNPRINTED,
    PageWords,
    may_have_tables,
    numbers_of,
    page_words,
    printed,
)

_MOST_PAGES = 20_000
_SCANNED_BELOW = 50  # characters; a page with fewer and a picture is taken for a scan
_DOTS_PER_INCH = 200
_MOST_PIXELS = 6_000_000  # of a rendered page; A4 at 200 dpi has 3.9 million
_LETTER = (612.0, 792.0)  # points, of a page that is too damaged to have a size
_TOO_LARGE = f"a side of it is longer than {LONGEST_SIDE:,.0f} points: it is not read"
_LARGEST = 200.0  # points of a letter whose size is counted
_LONGEST_TITLE = 200  # characters
_DEEPEST_FORM = 5  # forms in forms: one may hold itself

_JUNK_TITLE = re.compile(
    r"untitled.*|(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation)\b.*"
    r"|\((?:anonymous|unspecified)\)|document\s*\d*|slide\s*\d*|title|none|null|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|rtf|txt|"
    r"html?|qxd|ps|odt|pages)|[\d\W_]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A page as it was read: its words and what is drawn, or the text that OCR gave."""

    frame: Frame
    words: PageWords | None = None
    rules: PackedRules | None = None
    edges: tuple[EdgeRow, ...] = ()
    text: str = ""
    warning: str | None = None


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile for an encrypted or damaged file, and for one without any text."""
    with _without_collection():
        return _read(data, progress)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Python's collector of objects that refer to each other would find a few hundred a file.

    For them it would look at the words of all pages again and again.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _read(data: bytes, progress: Progress) -> ReadText:
    document = _open(data)
    try:
        count = len(document)
        if not count:
            raise UnreadableFile("a PDF file without pages")
        if count > _MOST_PAGES:
            raise UnreadableFile(f"more than {_MOST_PAGES} pages: split it into several files")
        sheets = []
        for number in range(1, count + 1):
            sheets.append(_sheet(document, number))
            progress(number, count)
        title, bookmarks = _title(document), Bookmarks.of(document)
    finally:
        document.close()
    warnings = [f"page {n}: {sheet.warning}" for n, sheet in enumerate(sheets, 1) if sheet.warning]
    if not any(sheet.words or sheet.text for sheet in sheets):
        raise UnreadableFile(warnings[0] if warnings else "empty: there is no text in it")
    return _written(sheets, title, bookmarks, warnings)


def _written(
    sheets: list[_Sheet], title: str | None, bookmarks: Bookmarks | None, warnings: list[str]
) -> ReadText:
    """The document of all pages; each is let go once it is written."""
    furniture = furniture_of([sheet.edges for sheet in sheets])
    body_size = _body_size(sheets)
    vocabulary = Vocabulary([sheet.words.text for sheet in sheets if sheet.words])
    writer = DocumentWriter(vocabulary)
    writer.draft.warnings += warnings
    heading, widths = "", MonospacedWidths()
    for index, page_furniture in enumerate(furniture):
        sheet, sheets[index] = sheets[index], _Sheet(sheets[index].frame)
        marks = bookmarks.on(index + 1) if bookmarks else None
        if sheet.words is None:
            writer.add_text(sheet.text, sheet.frame, marks)
            continue
        words = sheet.words.words()
        taken = page_furniture.numbers.union(numbers_of(sheet.words.aside))
        body = list(range(len(words)))
        for number in sorted(taken, reverse=True):  # from the last on: places before it hold
            del body[number]
        find = _finder(sheet.rules, index + 1)
        items = laid_out(words, body, find, body_size, widths)
        items += asides(sheet.words, words)
        heading = heading if index else largest_heading(items)
        writer.add_page(sheet.words, words, page_furniture, items, marks)
    return replace(writer.finish(title), heading=heading or None)


def _finder(rules: PackedRules | None, page: int) -> TableFinder | None:
    """A finder of the tables of a page; None for a page that cannot have any."""
    if rules is None:
        return None
    return lambda words: find_tables(words, unpacked(rules), page)


def _body_size(sheets: Iterable[_Sheet]) -> float:
    """The size that most letters of the document have."""
    letters: Counter[float] = Counter()
    for sheet in sheets:
        if words := sheet.words:
            for size in sorted(words.letters):  # of sizes as frequent the same one always wins
                # to a quarter of a point: one size of print differs by its rounding
                letters[round(4 * min(size, _LARGEST)) / 4] += words.letters[size]
    return max(letters, key=letters.__getitem__) if letters else 1.0


def _open(data: bytes) -> Document:
    try:
        return Document(data)
    except PdfiumError as error:
        if error.code == NEEDS_PASSWORD:
            raise UnreadableFile("encrypted: remove the password and ingest it again") from None
        if error.code == UNKNOWN_SECURITY:
            raise UnreadableFile("protected (DRM or a certificate): save it unprotected") from None
        raise UnreadableFile("a damaged PDF file: it cannot be opened") from None


def _sheet(document: Document, number: int) -> _Sheet:
    """A page as it is; a truly blank one has neither words nor a warning."""
    frame = Frame(*_LETTER)
    try:
        page = document[number - 1]
        try:
            if max(page.size) > LONGEST_SIDE:
                return _Sheet(frame, warning=_TOO_LARGE)
            frame = Frame(*page.size)
            return _read_sheet(page, number)
        finally:
            page.close()
    except PdfiumError:
        return _Sheet(frame, warning="it is damaged and cannot be read")


def _read_sheet(page: Page, number: int) -> _Sheet:
    characters = page.text()
    try:
        words = page_words(page, characters)
    finally:
        characters.close()
    if len(words.text) < _SCANNED_BELOW:
        text = printed(" ".join(filter(None, words.texts())))
        if _may_be_scanned(page, text):
            found, warning = _scanned(page, text)
            if found != text or not text:
                return _Sheet(words.frame, text=found, warning=warning)
            # OCR had nothing to add: words of the page itself have boxes, OCR's have none
            return _Sheet(words.frame, words, edges=edge_rows(words, number), warning=warning)
    if not len(words):
        return _Sheet(words.frame)
    rules = packed_rules(page, words.frame.turn) if may_have_tables(words) else None
    return _Sheet(words.frame, words, rules, edge_rows(words, number))


def _may_be_scanned(page: Page, text: str) -> bool:
    """True where the page shows a picture, or anything at all where it has no text."""
    return any(kind == IMAGE or not text for kind in kinds(page, _DEEPEST_FORM))


def _scanned(page: Page, text: str) -> tuple[str, str | None]:
    width, height = page.size  # in points, 72 to the inch
    scale = _DOTS_PER_INCH / 72
    scale = min(scale, (_MOST_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = draw(page, scale, red_first=False)  # as OpenCV has pixels, on which OCR is built
    if bitmap.is_blank:
        return text, None
    try:
        found = ocr.text_of(bitmap)
    except ocr.OcrMissing:
        return text, ocr.MISSING
    except ocr.OcrFailed as failed:
        return text, str(failed)
    found = UNPRINTED.sub("", found).strip()
    if len(found) > len(text):
        return found, None
    return text, None if text else "a picture without text that OCR can read"


def _title(document: Document) -> str | None:
    title = " ".join(UNPRINTED.sub("", document.metadata("Title")).split())
    title = title[:_LONGEST_TITLE].strip()
    return None if _JUNK_TITLE.fullmatch(title) else title
