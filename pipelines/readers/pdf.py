"""PDF, page by page: the text that is there, and OCR for the pages that are only pictures.

pdfium is not thread-safe: one reader a process, which the sandbox sees to.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import takewhile

import pypdfium2 as pdfium  # type: ignore[import-untyped]
import pypdfium2.raw as pdfium_raw  # type: ignore[import-untyped]

from helix.domain.records import Section
from pipelines.readers import Progress, ReadText, UnreadableFile, ocr

_MOST_PAGES = 20_000
_SCANNED_BELOW = 50  # characters; a page with fewer and a picture is taken for a scan
_DOTS_PER_INCH = 200
_MOST_PIXELS = 6_000_000  # of a rendered page; A4 at 200 dpi has 3.9 million
_MOST_BOOKMARKS = 10_000
_LONGEST_TITLE = 200  # characters
_NEEDS_PASSWORD = pdfium_raw.FPDF_ERR_PASSWORD
_SECURITY = pdfium_raw.FPDF_ERR_SECURITY

_JUNK_TITLE = re.compile(
    r"untitled.*|(?:microsoft (?:word|powerpoint|excel)|powerpoint presentation)\b.*"
    r"|document\s*\d*|slide\s*\d*|title|none|null|.*\.(?:docx?|pptx?|xlsx?|pdf|tex|dvi|indd|rtf|txt|"
    r"html?|qxd|ps|odt|pages)|[\d\W_]*",
    re.IGNORECASE,
)
_CONTROLS = re.compile(r"[\x00-\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\uffff\xad]")
_HYPHEN = re.compile(
    r"(?<!\w)(\w{0,64})[\x02\ufffe]\s*(\w{0,64})"
)  # pdfium's marks for one at a line's end
_LINE_HYPHEN = re.compile(r"(?<![a-zà-öø-ÿ])([a-zà-öø-ÿ]{1,64})-\n([a-zà-öø-ÿ]{1,64})")
_WORD = re.compile(r"\w+(?:-\w+)*")

_Path = tuple[str, ...]


def read(data: bytes, progress: Progress) -> ReadText:
    """Raises UnreadableFile for an encrypted or damaged file, and for one without any text."""
    document = _open(data)
    try:
        count = len(document)
        if not count:
            raise UnreadableFile("a PDF file without pages")
        if count > _MOST_PAGES:
            raise UnreadableFile(f"more than {_MOST_PAGES} pages: split it into several files")
        pages, warnings = [], []
        for number in range(1, count + 1):
            text, warning = _page(document, number)
            pages.append(text)
            if warning:
                warnings.append(f"page {number}: {warning}")
            progress(number, count)
        if not any(pages):
            raise UnreadableFile(warnings[0] if warnings else "empty: there is no text in it")
        return _joined(_dehyphenated(pages), _title(document), _paths(document), warnings)
    finally:
        document.close()


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if error.err_code in (_NEEDS_PASSWORD, _SECURITY):
            raise UnreadableFile("encrypted: remove the password and ingest it again") from None
        raise UnreadableFile("a damaged PDF file: it cannot be opened") from None


def _joined(pages: list[str], title: str | None, paths: _Paths, warnings: list[str]) -> ReadText:
    parts: list[str] = []
    sections: list[Section] = []
    length = 0
    for number, page in enumerate(pages, start=1):
        if not page:
            continue
        gap = "\n\n" if parts else ""
        parts.append(gap + page)
        start, length = length + len(gap), length + len(gap) + len(page)
        sections.append(
            Section(
                start, length, heading_path=paths.at(number), page=number, label=f"page {number}"
            )
        )
    return ReadText("".join(parts), title, tuple(sections), tuple(warnings))


def _page(document: pdfium.PdfDocument, number: int) -> tuple[str, str | None]:
    """(text, warning) of a page; a truly blank one has neither."""
    try:
        page = document[number - 1]
    except pdfium.PdfiumError:
        return "", "it is damaged and cannot be read"
    try:
        text = _text(page)
        if len(text) >= _SCANNED_BELOW or not _may_be_scanned(page, text):
            return text, None
        return _scanned(page, text)
    except pdfium.PdfiumError:
        return "", "it is damaged and cannot be read"
    finally:
        page.close()


def _text(page: pdfium.PdfPage) -> str:
    textpage = page.get_textpage()
    try:
        text = str(textpage.get_text_bounded())
    finally:
        textpage.close()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text).strip().strip("\ufffe\x02")


def _may_be_scanned(page: pdfium.PdfPage, text: str) -> bool:
    """Whether it shows a picture, or anything at all where it has no text."""
    wanted = [pdfium_raw.FPDF_PAGEOBJ_IMAGE] if text else None
    return next(iter(page.get_objects(filter=wanted, max_depth=5)), None) is not None


def _scanned(page: pdfium.PdfPage, text: str) -> tuple[str, str | None]:
    width, height = page.get_size()  # in points, 72 to the inch
    scale = _DOTS_PER_INCH / 72
    scale = min(scale, (_MOST_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=False, prefer_bgrx=False)
    try:
        image = bitmap.to_numpy()[:, :, :3] if bitmap.n_channels > 1 else None
        if image is None:
            image = bitmap.to_numpy().reshape(bitmap.height, bitmap.width, 1).repeat(3, axis=2)
        if image.min() == image.max():  # blank
            return text, None
        found = ocr.text_of(image)
    except ocr.OcrMissing:
        return text, ocr.MISSING
    except ocr.OcrFailed as failed:
        return text, str(failed)
    finally:
        bitmap.close()
    found = _CONTROLS.sub("", found).strip()
    if len(found) > len(text):
        return found, None
    return text, None if text else "a picture without text that OCR can read"


def _dehyphenated(pages: list[str]) -> list[str]:
    """Words cut at a line's end put together, the hyphen kept where the word has one.

    pdfium marks both the same way. A word stays hyphenated where the document has it so elsewhere,
    or has both halves as words but not the whole ("stock-based" in a 10-Q, where nothing else is
    cut); in all else it is a word cut by typesetting.
    """
    uncut = (_LINE_HYPHEN.sub(" ", _HYPHEN.sub(" ", page)) for page in pages)
    words = {word.lower() for page in uncut for word in _WORD.findall(page)}

    def join(match: re.Match[str]) -> str:
        left, right = match.groups()
        both = f"{left}-{right}".lower()
        if not left or not right or not (left[-1].islower() and right[0].islower()):
            return f"{left}-{right}"
        whole = f"{left}{right}"
        if whole.lower() in words:
            return whole
        cut = both in words or (left.lower() in words and right.lower() in words)
        return f"{left}-{right}" if cut else whole

    joined = (_LINE_HYPHEN.sub(join, _HYPHEN.sub(join, page)) for page in pages)
    return [page.replace("\x02", "-").replace("\ufffe", "-") for page in joined]


def _title(document: pdfium.PdfDocument) -> str | None:
    title = " ".join(_CONTROLS.sub("", document.get_metadata_value("Title")).split())
    title = title.replace("\ufffe", "").replace("\x02", "")[:_LONGEST_TITLE].strip()
    return None if _JUNK_TITLE.fullmatch(title) else title


class _Paths:
    """Heading paths of pages, from (page from 1, path) of the bookmarks."""

    def __init__(self, bookmarks: list[tuple[int, _Path]]) -> None:
        self._marks = sorted(bookmarks, key=lambda mark: mark[0])
        self._pages = [page for page, _ in self._marks]

    def at(self, page: int) -> _Path:
        """What a page is under: the bookmark that it holds, or the last before it.

        Of several on the page, what they have in common, for a text may be under any of them.
        """
        last = bisect_right(self._pages, page)
        here = [path for at, path in self._marks[bisect_right(self._pages, page - 1) : last]]
        if len(here) > 1:
            levels = zip(*here, strict=False)
            common = tuple(names[0] for names in takewhile(lambda n: len(set(n)) == 1, levels))
            return common or here[0]
        return self._marks[last - 1][1] if last else ()


def _paths(document: pdfium.PdfDocument) -> _Paths:
    return _Paths(list(_bookmarks(document)))


def _bookmarks(document: pdfium.PdfDocument) -> Iterator[tuple[int, _Path]]:
    path: list[str] = []
    try:
        for number, bookmark in enumerate(document.get_toc()):
            if number == _MOST_BOOKMARKS:
                return
            title = " ".join(_CONTROLS.sub("", bookmark.get_title()).split())[:_LONGEST_TITLE]
            path[bookmark.level :] = [title]
            destination = bookmark.get_dest()
            index = destination.get_index() if destination else None
            if index is not None and title:
                yield index + 1, tuple(filter(None, path))
    except pdfium.PdfiumError:  # a damaged outline is no reason to lose the text
        return
