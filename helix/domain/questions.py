"""What a question may be, wherever it comes from."""

from __future__ import annotations

import unicodedata

from helix.errors import BadRequest


def question_of(q: str | None, limit: int) -> str:
    """The question as it was sent.

    Raises:
        BadRequest: it is missing, has nothing visible in it, or is longer than ``limit``.
    """
    if q is None or is_blank(q):
        raise BadRequest("q is missing or blank: ask with /ask?q=your%20question")
    if len(q) > limit:
        raise BadRequest(f"q has {len(q)} characters; the limit is {limit}")
    return q


def is_blank(text: str) -> bool:
    """Whether there is nothing visible in ``text``."""
    return all(unicodedata.category(c)[0] in "ZC" for c in text)
