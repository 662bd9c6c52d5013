"""The lines and shaded areas that are drawn on a PDF page."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from helix.sandbox.pdfium.document import Page
from helix.sandbox.pdfium.library import Handle, function, handle
from helix.sandbox.pdfium.objects import PATH, objects
from pipelines.readers.printed.frame import Boxes, Frame, from_edge, no_boxes, turned

_MOST_OBJECTS = 20_000  # of a page that are looked at; a page of print has some hundred
_MOST_RULES = 5_000
_MOST_SEGMENTS = 400  # of one path; a larger one is a drawing
_THIN = 2.0  # points

_BOUNDS = function("FPDFPageObj_GetBounds", ctypes.c_int)
_MATRIX = function("FPDFPageObj_GetMatrix", ctypes.c_int)
_DRAW_MODE = function("FPDFPath_GetDrawMode", ctypes.c_int)
_SEGMENT_COUNT = function("FPDFPath_CountSegments", ctypes.c_int)
_SEGMENT = function("FPDFPath_GetPathSegment", ctypes.c_void_p)
_SEGMENT_KIND = function("FPDFPathSegment_GetType", ctypes.c_int)
_POINT = function("FPDFPathSegment_GetPoint", ctypes.c_int)
_CLOSES = function("FPDFPathSegment_GetClose", ctypes.c_int)
_LINE_TO, _MOVE_TO = 0, 2  # FPDF_SEGMENT_LINETO, FPDF_SEGMENT_MOVETO


class Rule(NamedTuple):
    """The box of something drawn, in points on the page as it is read (see ``Frame``).

    A line is thin in one direction, whether stroked or, as pages made from HTML have it, filled;
    a stroked rectangle comes as its four edges. ``filled`` is a larger area of one colour, such as
    a shaded row.
    """

    left: float
    top: float
    right: float
    bottom: float
    filled: bool = False


class PackedRules(NamedTuple):
    """The boxes of rules, and 1 for each that is filled; 17 bytes a rule."""

    boxes: Boxes
    filled: bytes


def packed_rules(page: Page, turn: int = 0) -> PackedRules:
    """The rules of a page, read after ``turn`` quarter turns, in the order that they are drawn.

    A page with more than 5,000 has a drawing on it, whose lines make no table: it has none.
    """
    drawn = list(islice(_drawn(page), _MOST_RULES + 1))
    if not drawn or len(drawn) > _MOST_RULES:
        return PackedRules(no_boxes(), b"")
    *edges, filled = zip(*drawn, strict=True)
    return PackedRules(_placed(edges, page, turn), bytes(filled))


def unpacked(rules: PackedRules) -> list[Rule]:
    """The rules of ``packed_rules``."""
    return list(map(Rule, *rules.boxes.columns, map(bool, rules.filled)))


_Drawn = tuple[float, float, float, float, bool]  # left, bottom, right, top in the file, filled


def _drawn(page: Page) -> Iterator[_Drawn]:
    edges = [ctypes.c_float() for _ in range(4)]
    references = [ctypes.byref(edge) for edge in edges]
    for drawn, kind in objects(page, _MOST_OBJECTS):
        if kind != PATH or not _BOUNDS(drawn, *references):
            continue
        left, bottom, right, top = (edge.value for edge in edges)
        if right - left <= _THIN or top - bottom <= _THIN:
            yield left, bottom, right, top, False
        else:
            yield from _area(drawn, (left, bottom, right, top))


def _area(drawn: Handle, box: tuple[float, float, float, float]) -> Iterator[_Drawn]:
    """A path that is thin in no direction: its area where it is filled, its lines if stroked."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    _DRAW_MODE(drawn, ctypes.byref(fill), ctypes.byref(stroke))
    if fill.value:
        yield *box, True
    if stroke.value:
        yield from _strokes(drawn)


def _strokes(drawn: Handle) -> Iterator[_Drawn]:
    """The upright and level lines of a path; a curve has none."""
    count = _SEGMENT_COUNT(drawn)
    if not 0 < count <= _MOST_SEGMENTS:
        return
    matrix = (ctypes.c_float * 6)()  # FS_MATRIX
    _MATRIX(drawn, matrix)
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    first = before = (0.0, 0.0)
    for index in range(count):
        segment = handle(_SEGMENT(drawn, index))
        _POINT(segment, ctypes.byref(x), ctypes.byref(y))
        here = (a * x.value + c * y.value + e, b * x.value + d * y.value + f)
        kind = _SEGMENT_KIND(segment)
        if kind == _MOVE_TO:
            first = here
        elif kind == _LINE_TO:
            yield from _line(before, here)
        before = here
        if _CLOSES(segment):
            yield from _line(here, first)


def _line(one: tuple[float, float], other: tuple[float, float]) -> Iterator[_Drawn]:
    left, right = sorted((one[0], other[0]))
    bottom, top = sorted((one[1], other[1]))
    if (right - left <= _THIN) != (top - bottom <= _THIN):
        yield left, bottom, right, top, False


def _placed(edges: Iterable[Sequence[float]], page: Page, turn: int) -> Boxes:
    """Columns of boxes of the file, y upwards, as those of boxes on the page as it is read.

    ``edges`` are left, bottom, right, top.
    """
    left, bottom, right, top = page.bounding_box
    lefts, lower, rights, upper = (array("f", column) for column in edges)
    upright = Boxes(
        array("f", [place - left for place in lefts]), from_edge(top, upper),
        array("f", [place - left for place in rights]), from_edge(top, lower),
    )  # fmt: skip
    shown = turned(upright, page.quarter_turns, right - left, top - bottom)
    frame = Frame(*page.size)
    return turned(shown, turn, frame.width, frame.height)
