"""What a question for a figure needs of a sentence: a number that is no date, and of its kind."""

from __future__ import annotations

import re

from helix.domain.asked import Kind, Question, any_of
from helix.language.durations import without_periods
from helix.language.periods import dates
from helix.language.word_lists import word_lists

_MEASURES = word_lists("questions")["measures"]
_AMOUNT = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_COUNT = re.compile(r"\bhow many\b", re.IGNORECASE)
_SHARE = re.compile(r"\bpercent(?:age)?\b|%", re.IGNORECASE)
_PRICE = re.compile(
    rf"\bhow much (?:money )?(?:did|does|do|will|would|has|have)\b.*\b(?:{any_of('paid')})\b"
    rf"|\bhow much (?:\w+ )?(?:{any_of('sums')})\b|\bwhat (?:price|fine|sum)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(rf"[$€£¥₹]|\b(?:{any_of('currencies')})\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,$€£¥₹])(?:1[5-9]|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?s?\b(?![.,]\d|\s*%)")
_REFERENCE = re.compile(
    r"\b(?:section|item|note|rule|exhibit|title|table|figure|part|chapter|page|article)s? \d[\w.]*"
    r"|\b\d{1,2}-[A-Z]\b|\bQ[1-4]\b|^\d{1,2}\.\d{1,2}\s|^\s*\(\d{1,2}\)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    rf"\d[\d.,]*|\b(?!(?:third|quarter|half)\b)(?:{any_of('number_words')})\b", re.IGNORECASE
)
_SUM = re.compile(r"[$€£¥₹]\s?\d[\d.,]*(?:\s(?:thousand|million|billion|trillion))?|\d[\d.,]*\s?%")
_ORDINAL = re.compile(rf"\b(?:{any_of('ordinals')})\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b[A-Z][^\W\d_]+(?:-[A-Z][^\W\d_]+)?(?: [A-Z]\.)?"
    r"(?: (?:van|von|de|al|bin|da))? [A-Z][^\W\d_]+"
)
_NOT_NAME = re.compile(rf"\b(?:{any_of('not_names')})s?\b", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:officer|president|director|chair(?:man|woman)?|treasurer|secretary)\b", re.I
)


def has_figure(question: Question, text: str) -> bool:
    """Whether a sentence has a figure as the question asks for one; True where it asks for none.

    `How much did it pay?` wants money, `how many` a number that is neither money nor a share, the
    value of a measure (revenue, a rate) any number; none of them a date. A person in an office is
    told by a name.
    """
    asked = question.text
    if _ORDINAL.search(without_periods(asked)) and not _same_ordinal(asked, text):
        return False
    if question.kind is Kind.NAME and _ROLE.search(asked):
        return _names_person(asked, text)
    amount = bool(_AMOUNT.search(asked))
    if not (amount or (question.asks_for_value and _measures(question))):
        return True
    bare = _without_dates(text)
    if _PRICE.search(asked):
        return bool(_MONEY.search(bare) and _NUMBER.search(bare))
    if _COUNT.search(asked) and not _SHARE.search(asked):
        bare = _SUM.sub(" ", bare)
    return bool(_NUMBER.search(bare))


def _without_dates(text: str) -> str:
    for start, end, _ in sorted(dates(text), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return _REFERENCE.sub(" ", _YEAR.sub(" ", without_periods(text)))


def _measures(question: Question) -> bool:
    """Whether the subject is a measure that is told in a number."""
    parts = {part for word in question.subject for part in word.split("_")}
    return not parts.isdisjoint(_MEASURES)


def _same_ordinal(asked: str, text: str) -> bool:
    """Whether a text that counts, `the first case`, counts as the question does."""
    wanted = {word.lower() for word in _ORDINAL.findall(without_periods(asked))}
    found = {word.lower() for word in _ORDINAL.findall(without_periods(text))}
    return not found or bool(wanted & found)


def _names_person(asked: str, text: str) -> bool:
    """Whether the text has a person's name that the question has not."""
    bare = _NOT_NAME.sub(".", text)
    return any(name[0] not in asked for name in _PERSON.finditer(bare))
