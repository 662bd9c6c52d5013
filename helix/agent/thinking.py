"""The choice to let a model think before it answers, made by the question's words. Pure."""

from __future__ import annotations

import re

from helix.language.terms import question_words

_FEW = 6
"""Content words of a question that one search answers as well as any thought."""
_SEVERAL = re.compile(
    r"\b(?:compare[ds]?|comparison|versus|vs|differ(?:s|ence|ences|ent)?|between|both|each|all"
    r"|every|change[ds]?|increase[ds]?|decrease[ds]?|percent(?:age)?|ratio|total|sum|average|why"
    r"|how many)\b|%|\?.*\?|;",
    re.IGNORECASE | re.DOTALL,
)


def is_worth_thinking(question: str) -> bool:
    """True if a question is long, or asks for several things that are to be put together."""
    return len(set(question_words(question).values())) > _FEW or bool(_SEVERAL.search(question))
