"""Checks of a question's text, wherever it comes from."""

from __future__ import annotations

import unicodedata

from helix.domain.input_text import bounded
from helix.errors import BadRequest

_HOW = ": ask with /ask?q=your%20question"


def question_of(text: str | None, limit: int, name: str = "question") -> str:
    """The question as it was sent; ``name`` is what its sender calls it.

    Raises:
        BadRequest: it is missing, has nothing visible in it, or is longer than ``limit``.
    """
    if text is None or is_blank(text):
        raise BadRequest(f"{name} is missing or blank{_HOW if name == 'q' else ''}")
    return bounded(name, text, limit)


def is_blank(text: str) -> bool:
    """True if there is nothing visible in ``text``."""
    return all(unicodedata.category(c)[0] in "ZC" for c in text)
