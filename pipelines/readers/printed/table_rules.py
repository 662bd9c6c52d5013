"""The lines drawn on a page, sorted for tables: level, upright, and bands of rows."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipelines.readers.printed.rules import Rule

_THIN = 4.5  # points; a double line below a total is one of 4
_SHORT = 3.0  # points; less is a dot or a corner
_ABUTS = 1.2  # points between two parts of one line, drawn cell by cell
_SAME = 1.5  # points between two lines that lie on one another
_TALLEST_BAND = 120.0  # points; a larger shaded area is a box of text
_LOWEST_BAND = 5.0


@dataclass(frozen=True, slots=True)
class Drawn:
    """``level`` lines from the top, ``upright`` ones from the left; ``bands`` are the (top, bottom)
    of shaded areas as high as a row, from the top, each once."""

    level: tuple[Rule, ...]
    upright: tuple[Rule, ...]
    bands: tuple[tuple[float, float], ...]

    def below(self, top: float, bottom: float) -> Sequence[Rule]:
        """Level lines between two heights."""
        first = bisect_left(self.level, top, key=lambda rule: rule.top)
        return self.level[first : bisect_right(self.level, bottom, key=lambda rule: rule.top)]

    def band_at(self, height: float) -> tuple[float, float] | None:
        """The narrowest band around a height."""
        last = bisect_right(self.bands, height, key=lambda band: band[0])
        around = [band for band in self.bands[max(0, last - 6) : last] if band[1] > height]
        return min(around, key=lambda band: band[1] - band[0], default=None)


def drawn_of(rules: Iterable[Rule]) -> Drawn:
    """Lines and bands of a page's rules; parts of one line are put together."""
    level, upright, bands = [], [], set()
    for rule in rules:
        width, height = rule.right - rule.left, rule.bottom - rule.top
        if rule.filled:
            if _LOWEST_BAND <= height <= _TALLEST_BAND and width > _LOWEST_BAND:
                bands.add((round(rule.top, 1), round(rule.bottom, 1)))
        elif height <= _THIN and width >= _SHORT and width > height:
            level.append(rule)
        elif width <= _THIN and height >= _SHORT:
            upright.append(rule)
    return Drawn(tuple(_joined(level)), tuple(_joined_upright(upright)), tuple(sorted(bands)))


def _joined(level: list[Rule]) -> list[Rule]:
    """Lines from the top; those drawn in parts, cell by cell, are one."""
    level.sort(key=lambda rule: (round(rule.top), rule.left))
    joined: list[Rule] = []
    for rule in level:
        last = joined[-1] if joined else None
        if (
            last
            and abs(rule.top - last.top) <= _SAME
            and -_SAME <= rule.left - last.right <= _ABUTS
        ):
            joined[-1] = last._replace(right=max(last.right, rule.right))
        else:
            joined.append(rule)
    return sorted(joined, key=lambda rule: (rule.top, rule.left))


def _joined_upright(upright: list[Rule]) -> list[Rule]:
    """The same of upright lines: those of a page turned on its side."""
    turned = [Rule(rule.top, rule.left, rule.bottom, rule.right) for rule in upright]
    back = [Rule(rule.top, rule.left, rule.bottom, rule.right) for rule in _joined(turned)]
    return sorted(back, key=lambda rule: (rule.left, rule.top))
