"""What a question for a figure needs of a sentence: a number that is no date, and of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterable

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import dates
from helix.language.word_lists import word_lists

_MEASURES = word_lists("questions")["measures"]
_AMOUNT = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_COUNT = re.compile(r"\bhow many\b", re.IGNORECASE)
_SHARE = re.compile(r"\bpercent(?:age)?\b|%", re.IGNORECASE)
_ASKS_SHARE = re.compile(
    r"\b(?:percent\w*|share|portion|proportion|fraction|part|rate|margin|much of|growth|grow)\b|%",
    re.I,
)
_SHARE_OF = re.compile(r"\d[\d.,]*\s?%(?:,? (?:and|or) \d[\d.,]*\s?%)?(?= of\b)")  # of a whole
_PRICE = re.compile(
    rf"\bhow much (?:money )?(?:did|does|do|will|would|has|have)\b.*\b(?:{any_of('paid')})\b"
    r"|\bhow much (?:is|are|was|were) (?:the|your|our|my|its|a|an) (?:[\w-]+ )?"
    rf"(?:{any_of('sums')})\b"
    rf"|\bhow much (?:(?!d(?:id|o|oes)\b)\w+ )?(?:{any_of('sums')})\b|\bwhat (?:price|fine|sum)\b"
    r"|\bwhat (?:deposit|fee|penalty|rent|salary|dividend)"
    r" (?:did|do|does|must|has|have|is|was|were|are)\b"
    r"|\bwhat (?:did|does|do|will|would|has|have|had)\b.*\b(?:pay|paid|spend|spent|cost|charge)\b"
    r"|\bwhat (?:is|are|was|were)\b.*\b(?:paying|spending|charging)\b",
    re.IGNORECASE,
)
_PAYS = re.compile(r"\b(?:how much|what)\b.*\b(?:pay|paid|paying)\b", re.IGNORECASE)
_PAYING = re.compile(rf"\b(?:{any_of('paying')})\b", re.IGNORECASE)
_PAST = re.compile(r"\b(?:did|was|were)\b", re.IGNORECASE)
_PLANS = re.compile(rf"\b(?:{any_of('plans')})\b", re.IGNORECASE)
_MONEY = re.compile(
    rf"[$€£¥₹]|\b(?:{any_of('currencies')})\b|\b(?:fee|charge|penalty|deposit|fine) of\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,$€£¥₹])(?:1[5-9]|20)\d\d(?:[-–/]\d\d(?:\d\d)?)?s?\b(?![.,]\d|\s*%)")
_REFERENCE = re.compile(
    r"\b(?:section|item|note|rule|exhibit|title|table|figure|part|chapter|page|article)s? \d[\w.]*"
    r"|\b(?-i:[A-Z][a-z]+ \d{1,3}(?= [A-Z])|[a-z]+[A-Z]\w* \d{1,2}"
    r"|(?!USD|EUR|GBP|CHF|AUD|CAD|US)[A-Z]{2,} \d{1,2}\.\d)\b"
    r"(?!,?\d|\s?%| (?:cents?|thousand|million|billion))"
    r"|\b\d{1,2}-[A-Z]\b|\bQ[1-4]\b|^\d{1,2}\.\d{1,2}\*?\s|[‘'’]\d{3}\b|^\s*\(\d{1,2}\)",
    re.IGNORECASE,
)
NUMBER = re.compile(
    rf"\d[\d.,]*|\b(?!(?:third|quarter|half)\b)(?:{any_of('number_words')})\b", re.IGNORECASE
)
_SUM = re.compile(r"[$€£¥₹]\s?\d[\d.,]*(?:\s(?:thousand|million|billion|trillion))?|\d[\d.,]*\s?%")
_CHANGE = re.compile(rf"\b(?:{any_of('changes')})\b", re.IGNORECASE)
_COMPARES = re.compile(r"\bcompare[sd]? (?:to|with|against)\b", re.IGNORECASE)
_TAKEN_AS = re.compile(
    r"\b(?:recogni[sz]ed|recorded|reported|classified|treated|counted|booked) (?:as|in) "
    r"(?:an? )?(?:\w+ )?(\w+)",
    re.IGNORECASE,
)
"""`Recognized as revenue` asks for no revenue."""
_EFFECT = re.compile(r"\b(?:results?|effects?|impacts?) of\b", re.IGNORECASE)
_ONE_AMOUNT = (
    r"[$€£¥₹]?\s?\d[\d.,]*(?:\s?%|\s(?:percent(?:age points)?|points?|basis points|thousand"
    r"|million|billion)\b)*"
)
_CHANGED_BY = re.compile(
    rf"\b(?:{any_of('changes')}|up|down)(?: (?:by|of|approximately|about|nearly|only|slightly|a))*"
    rf" {_ONE_AMOUNT}(?:,?(?: or| and)? \(?{_ONE_AMOUNT}\)?)*",
    re.IGNORECASE,
)  # `increased 2% or $1.5 billion`: how much it changed, not how much it is
_BY = re.compile(
    r"\bby (?:approximately |about |nearly |only |some )?"
    r"(?:[$€£¥₹]\s?\d[\d.,]*(?:\s(?:thousand|million|billion|trillion))?"
    r"|\d[\d.,]*(?:\s?%| percent| million| billion| basis points))",
    re.IGNORECASE,
)  # `reduced costs by $35 million`
_LENGTH = re.compile(
    rf"(?:\b\d[\d.,]*|\b(?:{any_of('number_words')}))[ -](?:years?|months?|weeks?|days?|hours?)\b",
    re.IGNORECASE,
)
_LENGTH_ASKED = re.compile(
    r"\b(?:years?|months?|weeks?|days?|hours?|period|term|life|age|notice|time|leave|vacation)\b",
    re.I,
)
_ORDINAL = re.compile(rf"\b(?:{any_of('ordinals')})\b", re.IGNORECASE)
_PERSON = re.compile(
    r"\b[A-Z][^\W\d_]+(?:-[A-Z][^\W\d_]+)?(?: [A-Z]\.)?"
    r"(?: (?:van|von|de|al|bin|da))? [A-Z][^\W\d_]+"
)
_FIRM = re.compile(r"\b[A-Z]\w+(?: (?:&|[A-Z]\w+))* (?:LLP|PLLC|P\.C\.)")
_AUDITS = re.compile(r"\baudit(?:s|ed|ors?)\b", re.IGNORECASE)
_AUDIT_FIRM = re.compile(rf"\b(?:{any_of('audit_firms')})\b")
_NOT_NAME = re.compile(rf"\b(?:{any_of('not_names')})s?\b", re.IGNORECASE)
_ROLE = re.compile(
    r"\b(?:officer|president|director|chair(?:man|woman)?|treasurer|secretary|auditors?|audit(?:s|ed))\b",
    re.I,
)


def has_figure(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence has a figure as the question asks for one; True where it asks for none.

    `How much did it pay?` wants money, `how many` a number that is neither money nor a share, the
    value of a measure (revenue, a rate) any number; none of them a date. A person in an office is
    stated by a name.
    """
    asked = question.text
    if question.kind is AnswerKind.NAME and _ROLE.search(asked):
        return _names_person(asked, text)
    if _AMOUNT.search(asked) and _CHANGE.search(asked) and not _CHANGE.search(text):
        return False
    if _COMPARES.search(asked) and measures_of(question):
        return bool(NUMBER.search(_without_dates(text)))
    if not (asks_for_amount(asked) or (question.asks_for_value and measures_of(question))):
        return True
    bare = _without_dates(
        text if asks_for_change(asked) else _BY.sub(" ", _CHANGED_BY.sub(" ", text))
    )
    if measures_of(question) and not _ASKS_SHARE.search(asked):
        bare = _SHARE_OF.sub(" ", bare)
    if _PRICE.search(asked):
        if _PAYS.search(asked) and not _PAYING.search(text):
            return False
        return bool(_MONEY.search(bare) and NUMBER.search(bare))
    if not _LENGTH_ASKED.search(asked):
        bare = _LENGTH.sub(" ", bare)
    if _COUNT.search(asked) and not _SHARE.search(_SUM.sub(" ", asked)):
        bare = _SUM.sub(" ", bare)
    return bool(NUMBER.search(bare))


