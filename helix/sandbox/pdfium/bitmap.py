"""Pages as pixels."""

from __future__ import annotations

import ctypes
import math
from typing import NamedTuple

from helix.sandbox.pdfium.document import Page, PdfiumError
from helix.sandbox.pdfium.library import function, handle

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
