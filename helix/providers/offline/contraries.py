"""Whether a sentence tells the contrary of what is asked: of the smallest by the largest.

`The tenant may end the lease` does not tell when the landlord may.
"""

from __future__ import annotations

import re

from helix.domain.asked import AskedQuestion, any_of
from helix.language.durations import without_periods
from helix.language.word_lists import tables

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LISTS = tables("opposites")
_SIDES = [
    (frozenset(one.split()), frozenset(other.split()))
    for pair in _LISTS["opposites"]
    if not {"with", "mit"}.intersection(pair)  # `came up with`
    for one, other in (pair, pair[::-1])
] + [
    (frozenset((word,)), frozenset(group.split()) - {word})
    for group in (*_LISTS["contrasts"], *_LISTS["kinds"])
    for word in group.split()
]
"""Words that say the same, and those that each of them excludes."""
_PARTIES = [
    (one, other)
    for line in any_of("parties").split("|")
    for one, other in (line.split("/"), line.split("/")[::-1])
]
_EITHER = re.compile(
    r"^\W*(?:do|does|did|is|are|was|were|has|have|had|can|could|may|must|should|will)\b|\bor\b",
    re.IGNORECASE,
)
"""What is answered by either side: `Is it open?` by `It is closed`."""
_UNTIL = re.compile(
    r"\buntil when\b|\bwhen\b.*\b(?:until|expires?|matures?|lapses?|runs? out)\b", re.IGNORECASE
)
_TELLS_UNTIL = re.compile(
    r"\b(?:until|till|through|to|by|before|expir\w*|matur\w*|laps\w*|end(?:s|ed|ing)?|due|valid"
    r"|terminat\w*|within|runs?)\b|[-–—]",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"\b(?:after|since|following|subsequent to) the (?:end|close) of\b", re.IGNORECASE
)
_TELLS_AFTERWARDS = re.compile(
    r"\b(?:after|since|follow\w*|subsequent\w*|later|from .{4,40} (?:through|to|until))\b",
    re.IGNORECASE,
)
_MODAL = r"(?:may|can|could|must|shall|should|has to|have to|is (?:entitled|allowed|obliged) to)"


def tells_same_side(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence has no contrary of a word of the question in that word's stead."""
    if _EITHER.search(question.text):
        return True
    asked, stated = _words(without_periods(question.text)), _words(text)
    for own, contrary in _SIDES:
        if asked & own and not asked & contrary and stated & contrary and not stated & own:
            return False
    return True


def tells_of_party(question: AskedQuestion, text: str) -> bool:
    """Whether it is not the other party of a contract of whom a sentence says what it may do."""
    for one, other in _PARTIES:
        asked = rf"\b(?:{_MODAL}|do(?:es)?) (?:the |an? |our |my )?{one}s?\b|\b{one}s? {_MODAL}\b"
        if (
            re.search(asked, question.text, re.IGNORECASE)
            and re.search(rf"\b{other}s? {_MODAL}\b", text, re.IGNORECASE)
            and not re.search(rf"\b{one}s?\b", text, re.IGNORECASE)
        ):
            return False
    return True


def tells_limit(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence tells an end where it is asked for, and what came after a period.

    `When does it expire?` is not answered by when it was agreed on.
    """
    asked = question.text
    if _UNTIL.search(asked) and not _TELLS_UNTIL.search(text):
        return False
    return not _AFTERWARDS.search(asked) or bool(_TELLS_AFTERWARDS.search(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
