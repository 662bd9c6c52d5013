"""Drawing a page of a PDF as a PNG, in a confined process: pdfium is never let into a server."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helix.sandbox.frames import NoAnswer, Send, head
from helix.sandbox.pdfium.document import Document, PdfiumError
from helix.sandbox.pdfium.objects import CHANNELS, draw
from helix.sandbox.rendering.limits import IMAGE_FRAME, MOST_PIXELS

_LONGEST_SIDE = 16_384  # pixels: what browsers draw
# Text on white is few values in long runs. A page of a 10-Q in colour takes 15 to 25 ms so, where
# Pillow's encoder took 50 to 66 beside the same other work, for no smaller file.
_LEVEL = 1
_GREY, _COLOUR = 0, 2  # PNG's colour types, of 8 bits a channel
_UP = 2  # PNG's filter: the difference from the row above, nothing but zeros on white

_BAND = 64  # rows: they and what is made of them stay in the processor's cache

Pixels = NDArray[np.uint8]


def draw_in_frames(data: bytes, options: Mapping[str, Any], send: Send) -> Iterable[bytes]:
    """One frame: the PNG of page ``number`` of ``options``, from 1, at ``scale`` pixels a point.

    Raises:
        NoAnswer: the file or the page is damaged, or there is no such page.
    """
    image = _png(_drawn(data, options["number"], options["scale"]))
    return [head(IMAGE_FRAME, len(image)), image]


def _drawn(data: bytes, number: int, scale: float) -> Pixels:
    """(height, width, 3): red, green and blue."""
    try:
        document = Document(data)
    except PdfiumError:
        raise NoAnswer("the file is damaged or encrypted: its pages cannot be drawn") from None
    if not 1 <= number <= len(document):
        raise NoAnswer(f"there is no page {number}: the file has {len(document)}")
    try:
        page = document[number - 1]
        bitmap = draw(page, _possible(scale, *page.size), red_first=True)
    except PdfiumError:
        raise NoAnswer(f"page {number} is damaged and cannot be drawn") from None
    pixels = np.frombuffer(bitmap.pixels, np.uint8)
    return pixels.reshape(bitmap.height, bitmap.width, CHANNELS)


def _possible(scale: float, width: float, height: float) -> float:
    """``scale``, or less where a page of that size in points would have too many pixels."""
    by_area = math.sqrt(MOST_PIXELS / max(width * height, 1.0))
    by_side = _LONGEST_SIDE / max(width, height, 1.0)
    return min(scale, by_area, by_side)


def _png(pixels: Pixels) -> bytes:
    """Pixels of three channels as a PNG; in grey, a third of the bytes, where all are grey."""
    height, width = pixels.shape[:2]
    grey = all(map(_is_grey, _bands(pixels)))
    header = struct.pack(">IIBBBBB", width, height, 8, _GREY if grey else _COLOUR, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", _compressed(pixels[:, :, :1] if grey else pixels)),
            _chunk(b"IEND", b""),
        )
    )


def _bands(pixels: Pixels) -> Iterator[Pixels]:
    """All rows, some at a time: arrays of a whole page are memory that each fork has to get."""
    for first in range(0, len(pixels), _BAND):
        yield pixels[first : first + _BAND]


def _is_grey(band: Pixels) -> bool:
    red = np.ascontiguousarray(band[:, :, 0])
    return np.array_equal(red, band[:, :, 1]) and np.array_equal(red, band[:, :, 2])


def _compressed(pixels: Pixels) -> bytes:
    """The filtered rows as zlib has them."""
    compressing = zlib.compressobj(_LEVEL)
    parts = []
    above = np.zeros((1, pixels.shape[1] * pixels.shape[2]), np.uint8)
    for band in _bands(pixels):
        rows = np.concatenate((above, band.reshape(len(band), -1)))
        filtered = np.empty((len(band), rows.shape[1] + 1), np.uint8)
        filtered[:, 0] = _UP
        np.subtract(rows[1:], rows[:-1], out=filtered[:, 1:])  # modulo 256, as PNG wants it
        parts.append(compressing.compress(filtered.data))
        above = rows[-1:]
    return b"".join([*parts, compressing.flush()])


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
