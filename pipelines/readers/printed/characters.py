"""The characters of a PDF page in bulk: their text, boxes and fonts, at the least cost a call."""

from __future__ import annotations

import ctypes
import re
from array import array
from collections import deque
from collections.abc import Sequence
from itertools import repeat, starmap
from math import hypot
from typing import Any

from helix.sandbox.pdfium.document import PageText
from helix.sandbox.pdfium.library import Handle, function
from pipelines.readers.printed.frame import Column

_BOLD_WEIGHT = 600
_BOLD_NAME = re.compile(rb"bold|black|heavy|(?:^|[-+,])(?:semi|demi)|demi\d|[-,]bd", re.IGNORECASE)
_PLAIN_NAME = re.compile(rb"[-+,](?:regu|ital|obli)", re.IGNORECASE)
"""pdfium guesses a weight from the stems that a file states: 744 for Latin Modern's regular."""
_LONGEST_FONT_NAME = 128
_AT_ONCE = 2048  # boxes
_BOX = 16  # bytes of four floats
_CODE = 2  # bytes of UTF-16
_LOW = bytes(range(0x30))  # upper halves of codes below the first script without spaces


_COUNT = function("FPDFText_CountChars", ctypes.c_int)
_TEXT = function("FPDFText_GetText", ctypes.c_int)
_NUMBER = function("FPDFText_GetCharIndexFromTextIndex", ctypes.c_int)
_LOOSE_BOX = function("FPDFText_GetLooseCharBox")
_FONT_WEIGHT = function("FPDFText_GetFontWeight", ctypes.c_int)
_FONT_NAME = function("FPDFText_GetFontInfo", ctypes.c_ulong)
_FONT_SIZE = function("FPDFText_GetFontSize", ctypes.c_double)
_MATRIX = function("FPDFText_GetMatrix", ctypes.c_int)


class _BoxBuffer:
    """Room for boxes that pdfium fills in: made once, as its thousands of references are slow to
    make. pdfium is not thread-safe, so one is enough for a process."""

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(_BOX * _AT_ONCE)
        self._places = [ctypes.byref(self._buffer, _BOX * place) for place in range(_AT_ONCE)]

    def loose_boxes(self, page: Any, numbers: Sequence[int]) -> bytes:
        """At most ``_AT_ONCE`` boxes; zeros where pdfium has none.

        ``zip`` gives the same tuple again and again, which ``starmap`` hands on as it is.
        """
        size = _BOX * len(numbers)
        ctypes.memset(self._buffer, 0, size)
        calls = zip(repeat(page), numbers, self._places)
        deque(starmap(_LOOSE_BOX, calls), maxlen=0)
        return ctypes.string_at(self._buffer, size)


_BOX_BUFFER = _BoxBuffer()


class PageCharacters:
    """The characters of a page whose text is open, as long as it is.

    ``text`` is all of it; ``has_high`` is whether any of it is beyond U+2FFF.
    """

    def __init__(self, page: PageText) -> None:
        # converted once: a handle is converted at each call, which is a third of its time
        self._page = Handle.from_param(page.handle.value)
        self._count = max(_COUNT(self._page), 0)
        buffer = bytearray(_CODE * (2 * self._count + 1))  # a character may take two codes
        written = 0
        if self._count:
            place = ctypes.byref(ctypes.c_char.from_buffer(buffer))
            written = _TEXT(self._page, 0, self._count, place)
        end = _CODE * max(written - 1, 0)
        self.text = buffer[:end].decode("utf-16-le", "replace")
        self.has_high = not self.text.isascii() and bool(buffer[1:end:_CODE].translate(None, _LOW))
        self._name = ctypes.create_string_buffer(_LONGEST_FONT_NAME)
        self._name_at = ctypes.byref(self._name)
        self._name_size = ctypes.c_ulong.from_param(_LONGEST_FONT_NAME)
        self._flags_at = ctypes.byref(ctypes.c_int())
        self._bold: dict[bytes, bool] = {}

    def numbers(self, places: list[int]) -> list[int]:
        """pdfium's numbers of the characters at places of the text.

        pdfium counts characters that have no text, too.
        """
        if len(self.text) == self._count:
            return places
        return [max(_NUMBER(self._page, place), 0) for place in places]

    def boxes(self, numbers: Sequence[int]) -> Column:
        """Boxes as high as the font's line, in the coordinates of the file, y upwards.

        Left, top, right, bottom of each, one box after the other.
        """
        edges = array("f")
        for first in range(0, len(numbers), _AT_ONCE):
            some = numbers[first : first + _AT_ONCE]
            edges.frombytes(_BOX_BUFFER.loose_boxes(self._page, some))
        return edges

    def fonts(self, numbers: Sequence[int]) -> list[tuple[bytes, float]]:
        """The name of each character's font and the size that is set, in tenths of a point."""
        matrix = (ctypes.c_float * 6)()
        place = ctypes.byref(matrix)
        found = []
        for number in numbers:
            scale = hypot(matrix[2], matrix[3]) if _MATRIX(self._page, number, place) else 1.0
            size = round(_FONT_SIZE(self._page, number) * scale, 1)
            found.append((self._font_name(number), size))
        return found

    def is_bold(self, number: int) -> bool:
        """True where a character is bold: its font's name tells, or else its weight."""
        if not (name := self._font_name(number)):
            return False
        if (known := self._bold.get(name)) is not None:
            return known
        is_heavy = _FONT_WEIGHT(self._page, number) >= _BOLD_WEIGHT
        is_plain = _PLAIN_NAME.search(name) is not None
        is_bold = _BOLD_NAME.search(name) is not None or (is_heavy and not is_plain)
        self._bold[name] = is_bold
        return is_bold

    def _font_name(self, number: int) -> bytes:
        """The name of a character's font; b"" where it has none, or one beyond all measure."""
        size = _FONT_NAME(self._page, number, self._name_at, self._name_size, self._flags_at)
        return self._name.value if 0 < size <= _LONGEST_FONT_NAME else b""
