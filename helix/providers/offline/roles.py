"""What a word of the question does in a sentence: what it tells of, or what it only mentions.

`Windows revenue fell, driven by Windows OEM` names OEM and is not about it; `$10.9 billion was
recognized` is no answer to what was not recognized.
"""

from __future__ import annotations

import re
from collections import Counter

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.language.paraphrases import meanings
from helix.language.word_lists import word_lists
from helix.providers.offline.explanations import explanation_asked
from helix.providers.offline.figures import measures_of

_WORD = re.compile(r"[A-Za-z][\w’'-]*")
DENIED = re.compile(
    r"\b(?:not|never|cannot|\w+n['’]t)(?: (?:yet|been|be|being|ever|also|already))*"
    r" (?P<word>[a-z-]+)",
    re.IGNORECASE,
)
_DENIES = re.compile(rf"(?:{any_of('negations')}|\w+n['’]t)\Z", re.IGNORECASE)
_SET_AGAINST = re.compile(r"(?:,| but) not (?!only\b)\w", re.IGNORECASE)
"""What is denied behind the word: `covers faults, not wear`."""
_REACH = 6  # words in front of a word in which it is denied
_LEFT_OVER = re.compile(rf"\b(?:{any_of('left_over')})\b", re.IGNORECASE)
_TELLS_LEFT_OVER = re.compile(rf"\b(?:{any_of('tells_left_over')})\b", re.IGNORECASE)
_TO_COME = re.compile(rf"^\W*when\b.*?\b(?:{any_of('to_come')})\b", re.IGNORECASE)
_TELLS_TO_COME = re.compile(rf"\b(?:{any_of('tells_to_come')})\b", re.IGNORECASE)
_REST = re.compile(r"\b(?:left|remain\w*)\b", re.IGNORECASE)
_TELLS_REST = re.compile(
    r"\b(?:remain\w*|left|available|un(?:used|spent|utilized)|outstanding|still|balance)\b",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"\bhow much (?:did|has|have|had|was|were)\b.*"
    rf"\b(?:{any_of('paid')}|borrow(?:ed)?|repurchased?)\b",
    re.IGNORECASE,
)
_REMAINED = re.compile(r"\b(?:remain(?:s|ed|ing)?|unspent|availab\w+)\b", re.IGNORECASE)
"""What is left of an amount is not what was spent of it."""
_INCLUDES = re.compile(r",? (?:which (?:also )?includes?|including) [^,;]*(?:,|$)", re.IGNORECASE)
_TAIL = re.compile(
    r"[,;]? (?:which (?:primarily|mainly|largely|mostly) |(?:due|owing|attributable) to |driven by "
    r"|reflect(?:s|ed|ing)? )",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d")
_PHRASE = 4  # words of a thing's name
_QUALIFYING = word_lists("tables")["qualifying"]


def tells_role(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence may tell what is asked, and does not tell its contrary.

    What is not yet done is not answered by what was done, what is left to pay not by what was paid,
    the day that is expected not by one that was, and an expense not by the unearned expense.
    """
    return (
        _denies_alike(question, text)
        and _is_left_over(question, text)
        and _is_to_come(question, text)
        and not _is_qualified(question, text)
        and not _is_in_tail(question, text)
        and not _is_only_included(question, text)
    )


def _denies_alike(question: AskedQuestion, text: str) -> bool:
    """Whether what the question denies is not affirmed by the sentence."""
    denied = DENIED.search(question.text)
    wanted = meanings(denied["word"]) if denied else ()
    if not wanted:
        return True
    if question.kind is AnswerKind.OPEN and _SET_AGAINST.search(text):
        return True
    words = _WORD.findall(text)
    places = [place for place, word in enumerate(words) if wanted[0] in meanings(word)]
    near = (words[max(0, place - _REACH) : place] for place in places)
    return not places or any(any(map(_DENIES.match, before)) for before in near)


def _is_left_over(question: AskedQuestion, text: str) -> bool:
    if not question.asks_for_value:
        return True
    if not _LEFT_OVER.search(question.text):
        return not (_SPENT.search(question.text) and _REMAINED.search(text))
    tells = _TELLS_REST if _REST.search(question.text) else _TELLS_LEFT_OVER
    return bool(tells.search(text))


def _is_to_come(question: AskedQuestion, text: str) -> bool:
    asked = question.kind is AnswerKind.TIME and _TO_COME.search(question.text)
    return not asked or bool(_TELLS_TO_COME.search(text))


def _is_in_tail(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence with an amount has what it is asked of only where it tells a cause.

    `Capital spending was $10 billion, which primarily reflects our fulfillment network`.
    """
    tail = _TAIL.search(text) if question.asks_for_value else None
    if tail is None or explanation_asked(question.text):
        return False
    asked = frozenset(question.subject) - question.named - measures_of(question)
    head = text[: tail.start()]
    return (
        bool(_NUMBER.search(head))
        and asked.isdisjoint(meanings(head))
        and not asked.isdisjoint(meanings(text[tail.start() :]))
        and not _NUMBER.search(text[tail.start() :])
    )


def _is_only_included(question: AskedQuestion, text: str) -> bool:
    """Whether the amount is of a whole that what is asked of is a part of."""
    measures = measures_of(question)
    asked = frozenset(question.subject) - question.named - measures
    if not question.asks_for_value or not measures or asked.isdisjoint(meanings(text)):
        return False
    return asked.isdisjoint(meanings(_INCLUDES.sub(" ", text)))


def _is_qualified(question: AskedQuestion, text: str) -> bool:
    """Whether each mention of a thing that is asked for is of another: `unearned compensation`."""
    if not question.asks_for_value:
        return False
    words, asked = _WORD.findall(text), frozenset(question.subject)
    stated = Counter(meanings(text))
    other: Counter[str] = Counter()
    for place, word in enumerate(words):
        qualifying = _QUALIFYING.intersection(meanings(word)) - asked
        behind = meanings(" ".join(words[place + 1 : place + 1 + _PHRASE])) if qualifying else ()
        other.update(asked.intersection(behind[:1]))
    return any(stated[word] == count for word, count in other.items())
