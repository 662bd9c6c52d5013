"""A page as pixels; and the objects drawn on it: text, paths, images, forms that hold more."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import NamedTuple

from helix.sandbox.pdfium.document import Page, PdfiumError
from helix.sandbox.pdfium.library import Handle, function, handle

CHANNELS = 3
_BGR = 2  # FPDFBitmap_BGR
_WITH_ANNOTATIONS, _RED_FIRST = 0x01, 0x10  # FPDF_ANNOT, FPDF_REVERSE_BYTE_ORDER
_WHITE = 0xFFFFFFFF

_CREATE = function("FPDFBitmap_CreateEx", ctypes.c_void_p)
_FILL = function("FPDFBitmap_FillRect", ctypes.c_int)
_RENDER = function("FPDF_RenderPageBitmap")
_DESTROY = function("FPDFBitmap_Destroy")


class Bitmap(NamedTuple):
    """``height`` rows of ``width`` pixels, which are ``CHANNELS`` bytes each, without a gap."""

    width: int
    height: int
    pixels: memoryview

    @property
    def is_blank(self) -> bool:
        """True if the whole bitmap is of one grey."""
        size = CHANNELS * self.width
        row = bytes(self.pixels[:1]) * size
        starts = range(0, len(self.pixels), size)
        return all(self.pixels[start : start + size].tobytes() == row for start in starts)


def draw(page: Page, scale: float, *, red_first: bool) -> Bitmap:
    """A page on white with its annotations, at ``scale`` pixels a point.

    Bytes of a pixel are blue, green, red, or the other way with ``red_first``. Raises PdfiumError
    where the page cannot be drawn, MemoryError where there is no memory for it.
    """
    width, height = (math.ceil(side * scale) for side in page.size)
    if width < 1 or height < 1:
        raise PdfiumError("pdfium cannot draw a page without an area")
    pixels = (ctypes.c_ubyte * (CHANNELS * width * height))()
    bitmap = handle(_CREATE(width, height, _BGR, pixels, CHANNELS * width))
    if not bitmap:
        raise PdfiumError("pdfium cannot make a bitmap of this size")
    try:
        _FILL(bitmap, 0, 0, width, height, ctypes.c_ulong(_WHITE))
        flags = _WITH_ANNOTATIONS | (_RED_FIRST if red_first else 0)
        _RENDER(bitmap, page.handle, 0, 0, width, height, 0, flags)
    finally:
        _DESTROY(bitmap)
    return Bitmap(width, height, memoryview(pixels).cast("B"))


PATH, IMAGE, FORM = 2, 3, 5
"""``FPDF_PAGEOBJ_PATH``, ``_IMAGE`` and ``_FORM`` of fpdf_edit.h."""

_COUNT = function("FPDFPage_CountObjects", ctypes.c_int)
_OBJECT = function("FPDFPage_GetObject", ctypes.c_void_p)
_COUNT_IN_FORM = function("FPDFFormObj_CountObjects", ctypes.c_int)
_OBJECT_IN_FORM = function("FPDFFormObj_GetObject", ctypes.c_void_p)
_KIND = function("FPDFPageObj_GetType", ctypes.c_int)


def objects(page: Page, most: int) -> Iterator[tuple[Handle, int]]:
    """The first ``most`` objects of a page itself, each with its kind, in the order drawn."""
    for index in range(min(_COUNT(page.handle), most)):
        drawn = handle(_OBJECT(page.handle, index))
        yield drawn, _KIND(drawn)


def kinds(page: Page, levels: int) -> Iterator[int]:
    """The kinds of all objects, a form's after it, down to ``levels`` of forms in forms.

    Raises PdfiumError for a damaged page.
    """
    yield from _kinds(page.handle, levels, in_form=False)


def _kinds(parent: Handle, levels: int, *, in_form: bool) -> Iterator[int]:
    count, get = (_COUNT_IN_FORM, _OBJECT_IN_FORM) if in_form else (_COUNT, _OBJECT)
    number = count(parent)
    if number < 0:
        raise PdfiumError("pdfium cannot count the objects of a page")
    for index in range(number):
        if not (found := get(parent, index)):
            raise PdfiumError("pdfium cannot read an object of a page")
        drawn = handle(found)
        kind = _KIND(drawn)
        yield kind
        if kind == FORM and levels > 1:
            yield from _kinds(drawn, levels - 1, in_form=True)
