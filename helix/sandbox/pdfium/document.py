"""PDF files as pdfium has them: documents, their pages and bookmarks."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from typing import NamedTuple, Self

from helix.sandbox.pdfium.library import Handle, function, handle, utf16_text

_FAILED = "pdfium cannot"
_DEEPEST = 15  # levels of bookmarks

_LOAD_DOCUMENT = function("FPDF_LoadMemDocument64", ctypes.c_void_p)
_CLOSE_DOCUMENT = function("FPDF_CloseDocument")
_LAST_ERROR = function("FPDF_GetLastError", ctypes.c_ulong)
_PAGE_COUNT = function("FPDF_GetPageCount", ctypes.c_int)
_META_TEXT = function("FPDF_GetMetaText", ctypes.c_ulong)
_LOAD_PAGE = function("FPDF_LoadPage", ctypes.c_void_p)
_CLOSE_PAGE = function("FPDF_ClosePage")
_WIDTH = function("FPDF_GetPageWidthF", ctypes.c_float)
_HEIGHT = function("FPDF_GetPageHeightF", ctypes.c_float)
_ROTATION = function("FPDFPage_GetRotation", ctypes.c_int)
_BOUNDING_BOX = function("FPDF_GetPageBoundingBox", ctypes.c_int)
_FLATTEN = function("FPDFPage_Flatten", ctypes.c_int)
_ANNOTATION_COUNT = function("FPDFPage_GetAnnotCount", ctypes.c_int)
_ANNOTATION = function("FPDFPage_GetAnnot", ctypes.c_void_p)
_SUBTYPE = function("FPDFAnnot_GetSubtype", ctypes.c_int)
_FLAGS = function("FPDFAnnot_GetFlags", ctypes.c_int)
_SET_FLAGS = function("FPDFAnnot_SetFlags", ctypes.c_int)
_CLOSE_ANNOTATION = function("FPDFPage_CloseAnnot")
_OPEN_FORM = function("FPDFDOC_InitFormFillEnvironment", ctypes.c_void_p)
_CLOSE_FORM = function("FPDFDOC_ExitFormFillEnvironment")
_FILL_PAGE = function("FORM_OnAfterLoadPage")
_LEAVE_PAGE = function("FORM_OnBeforeClosePage")
_RECTANGLE = function("FPDFAnnot_GetRect", ctypes.c_int)
_VALUE = function("FPDFAnnot_GetFormFieldValue", ctypes.c_ulong)
_CHARACTER_COUNT = function("FPDFText_CountChars", ctypes.c_int)
_TEXT_WITHIN = function("FPDFText_GetBoundedText", ctypes.c_int)
_LOAD_TEXT = function("FPDFText_LoadPage", ctypes.c_void_p)
_CLOSE_TEXT = function("FPDFText_ClosePage")
_FIRST_CHILD = function("FPDFBookmark_GetFirstChild", ctypes.c_void_p)
_NEXT_SIBLING = function("FPDFBookmark_GetNextSibling", ctypes.c_void_p)
_BOOKMARK_TITLE = function("FPDFBookmark_GetTitle", ctypes.c_ulong)
_DESTINATION = function("FPDFBookmark_GetDest", ctypes.c_void_p)
_DESTINATION_PAGE = function("FPDFDest_GetDestPageIndex", ctypes.c_int)

_WITH_WORDS = frozenset({3, 13, 20})  # FPDF_ANNOT_FREETEXT, _STAMP, _WIDGET
_HIDDEN, _NO_VIEW = 0x02, 0x20  # FPDF_ANNOT_FLAG_HIDDEN, _NOVIEW
_MOST_COMPARED = 50_000_000  # characters of a page, for each of its fields all of them
_FORM_INFO = (2).to_bytes(4, sys.byteorder) + bytes(1020)
"""``FPDF_FORMFILLINFO``, version 2, without a function, and longer than it is."""
_AS_SHOWN, _FLATTENED = 0, 1  # FLAT_NORMALDISPLAY, FLATTEN_SUCCESS
NEEDS_PASSWORD, UNKNOWN_SECURITY = 4, 5
"""Values of ``PdfiumError.code``, ``FPDF_ERR_PASSWORD`` and ``FPDF_ERR_SECURITY`` of fpdfview.h."""


class PdfiumError(Exception):
    """pdfium could not do what it was asked for; ``code`` is its own where it has one."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code


class Bookmark(NamedTuple):
    """An entry of a document's outline: its level and its page count from 0, None for no page."""

    level: int
    title: str
    page: int | None


