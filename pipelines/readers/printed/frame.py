"""The plane of a page: where things are as it is shown, and as its text is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float32]
"""A row a box: left, top, right, bottom in points from the top left corner, y downwards."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A page of ``width`` x ``height`` points as it is shown, and how its text lies on it.

    ``turn`` is how many quarter turns clockwise bring most of its lines upright: 0 on nearly every
    page, 1 or 3 where a wide table is printed along the long side. What reads the layout sees the
    turned page; what is stored are boxes of the page as it is shown.
    """

    width: float
    height: float
    turn: int = 0

    @property
    def read_width(self) -> float:
        """Points across the page as its text is read."""
        return self.height if self.turn % 2 else self.width

    @property
    def read_height(self) -> float:
        """Points down the page as its text is read."""
        return self.width if self.turn % 2 else self.height

    def shown(self, boxes: Boxes) -> Boxes:
        """Boxes of the page as it is read, on the page as it is shown, cut at its edges."""
        boxes = turned(boxes, -self.turn, self.read_width, self.read_height)
        edges = np.array([self.width, self.height] * 2, np.float32)
        return np.clip(boxes, np.float32(0), edges)


def turned(boxes: Boxes, quarters: int, width: float, height: float) -> Boxes:
    """Boxes of a page of ``width`` x ``height`` after so many quarter turns of it clockwise."""
    for _ in range(quarters % 4):
        left, top, right, bottom = boxes.T
        boxes = np.column_stack((height - bottom, left, height - top, right))
        width, height = height, width
    return boxes.astype(np.float32, copy=False)
