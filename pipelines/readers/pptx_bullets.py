"""Bullets and numbers that PowerPoint shows in front of a slide's paragraphs.

They are nowhere in the text: each follows from the paragraph, its shape, or the placeholders and
the master that the shape inherits from (ISO/IEC 29500-1, 19.3.1.52 and 21.1.2.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pipelines.readers.numerals import numeral

_KINDS = ("buNone", "buChar", "buAutoNum", "buBlip")
_FORMS = {
    "alphaLc": "lowerLetter", "alphaUc": "upperLetter",
    "romanLc": "lowerRoman", "romanUc": "upperRoman",
}  # fmt: skip
"""Word's names of the forms that PowerPoint's begin with."""
_START = re.compile(r"[0-9]{1,9}")


def paragraphs(shape: Any) -> Iterator[str]:
    """The paragraphs of a shape with text, each behind its mark and moved in by its level."""
    styles = list(_styles(shape))
    counts: dict[int, tuple[str, int]] = {}  # the form and number of the last one, by level
    for paragraph in shape.text_frame.paragraphs:
        text = paragraph.text.replace("\v", "\n").strip()
        if not text:
            continue
        level, bullet = paragraph.level, _bullet(paragraph, styles)
        if bullet is None:
            yield text
            continue
        form, (last_form, number) = bullet.get("type", ""), counts.get(level, ("", 0))
        number = number + 1 if form == last_form else _start(bullet)
        counts = {deep: last for deep, last in counts.items() if deep < level}
        counts[level] = form, number
        yield f"{'  ' * level}{_mark(form, number)} {text}"


def _start(bullet: Any) -> int:
    start = bullet.get("startAt", "1")
    return int(start) if _START.fullmatch(start) else 1


def _mark(form: str, number: int) -> str:
    """`3.`, `b)`; a hyphen for what is no number."""
    counted = numeral(number, _FORMS.get(form[:7], "decimal"))
    return f"{counted}{')' if 'Paren' in form else '.'}" if form else "-"


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
