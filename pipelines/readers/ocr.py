"""Scanned pages to text by RapidOCR, whose package carries its models; an optional extra.

The library is imported when the first scan turns up: that takes a second.
"""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from helix.sandbox.pdfium.objects import CHANNELS, Bitmap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]

MISSING = "a scan, and OCR is not installed: pip install 'helix-answers[ocr]'"
_LONGEST_SIDE = 1440
"""Pixels of what lines are looked for in; they are then read from the page as it is rendered.

The memory of a page grows with it: a dense A4 page takes 700 MB at 1,440, 930 MB at 2,000.
"""

_OUT_OF_MEMORY = re.compile(r"alloc|insufficient memory|failed to map", re.IGNORECASE)
_SURE = 0.8  # mean score of a page that is the right way up; a lower one is tried in all four


class OcrMissing(Exception):
    """The extra is not installed; MISSING says so to the file's owner."""


class OcrFailed(Exception):
    """A page was too much for the memory, or for the library; the message says so to its owner."""


def text_of(bitmap: Bitmap) -> str:
    """The text on a page as drawn, blue first, a line a line, in reading order.

    A page lying on its side or head is turned. No text is "". Raises OcrMissing and OcrFailed.
    """
    try:
        return _text_of(bitmap)
    except OcrMissing:
        raise
    except Exception as error:  # noqa: BLE001 - three libraries', of which none names its own
        raise OcrFailed(_why_failed(error)) from None


def _why_failed(error: Exception) -> str:
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(str(error)):
        return "a scan that could not be read (out of memory): raise HELIX_READ_MB"
    return f"a scan that could not be read ({type(error).__name__})"


def _text_of(bitmap: Bitmap) -> str:
    import numpy as np  # not in the reader of other pages, of whose memory it would be a third

    pixels = np.frombuffer(bitmap.pixels, np.uint8)
    image = pixels.reshape(bitmap.height, bitmap.width, CHANNELS)
    best, best_score = "", 0.0
    for turns in range(4):
        lines, score, upright = _lines(np.ascontiguousarray(np.rot90(image, turns)))
        if not lines and not turns:
            return ""
        if upright and score * len(lines) > best_score:
            best, best_score = "\n".join(lines), score * len(lines)
        if upright and score >= _SURE:
            return "\n".join(lines)
    return best


def _lines(image: Image) -> tuple[list[str], float, bool]:
    """(lines, mean score from 0 to 1, whether most boxes lie as lines of text do)."""
    found = _engine()(image, use_cls=False)
    if found.txts is None or found.boxes is None:
        return [], 0.0, True
    boxes = []
    for corners, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        xs, ys = [point[0] for point in corners], [point[1] for point in corners]
        if text.strip():
            boxes.append((min(ys), max(ys), min(xs), max(xs), text.strip(), float(score)))
    if not boxes:
        return [], 0.0, True
    lying = sum(right - left >= bottom - top for top, bottom, left, right, *_ in boxes)
    score = sum(box[5] for box in boxes) / len(boxes)
    return _in_order(boxes), score, 2 * lying >= len(boxes)


_Box = tuple[float, float, float, float, str, float]  # top, bottom, left, right, text, score


def _in_order(boxes: list[_Box]) -> list[str]:
    """Boxes at the same height are one line, from left to right; lines go down the page."""
    lines: list[list[_Box]] = []
    for box in sorted(boxes, key=lambda box: box[0] + box[1]):
        middle = (box[0] + box[1]) / 2
        if lines and middle < lines[-1][0][1] and _overlap(box, lines[-1][0]):
            lines[-1].append(box)
        else:
            lines.append([box])
    return [" ".join(box[4] for box in sorted(line, key=lambda box: box[2])) for line in lines]


def _overlap(one: _Box, other: _Box) -> bool:
    """True where the boxes share half of the lower one's height."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return shared >= 0.5 * min(one[1] - one[0], other[1] - other[0])


@cache
def _engine() -> Any:
    try:
        from rapidocr import RapidOCR
    except ModuleNotFoundError:
        raise OcrMissing from None
    engine = RapidOCR(
        params={
            "Global.log_level": "critical",
            "Det.limit_type": "max",
            "Det.limit_side_len": _LONGEST_SIDE,
            "Rec.rec_batch_num": 1,  # lines of a batch are padded to the longest of them
            # a page a core: files are what is read in parallel
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine
