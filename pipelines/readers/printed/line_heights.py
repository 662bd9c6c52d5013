"""Line heights of fonts whose file has none: each word has the height of its letters then."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from statistics import mode

from pipelines.readers.printed.frame import Column

SAME_SIZE = 1.02  # of two words: less apart is rounding
_UNEVEN = 0.05  # of the size, between two words
_MOST_JUMPS = 0.15  # of the words: pages in several fonts have fewer
_LEAST_SAME = 0.8  # of a font's words
_LINE = 0.9  # of the size that a font is set in
_LEAST_SET = 1.2  # points: a line is a point high at least


def are_uneven(sizes: Column, steps: Sequence[int]) -> bool:
    """True where the sizes go up and down from word to word.

    They do where a font's file has no height of its lines: a box is as high as its letters then.
    """
    jumps = sum(abs(sizes[step] - sizes[step - 1]) > _UNEVEN * sizes[step] for step in steps)
    return jumps > _MOST_JUMPS * len(sizes)


def usual_heights(sizes: Column, fonts: Sequence[tuple[bytes, float]]) -> Column:
    """Heights in points: of each font that of most of its words on the page.

    ``fonts`` are the name of each word's font and the size in points that it is set in.
    """
    shares = defaultdict[bytes, list[float]](list)
    fonts = [(name, max(set_in, _LEAST_SET)) for name, set_in in fonts]
    for (name, set_in), size in zip(fonts, sizes, strict=True):
        shares[name].append(size / set_in)
    usual = {name: _usual(own) for name, own in shares.items()}
    pairs = zip(sizes, (usual[name] * set_in for name, set_in in fonts), strict=True)
    return array("f", [size if _is_same(size, most) else most for size, most in pairs])


def _usual(shares: Sequence[float]) -> float:
    """The height of a line, in the size that its font is set in, that most words of the font have.

    Where few have one, a height that is the same for all such fonts.
    """
    most = mode(round(share, 2) for share in shares)
    are_same = sum(_is_same(share, most) for share in shares) >= _LEAST_SAME * len(shares)
    return most if are_same else _LINE


def _is_same(one: float, other: float) -> bool:
    return other / SAME_SIZE < one < other * SAME_SIZE
