"""Bullets and numbers that PowerPoint shows in front of a slide's paragraphs.

They are nowhere in the text: each follows from the paragraph, its shape, or the placeholders and
the master that the shape inherits from (ISO/IEC 29500-1, 19.3.1.52 and 21.1.2.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_KINDS = ("buNone", "buChar", "buAutoNum", "buBlip")


def paragraphs(shape: Any) -> Iterator[str]:
    """The paragraphs of a shape with text, each behind its mark and moved in by its level."""
    styles = list(_styles(shape))
    counts: dict[int, int] = {}
    for paragraph in shape.text_frame.paragraphs:
        text = paragraph.text.replace("\v", "\n").strip()
        if not text:
            continue
        level, bullet = paragraph.level, _bullet(paragraph, styles)
        form = "" if bullet is None else bullet.get("type", "")
        before = counts.get(level, int(bullet.get("startAt", "1")) - 1) if form else 0
        counts = {deep: count for deep, count in counts.items() if deep < level}
        if form.startswith("arabic"):
            counts[level] = before + 1
        mark = f"{counts[level]}. " if level in counts else "- "
        yield text if bullet is None else f"{'  ' * level}{mark}{text}"


def _styles(shape: Any) -> Iterator[Any]:
    """The styles of lists that a shape has and inherits, the nearest first."""
    place = shape
    while place is not None:
        yield place._element.find(".//{*}lstStyle")
        place = getattr(place, "_base_placeholder", None)
    if shape.is_placeholder:
        master = shape.part.slide_layout.slide_master
        yield master.element.find("{*}txStyles/{*}bodyStyle")


def _bullet(paragraph: Any, styles: Sequence[Any]) -> Any:
    """The element of the nearest bullet; None where there is none, or the nearest says so."""
    name = f"{{*}}lvl{paragraph.level + 1}pPr"
    own = [style.find(name) for style in styles if style is not None]
    for properties in (paragraph._p.pPr, *own):
        for kind in _KINDS if properties is not None else ():
            if (found := properties.find(f"{{*}}{kind}")) is not None:
                return found if kind != _KINDS[0] else None
    return None
