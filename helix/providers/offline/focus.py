"""What a question is about at its heart: the thing counted, the day, what really was.

A sentence may share every other word with a question and still say nothing of these.
"""

from __future__ import annotations

import re

from helix.domain.asked import AnswerKind, AskedQuestion
from helix.language.paraphrases import meanings
from helix.language.periods import dates
from helix.language.word_lists import tables
from helix.providers.offline.figures import NUMBER, without_sums_and_dates

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_BEHIND, _BEFORE = 6, 16  # words from a number to what it counts, and from that to a number
_SUPPOSED = re.compile(r"\W*(?:if|unless|should|in the event|were (?:we|it|the))\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_SUPPOSING = re.compile(r"\b(?:if|would|could|should|may|might|happens?)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"^\W*(?:do|does|did|is|are|was|were|has|have|had)\b", re.IGNORECASE)
_POSSIBLE = re.compile(
    r"\b(?:may|might|could|would|evaluate|opportunit(?:y|ies) to|consider(?:ing)?)\b", re.IGNORECASE
)
_BOUNDARY = re.compile(
    r"\b(?:quarter|year|half|period)(?:['’]s)? (?:end|begin|start|close|finish)", re.IGNORECASE
)
_MONTH = re.compile(rf"\b(?:{'|'.join(' '.join(tables('periods')['months']).split())})\b", re.I)


def tells_count(question: AskedQuestion, text: str) -> bool:
    """Whether a number in a sentence that names what `how many` counts may be the count.

    True where the sentence does not name it: one beside it may.
    """
    if not question.counted:
        return True
    words = _WORD.findall(without_sums_and_dates(text))
    numbers = [place for place, word in enumerate(words) if NUMBER.fullmatch(word)]
    counted = [
        place for place, word in enumerate(words)
        if not question.counted.isdisjoint(meanings(word))
    ]  # fmt: skip
    near = (-_BEFORE <= place - number <= _BEHIND for place in counted for number in numbers)
    return not counted or any(near)


def tells_fact(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence says what was or is, where that is asked, and not what might be."""
    asked = question.text
    if _PAST.search(asked) and not _SUPPOSING.search(asked) and _SUPPOSED.match(text):
        return False
    is_open = question.kind is AnswerKind.OPEN and _YES_OR_NO.search(asked)
    return not (is_open and not _SUPPOSING.search(asked) and _POSSIBLE.search(text))


def tells_day(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence names a day, where it is asked when a quarter or a year ends."""
    if question.kind is not AnswerKind.TIME or not _BOUNDARY.search(question.text):
        return True
    return any(dates(text)) or bool(_MONTH.search(text))
