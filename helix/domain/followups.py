"""A question in its conversation: whether it depends on what came before, and what that adds. Pure.

Nothing here reads an answer of the assistant: its words, searched, find what it said again and not
what is asked (docs/decisions/0049-follow-ups.md has the figures, of the weights too).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from helix.domain.asked import STOP_WORDS, read_question
from helix.domain.history import History
from helix.domain.intents import courtesy
from helix.language.periods import Period, periods
from helix.language.terms import question_words, terms
from helix.language.word_lists import tables, word_lists
from helix.language.words import words

TERM_WEIGHT = 0.3
"""What a word of the question just before weighs, where a word of the turn weighs 1."""
VECTOR_WEIGHT = 0.25
"""The same of its vector."""
BARE = 3.0
"""By which the vectors weigh more for a turn of one content word, which says hardly anything."""
DECAY = 0.6
"""By which both fall with each question further back."""
EARLIER = 4
"""Questions that are looked back at; with more no more is found."""
MOST_TERMS = 16
"""Words of earlier questions that are searched, the heaviest: each costs a search some time."""
FEW_WORDS = 3
"""A turn of at most as many content words says too little alone."""

_LISTS = word_lists("followups")
_POINTING = _LISTS["pointing"]
_TEXTS = tables("followups")
_CONNECTED = re.compile(
    rf"\W*(?:{'|'.join(_TEXTS['connectives'].split())}|{_TEXTS['asking']})\b", re.IGNORECASE
)
_ELLIPSIS = re.compile(
    rf"\W*(?:{_TEXTS['opening']}\b[\s,]*)?(?:{_TEXTS['asking']}\b\s*)?"
    rf"(?:{_TEXTS['place']}\s+)?(?P<article>the\s+)?(?P<rest>.+?)(?:\s+(?:then|instead|too))?\W*",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"(?<=\S\s)[A-ZÀ-Þ][\w&.'’-]*(?:\s+(?:(?:of|and|the|&)\s+)?[A-ZÀ-Þ][\w&'’-]*)*")
_ARTICLE = re.compile(r"\bthe\s+\Z", re.IGNORECASE)
_RATE = re.compile(r"\b(?:per|a|each|every) (?:hour|day|night|week|month|quarter|year)\b", re.I)
_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_VALUE = re.compile(r"\W*(?:how|who|when|where)\b", re.IGNORECASE)
_OWN_WORDS = 2
_POSSESSIVE = re.compile(r"['’]s\Z")


@dataclass(frozen=True)
class FollowUp:
    """A turn as it is searched.

    ``question`` is the turn as understood, its own text where that needed no change. ``terms`` are
    words of earlier questions with their weights, between 0 and 1; ``earlier`` those questions
    with the weights of their vectors, the latest first. ``standalone`` is what a model made of it.
    """

    question: str
    depends: bool = False
    terms: dict[str, float] = field(default_factory=dict)
    earlier: tuple[tuple[str, float], ...] = ()
    standalone: str | None = None


def follow_up(question: str, history: History) -> FollowUp:
    """``question`` as it follows the questions of ``history``."""
    asked = [turn.question for turn in history.turns if not courtesy(turn.question)]
    if not asked or courtesy(question) or not depends(question):
        return FollowUp(question)
    told = _on_this_topic(asked)
    understood = in_full(question, told)
    earlier = [in_full(text, told[:place]) for place, text in enumerate(told)]
    return FollowUp(
        understood, True, _earlier_terms(understood, earlier), _earlier_vectors(understood, earlier)
    )


def _on_this_topic(asked: Sequence[str]) -> Sequence[str]:
    """The last EARLIER questions, from the last one on that could stand alone."""
    last = asked[-EARLIER:]
    alone = (place for place in range(len(last) - 1, -1, -1) if not depends(last[place]))
    return last[next(alone, 0) :]


def depends(question: str) -> bool:
    """Whether it points back, opens with a connective, or has at most FEW_WORDS content words."""
    found = words(question)
    if any(word in _POINTING for word in found) or _CONNECTED.match(question):
        return True
    return len({word for word in found if word not in STOP_WORDS}) <= FEW_WORDS


def with_topic(asked: FollowUp) -> str:
    """`How long does it take?` with what the question before it asked about in place of `it`.

    For a model that takes words as they stand. Only a turn that asks for a measure, a person, a
    time or a place, which any passage may have, with at most two content words of its own; every
    other turn is as it was understood.
    """
    own = set(words(asked.question)) - STOP_WORDS - _POINTING
    if not asked.earlier or len(own) > _OWN_WORDS or not _VALUE.match(asked.question):
        return asked.question
    before = asked.earlier[0][0]
    subject = set(read_question(before).subject)
    topic = " ".join(word for word in words(before) if not subject.isdisjoint(terms(word)))
    return _PRONOUN.sub(lambda _: topic, asked.question, count=1) if topic else asked.question


def _is_bare(question: str) -> bool:
    return len(set(words(question)) - STOP_WORDS - _POINTING) <= 1


def in_full(question: str, asked: Sequence[str]) -> str:
    """``question`` with what its speaker left out, of the questions ``asked`` before it in order.

    `And in 2023?` takes the question before with its period changed, `What about Apple?` with its
    name changed, `And per month?` with `per year`. Otherwise it is unchanged: what a pronoun stands
    for is too often another name.
    """
    before = ""
    for text in (*asked, question):
        before = _completed(text, before)
    return before


def _completed(question: str, before: str) -> str:
    if not before or not depends(question):
        return question
    return _moved(question, before) or question


def _moved(question: str, before: str) -> str | None:
    """The question before, of another period, name or rate; None where neither is asked."""
    left = _ELLIPSIS.fullmatch(question)
    if left is None or left["rest"] == question.strip(" ?!."):
        return None
    rest, asked, known = left["rest"], periods(left["rest"]), periods(before)
    if len(asked) == 1 and known and _is_all(asked[0], rest):
        head, tail = before[: known[-1].start], before[known[-1].end :]
        head = _ARTICLE.sub("", head) if rest[0].isdigit() or left["article"] else head
        return f"{head}{left['article'] or ''}{rest}{tail}"
    if _RATE.fullmatch(rest) and _RATE.search(before):
        return _RATE.sub(rest, before, count=1)
    names = list(_NAME.finditer(before))
    if names and not asked and _NAME.fullmatch(f"a {rest}", 2):
        last = names[-1]
        owned = _POSSESSIVE.search(last[0])
        return f"{before[: last.start()]}{rest}{owned[0] if owned else ''}{before[last.end() :]}"
    return None


def _is_all(period: Period, text: str) -> bool:
    """Whether ``text`` asks for nothing beside the period."""
    return not read_question(text[: period.start] + text[period.end :]).subject


def _earlier_terms(question: str, asked: Sequence[str]) -> dict[str, float]:
    """The words of earlier questions that ``question`` lacks, with their weights."""
    own = question_words(question)
    found: dict[str, float] = {}
    for age, text in enumerate(reversed(asked)):
        for term in question_words(text):
            if term not in own and len(found) < MOST_TERMS:
                found.setdefault(term, TERM_WEIGHT * DECAY**age)
    return found


def _earlier_vectors(question: str, asked: Sequence[str]) -> tuple[tuple[str, float], ...]:
    first = VECTOR_WEIGHT * (BARE if _is_bare(question) else 1)
    return tuple((text, first * DECAY**age) for age, text in enumerate(reversed(asked)))
