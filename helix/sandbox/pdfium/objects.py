"""Objects drawn on a page: text, paths, images, and forms that hold more of them."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

from helix.sandbox.pdfium.document import Page, PdfiumError
from helix.sandbox.pdfium.library import Handle, function, handle

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
