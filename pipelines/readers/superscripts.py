"""Superscript digits: a power, which would be read as 106, not 10⁶, and the mark of a note."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_RAISED = str.maketrans("0123456789+-−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻")
_NUMBERS = re.compile(r"\s*[+−–-]?[0-9]{1,3}(?:\s*,\s*[0-9]{1,3}){0,9}\s*")


def superscript(text: str) -> str:
    """A number, or several with commas, in superscript digits; any other text as it is."""
    return text.translate(_RAISED) if _NUMBERS.fullmatch(text) else text


def write_superscripts(elements: Iterable[Any]) -> None:
    """Put the numbers of elements that are drawn raised into superscript digits, in place."""
    for element in elements:
        if _NUMBERS.fullmatch("".join(element.itertext())):
            for part in element.iter():
                part.text = (part.text or "").translate(_RAISED)
                if part is not element:
                    part.tail = (part.tail or "").translate(_RAISED)
