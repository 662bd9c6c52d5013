"""What a question is about at its heart: the thing counted, the day, what really was.

A sentence may share every other word with a question and still say nothing of these.
"""

from __future__ import annotations

import re

from helix.domain.asked import AnswerKind, AskedQuestion, without_document
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import dates
from helix.language.rates import rates_of
from helix.language.word_lists import tables
from helix.providers.offline.figures import NUMBER, asks_what_came, without_sums_and_dates

_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_BEHIND, _BEFORE = 6, 16  # words from a number to what it counts, and from that to a number
_SUPPOSED = re.compile(r"\W*(?:if|unless|should|in the event|were (?:we|it|the))\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_SUPPOSING = re.compile(r"\b(?:if|would|could|should|may|might|happens?)\b", re.IGNORECASE)
_YES_OR_NO = re.compile(r"^\W*(?:do|does|did|is|are|was|were|has|have|had)\b", re.IGNORECASE)
_POSSIBLE = re.compile(
    r"\b(?:may|might|could|would|evaluate|opportunit(?:y|ies) to|consider(?:ing)?)\b", re.IGNORECASE
)
_INSTEAD = re.compile(
    r"\b(?:than|to|with) [^.,]{0,60}\bwould have been\b"
    r"|\bthis (?:change|update|revision) (?:resulted|results) in\b"
    r"|\b(?:table|amounts?|figures?|balances?|shares|this|these|it) (?:above |below )?"
    r"(?:excludes?|do(?:es)? not include)\b",
    re.IGNORECASE,
)
"""What tells of another amount than the one that is asked for, or of a part of it."""
_ITEM = re.compile(r"(?:[-*•‣◦▪]\s*)?[a-z][^.;]*;(?: and| or)?", re.DOTALL)
"""An item of a list, which is no sentence: `potential issuances of debt to finance purchases;`."""
_CAME = re.compile(r"^\W*(?:why|how) did\b|^\W*what (?:caused|led|drove|made)\b", re.IGNORECASE)
_FORESEES = re.compile(
    r"^\W*(?:we|it|they|the company) (?:currently )?(?:expects?|anticipates?|intends?|plans?)\b",
    re.IGNORECASE,
)
_FORESEEING = re.compile(
    rf"{_SUPPOSING.pattern}|\b(?:expect|anticipat|intend|plan|forecast|guid)\w*", re.IGNORECASE
)
_BOUNDARY = re.compile(
    r"\b(?:quarter|year|half|period)(?:['’]s)? (?:end|begin|start|close|finish)", re.IGNORECASE
)
_SUBJECT_WORDS = 6  # of a sentence, within which it names what it is about
_WHICH_ONE = re.compile(
    r"^\W*(?:\w+ )?which (?P<one>[a-z]{3,}) (?!of\b)"
    r"(?:is|was|has|had|does|did|made|took|held|paid|\w+(?:ed|s))\b",
    re.IGNORECASE,
)
_UNITS = "hours?|days?|weeks?|months?|years?"
_HOW_MANY = re.compile(rf"\bhow many (?:[\w-]+ )?(?P<unit>{_UNITS})\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"[\w-]+ (?:(?:working|business|calendar) )?(?:{_UNITS})(?:['’]s?)?"
    r" (?:in )?(?P<lead>ahead|advance|beforehand|before|prior|notice|ago|earlier|later|after"
    r"|off)\b",
    re.IGNORECASE,
)
_FOR = re.compile(r"\bfor (?P<whom>(?:[\w'’-]+ ?){1,4})\W*\Z", re.IGNORECASE)
_FOR_ANOTHER = re.compile(r"\d[\d.,]* \w+ for (?:an? |the |each |every )?(?P<whom>[\w'’-]+)", re.I)
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


def tells_length(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence tells how many weeks there are, and not how long ahead or ago.

    `At least two weeks ahead` is no number of weeks of leave.
    """
    asked = _HOW_MANY.search(question.text)
    if asked is None or not _LEAD.search(text):
        return True
    rest = _LEAD.sub(lambda one: one[0] if one["lead"] in question.text.lower() else " ", text)
    return bool(re.search(rf"[\w-]+ {asked['unit'].rstrip('sS')}s?\b", rest, re.IGNORECASE))


def tells_rate(question: AskedQuestion, text: str) -> bool:
    """Whether the amounts of a text are of the rate that is asked for: `monthly` is not a year."""
    if question.kind is AnswerKind.TIME:
        return True
    asked, stated = rates_of(without_document(question.text)), rates_of(text)
    return not asked or not stated or not asked.isdisjoint(stated)


def tells_purpose(question: AskedQuestion, text: str) -> bool:
    """Whether an amount is for what is asked: `4.50 euros for a meal` is not for coffee."""
    asked, stated = _FOR.search(without_periods(question.text)), _FOR_ANOTHER.search(text)
    if asked is None or stated is None:
        return True
    wanted = set(meanings(asked["whom"]))
    return not wanted or not wanted.isdisjoint(meanings(text))


def tells_fact(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence says what was or is, where that is asked, and not what might be."""
    asked = question.text
    if _PAST.search(asked) and not _SUPPOSING.search(asked) and _SUPPOSED.match(text):
        return False
    came = _CAME.search(asked) or (question.asks_for_value and asks_what_came(question))
    if came and not _FORESEEING.search(asked) and _FORESEES.search(text):
        return False
    if question.asks_for_value and not _SUPPOSING.search(asked) and _INSTEAD.search(text):
        return False
    is_open = question.kind is AnswerKind.OPEN and _YES_OR_NO.search(asked)
    if is_open and _ITEM.fullmatch(text):
        return False
    return not (is_open and not _SUPPOSING.search(asked) and _POSSIBLE.search(text))


def asks_for_one(question: AskedQuestion) -> bool:
    """Whether one of several is asked for: `which customer`."""
    return _WHICH_ONE.search(question.text) is not None


def tells_one(question: AskedQuestion, text: str) -> bool:
    """Whether `which customer` may be answered: not by what is said of all customers or none."""
    asked = _WHICH_ONE.search(question.text)
    if asked is None or not (word := asked["one"].lower()) or word.endswith("s"):
        return True
    several = rf"\b{re.escape(word.removesuffix('y'))}(?:e?s|ies)\b"
    one = rf"\b{re.escape(word)}\b"
    subject = " ".join(text.split()[:_SUBJECT_WORDS])
    return not re.search(several, subject, re.IGNORECASE) or bool(re.search(one, text, re.I))


def tells_day(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence names a day, where it is asked when a quarter or a year ends."""
    if question.kind is not AnswerKind.TIME or not _BOUNDARY.search(question.text):
        return True
    return any(dates(text)) or bool(_MONTH.search(text))
