"""The unit that an adjective of measure asks for: `how loud` decibels, `how heavy` kilograms."""

from __future__ import annotations

import re

from helix.domain.asked import AskedQuestion, any_of
from helix.language.word_lists import tables

_NUMBER = rf"(?:\d[\d.,]*|\b(?:{any_of('number_words')}))"
_DIMENSIONS = [
    (
        re.compile(rf"\bhow (?:{'|'.join(each['asked'].split())})\b", re.IGNORECASE),
        re.compile(rf"{_NUMBER}[ -]?(?:{'|'.join(each['units'].split())})(?!\w)", re.IGNORECASE),
    )
    for each in tables("dimensions").values()
]


def tells_dimension(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence has a number with a unit of the dimension that a question asks for.

    True where it asks for none: `how large` may be a sum, a number or an area.
    """
    wanted = [stated for asked, stated in _DIMENSIONS if asked.search(question.text)]
    return not wanted or any(stated.search(text) for stated in wanted)
