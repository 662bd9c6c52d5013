"""The characters of a PDF page in bulk: their text, boxes and fonts, at the least cost a call."""

from __future__ import annotations

import ctypes
import re
from collections import deque
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from helix.pdfium.document import PageText
from helix.pdfium.library import Handle, function
from pipelines.readers.printed.frame import Boxes

_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy|(?:^|[-+,])(?:semi|demi)|[-,]bd", re.IGNORECASE)
_LONGEST_FONT_NAME = 128
_LINE_END = ord("\n")
_AT_ONCE = 2048  # boxes
_EDGES = 4  # floats of a box


_COUNT = function("FPDFText_CountChars", ctypes.c_int)
_TEXT = function("FPDFText_GetText", ctypes.c_int)
_NUMBER = function("FPDFText_GetCharIndexFromTextIndex", ctypes.c_int)
_LOOSE_BOX = function("FPDFText_GetLooseCharBox")
_FONT_WEIGHT = function("FPDFText_GetFontWeight", ctypes.c_int)
_FONT_NAME = function("FPDFText_GetFontInfo", ctypes.c_ulong)


class _BoxBuffer:
    """Room for boxes that pdfium fills in: made once, as its thousands of references are slow to
    make. pdfium is not thread-safe, so one is enough for a process."""

    def __init__(self) -> None:
        size = ctypes.sizeof(ctypes.c_float) * _EDGES
        buffer = ctypes.create_string_buffer(size * _AT_ONCE)
        self._places = [ctypes.byref(buffer, size * place) for place in range(_AT_ONCE)]
        self._boxes: Boxes = np.frombuffer(memoryview(buffer), np.float32).reshape(-1, _EDGES)

    def loose_boxes(self, page: Handle, numbers: list[int]) -> Boxes:
        """At most ``_AT_ONCE`` boxes; zeros where pdfium has none."""
        boxes = self._boxes[: len(numbers)]
        boxes[:] = 0
        deque(map(_LOOSE_BOX, repeat(page), numbers, self._places), maxlen=0)
        return boxes.copy()


_BOX_BUFFER = _BoxBuffer()


class PageCharacters:
    """The characters of a page whose text is open, as long as it is.

    ``text`` is all of it, ``codes`` its UTF-16.
    """

    def __init__(self, page: PageText) -> None:
        self._page = page.handle
        self._count = max(_COUNT(self._page), 0)
        buffer = np.empty(2 * self._count + 1, np.uint16)  # a character may take two
        written = 0
        if self._count:
            place = ctypes.c_void_p(buffer.ctypes.data)
            written = _TEXT(self._page, 0, self._count, place)
        self.codes: NDArray[np.uint16] = buffer[: max(written - 1, 0)]
        self.text = self.codes.tobytes().decode("utf-16-le", "replace")
        self._name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
        self._name_at = ctypes.byref(self._name)
        self._name_size = ctypes.c_ulong(_LONGEST_FONT_NAME)
        self._flags_at = ctypes.byref(ctypes.c_int())
        self._bold: dict[bytes, bool] = {}

    @property
    def line_ends(self) -> NDArray[np.intp]:
        """Where in the text pdfium's lines end."""
        if len(self.codes) == len(self.text):
            return np.flatnonzero(self.codes == _LINE_END)
        return np.array([match.start() for match in re.finditer("\n", self.text)], np.intp)

    def numbers(self, places: NDArray[np.int32]) -> NDArray[np.int32]:
        """pdfium's numbers of the characters at places of the text.

        pdfium counts characters that have no text, too.
        """
        if len(self.text) == self._count:
            return places
        found = list(map(_NUMBER, repeat(self._page), places.ravel().tolist()))
        return np.maximum(np.array(found, np.int32), 0).reshape(places.shape)

    def boxes(self, numbers: NDArray[np.int32]) -> Boxes:
        """Boxes as high as the font's line, in the coordinates of the file: left, top, right,
        bottom, y upwards."""
        given = numbers.tolist()
        parts = [
            _BOX_BUFFER.loose_boxes(self._page, given[first : first + _AT_ONCE])
            for first in range(0, len(given), _AT_ONCE)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, _EDGES), np.float32)

    def is_bold(self, number: int) -> bool:
        """Whether a character is, by its font's name, or by its weight where that does not tell."""
        size = _FONT_NAME(self._page, number, self._name_at, self._name_size, self._flags_at)
        if not 0 < size <= _LONGEST_FONT_NAME:
            return False
        name = self._name.value
        if name not in self._bold:
            is_heavy = _FONT_WEIGHT(self._page, number) >= _BOLD_WEIGHT
            self._bold[name] = is_heavy or _BOLD_NAME.search(name) is not None
        return self._bold[name]
