"""Sections as chunks are made of them: none missing, none twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from helix.records import Section

_VISIBLE = re.compile(r"\S")


def gapless(text: str, sections: Iterable[Section]) -> Iterator[Section]:
    """``sections``, and what is visible between them as sections without a heading.

    Short ones stay by themselves: joined, a citation would name the wrong heading.

    Raises:
        ValueError: sections overlap, are out of order or reach out of the text.
    """
    covered = 0
    for section in sections:
        if not covered <= section.start <= section.end <= len(text):
            raise ValueError(f"the section at {section.start} overlaps another or leaves the text")
        if _VISIBLE.search(text, covered, section.start):
            yield Section(covered, section.start)
        yield section
        covered = section.end
    if _VISIBLE.search(text, covered):
        yield Section(covered, len(text))
