"""A question in its conversation: whether it depends on what came before, and what that adds. Pure.

Nothing here reads an answer of the assistant: its words, searched, find what it said again and not
what is asked (docs/decisions/0049-follow-ups.md has the figures, of the weights too).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from helix.domain.ellipsis import POINTING, depends, in_full, in_reply, points_back
from helix.domain.history import History
from helix.domain.input_text import judged
from helix.domain.intents import courtesy
from helix.domain.question_analysis import STOP_WORDS, read_question
from helix.language.terms import question_words, terms
from helix.language.words import words

TERM_WEIGHT = 0.3
"""The weight of a word of the question just before, where a word of the turn weighs 1."""
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

_PRONOUN = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_VALUE = re.compile(r"\W*(?:how|who|when|where)\b", re.IGNORECASE)
_OWN_WORDS = 2


@dataclass(frozen=True)
class FollowUp:
    """A turn as it is searched.

    ``question`` is the turn as understood, its own text where that needed no change. ``terms`` are
    words of earlier questions with their weights, between 0 and 1; ``earlier`` those questions
    with the weights of their vectors, the latest first. ``standalone`` is what a model made of it.
    ``tentative``: it depends only by saying little, so that it may as well begin something new.
    """

    question: str
    depends: bool = False
    terms: dict[str, float] = field(default_factory=dict)
    earlier: tuple[tuple[str, float], ...] = ()
    standalone: str | None = None
    tentative: bool = False


def follow_up(question: str, history: History) -> FollowUp:
    """``question`` as it follows the questions of ``history``; all are read as they are judged."""
    question, history = judged(question), _judged(history)
    asked = [text for text in _as_understood(history) if not courtesy(text)]
    if not asked or courtesy(question) or not depends(question):
        return FollowUp(question)
    if (reply := in_reply(question, history)) is not None:
        return FollowUp(reply, True)
    topic_turns = _on_this_topic(asked)
    understood = in_full(question, topic_turns)
    earlier = [in_full(text, topic_turns[:place]) for place, text in enumerate(topic_turns)]
    return FollowUp(
        understood,
        True,
        _earlier_terms(understood, earlier),
        _earlier_vectors(understood, earlier),
        tentative=understood == question and not points_back(question),
    )


def _judged(history: History) -> History:
    turns = (replace(turn, question=judged(turn.question)) for turn in history.turns)
    return replace(history, turns=tuple(turns))


def _as_understood(history: History) -> list[str]:
    """The questions, where one replies to a question back as the question that it completes."""
    return [
        in_reply(turn.question, History(history.turns[:place])) or turn.question
        for place, turn in enumerate(history.turns)
    ]


def _on_this_topic(asked: Sequence[str]) -> Sequence[str]:
    """The last EARLIER questions, from the last one on that could stand alone."""
    last = asked[-EARLIER:]
    alone = (place for place in range(len(last) - 1, -1, -1) if not depends(last[place]))
    return last[next(alone, 0) :]


def with_topic(asked: FollowUp) -> str:
    """The question `How long does it take?` with the topic of the one before in place of `it`.

    For a model that takes words as they stand. Only a turn that asks for a measure, a person, a
    time or a place, which any passage may have, with at most two content words of its own; every
    other turn is as it was understood.
    """
    own = set(words(asked.question)) - STOP_WORDS - POINTING
    if not asked.earlier or len(own) > _OWN_WORDS or not _VALUE.match(asked.question):
        return asked.question
    before = asked.earlier[0][0]
    subject = set(read_question(before).subject)
    topic = " ".join(word for word in words(before) if not subject.isdisjoint(terms(word)))
    return _PRONOUN.sub(lambda _: topic, asked.question, count=1) if topic else asked.question


def _is_bare(question: str) -> bool:
    return len(set(words(question)) - STOP_WORDS - POINTING) <= 1


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