class Document:
    """An open PDF file, from its bytes. ``close`` it, or use it as a context manager.

    Raises PdfiumError for a file that is damaged, encrypted or without pages.
    """

    def __init__(self, data: bytes) -> None:
        self._data = data  # pdfium reads from it as long as it is open
        self._form, self._form_info = handle(None), ctypes.create_string_buffer(_FORM_INFO)
        self._handle = handle(_LOAD_DOCUMENT(data, ctypes.c_size_t(len(data)), None))
        if not self._handle or _PAGE_COUNT(self._handle) < 1:
            code = _LAST_ERROR()
            self.close()
            raise PdfiumError(f"{_FAILED} open the file", code)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(_PAGE_COUNT(self._handle))

    def __getitem__(self, index: int) -> Page:
        """The page at ``index``, from 0. Raises PdfiumError where it cannot be read.

        What its form was filled with, and what was written upon it, is part of it.
        """
        page = self._loaded(index)
        if not page.shows_words_upon_it() or not self._flattened(page):
            return page
        page.close()  # pdfium has read it as it was
        return self._loaded(index)

    def _flattened(self, page: Page) -> bool:
        """Make what stands upon a page part of it, fields that only have a value as well."""
        if not self._form:
            self._form = handle(_OPEN_FORM(self._handle, self._form_info))
        self._hide_doubles(page)
        _FILL_PAGE(page.handle, self._form)  # it draws them
        _LEAVE_PAGE(page.handle, self._form)
        return bool(_FLATTEN(page.handle, _AS_SHOWN) == _FLATTENED)

    def _hide_doubles(self, page: Page) -> None:
        """Hide fields in whose place the page itself has their value."""
        text = page.text()
        if _ANNOTATION_COUNT(page.handle) * _CHARACTER_COUNT(text.handle) <= _MOST_COMPARED:
            for annotation in page.annotations():
                value = "".join(utf16_text(_VALUE, self._form, annotation).split())
                if value and value == "".join(text.within(annotation, len(value)).split()):
                    _SET_FLAGS(annotation, _FLAGS(annotation) | _HIDDEN)
        text.close()

    def _loaded(self, index: int) -> Page:
        if not (page := _LOAD_PAGE(self._handle, index)):
            raise PdfiumError(f"{_FAILED} read page {index + 1}")
        return Page(handle(page))

    def close(self) -> None:
        """Its pages are to be closed before."""
        if self._form:
            _CLOSE_FORM(self._form)
            self._form = handle(None)
        if self._handle:
            _CLOSE_DOCUMENT(self._handle)
            self._handle = handle(None)

    def metadata(self, key: str) -> str:
        """A value of the document's information, such as "Title"; '' where it has none."""
        return utf16_text(_META_TEXT, self._handle, key.encode())

    def bookmarks(self) -> Iterator[Bookmark]:
        """The outline, depth first. One that leads back to itself ends there."""
        yield from self._bookmarks(handle(None), 0, set())

    def _bookmarks(self, parent: Handle, level: int, seen: set[int]) -> Iterator[Bookmark]:
        address = _FIRST_CHILD(self._handle, parent)
        while address and address not in seen:
            seen.add(address)
            bookmark = handle(address)
            title = utf16_text(_BOOKMARK_TITLE, bookmark)
            yield Bookmark(level, title, self._page_of(bookmark))
            if level < _DEEPEST - 1:
                yield from self._bookmarks(bookmark, level + 1, seen)
            address = _NEXT_SIBLING(self._handle, bookmark)

    def _page_of(self, bookmark: Handle) -> int | None:
        if not (destination := _DESTINATION(self._handle, bookmark)):
            return None
        page = int(_DESTINATION_PAGE(self._handle, handle(destination)))
        return page if page >= 0 else None


class Page:
    """A page of an open document; ``close`` it before that. ``handle`` is pdfium's."""

    __slots__ = ("handle",)

    def __init__(self, page: Handle) -> None:
        self.handle = page

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in points, as it is shown."""
        return _WIDTH(self.handle), _HEIGHT(self.handle)

    @property
    def quarter_turns(self) -> int:
        """Clockwise, by which it is shown: 0 to 3."""
        if (turns := int(_ROTATION(self.handle))) < 0:
            raise PdfiumError(f"{_FAILED} tell how a page is turned")
        return turns

    @property
    def bounding_box(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of what is shown, in the coordinates of the file."""
        box = (ctypes.c_float * 4)()  # FS_RECTF: left, top, right, bottom
        if not _BOUNDING_BOX(self.handle, box):
            raise PdfiumError(f"{_FAILED} tell the bounds of a page")
        left, top, right, bottom = box
        return left, bottom, right, top

    def shows_words_upon_it(self) -> bool:
        """True where it has fields of a form, or text that was written upon it.

        What a screen does not show is hidden: made part of the page, it would be seen.
        """
        found = False
        for annotation in self.annotations():
            if (flags := _FLAGS(annotation)) & _NO_VIEW:
                _SET_FLAGS(annotation, flags | _HIDDEN)
            found |= _SUBTYPE(annotation) in _WITH_WORDS and not flags & (_HIDDEN | _NO_VIEW)
        return found

    def annotations(self) -> Iterator[Handle]:
        """Annotations upon it; each is pdfium's until the next."""
        for number in range(_ANNOTATION_COUNT(self.handle)):
            if annotation := handle(_ANNOTATION(self.handle, number)):
                yield annotation
                _CLOSE_ANNOTATION(annotation)

    def text(self) -> PageText:
        """Its characters; to be closed before the page. Raises PdfiumError."""
        if not (text := _LOAD_TEXT(self.handle)):
            raise PdfiumError(f"{_FAILED} read the text of a page")
        return PageText(handle(text))

    def close(self) -> None:
        """Its text is to be closed before."""
        _CLOSE_PAGE(self.handle)


class PageText:
    """The characters of an open page; ``handle`` is pdfium's."""

    __slots__ = ("handle",)

    def __init__(self, text: Handle) -> None:
        self.handle = text

    def within(self, annotation: Handle, length: int) -> str:
        """The text in the place of an annotation, up to twice so many characters."""
        box = (ctypes.c_float * 4)()  # FS_RECTF
        if not _RECTANGLE(annotation, box):
            return ""
        buffer = ctypes.create_string_buffer(4 * length + 2)
        edges = map(ctypes.c_double, box)
        count = _TEXT_WITHIN(self.handle, *edges, buffer, 2 * length)
        return buffer.raw[: 2 * count].decode("utf-16-le", "replace").rstrip("\0")

    def close(self) -> None:
        """Frees them; nothing else may be asked of them after it."""
        _CLOSE_TEXT(self.handle)