def tells_money(text: str) -> bool:
    """Whether a text names a sum of money."""
    return bool(_MONEY.search(text))


def asks_for_amount(question: str) -> bool:
    """Whether it is asked how much or how many, or what something cost."""
    return bool(_AMOUNT.search(question) or _PRICE.search(question))


def tells_plan(text: str) -> bool:
    """Whether a text tells what was agreed on or is planned."""
    return bool(_PLANS.search(text))


def asks_what_came(question: AskedQuestion) -> bool:
    """Whether it is asked what came to be, not what was planned."""
    return bool(_PAST.search(question.text)) and not tells_plan(question.text)


def asks_for_change(question: str) -> bool:
    """Whether a question asks how much something changed, not how much it is."""
    return bool(_CHANGE.search(question) or _EFFECT.search(question))


def without_sums_and_dates(text: str) -> str:
    """A text without sums of money, shares of a whole, dates and numbers of sections."""
    return _SUM.sub(" ", _without_dates(text))


def _without_changes(text: str) -> str:
    return _BY.sub(" ", _CHANGED_BY.sub(" ", text))


def _without_dates(text: str) -> str:
    for start, end, _ in sorted(dates(text), reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return _REFERENCE.sub(" ", _YEAR.sub(" ", without_periods(text)))


def measures_of(question: AskedQuestion) -> frozenset[str]:
    """The words of the subject that are measures, which are stated as numbers."""
    taken = frozenset(meanings(" ".join(_TAKEN_AS.findall(question.text))))
    return frozenset(
        w for w in question.subject if w not in taken and not _MEASURES.isdisjoint(w.split("_"))
    )


def counts_alike(question: AskedQuestion, stated: Iterable[str]) -> bool:
    """Whether a sentence counts as the question does, which asks for `the third case`.

    ``stated``: the sentence and those before it, the nearest first: the first of them that counts
    says which case it is about; where none does, it may be any.
    """
    wanted = _ordinals(question.text)
    found = (_ordinals(text) for text in stated) if wanted else iter(())
    nearest = next(filter(None, found), wanted)
    return not wanted or bool(wanted & nearest)


def _ordinals(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _ORDINAL.findall(without_periods(text)))


def _names_person(asked: str, text: str) -> bool:
    """Whether the text has a person's name that the question has not; of auditors a firm's."""
    if _AUDITS.search(asked):
        return bool(_FIRM.search(text) or _AUDIT_FIRM.search(text))
    bare = _NOT_NAME.sub(".", text)
    return any(name[0] not in asked for name in _PERSON.finditer(bare)) or bool(_FIRM.search(text))
