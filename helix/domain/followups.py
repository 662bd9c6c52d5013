"""A question in its conversation: whether it depends on what came before, and what that adds. Pure.

Nothing here reads an answer of the assistant: its words, searched, find what it said again and not
what is asked (docs/decisions/0049-follow-ups.md has the figures, of the weights too).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from helix.domain.history import History
from helix.domain.input_text import judged
from helix.domain.question_analysis import courtesy
from helix.language.terms import STOP_WORDS, question_words, terms
from helix.language.word_lists import word_lists
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
FEW_WORDS = 3
"""A turn of at most as many content words says too little alone."""

POINTING = word_lists("words")["pointing"]
_DEMONSTRATIVES = word_lists("words")["demonstratives"]


@dataclass(frozen=True)
class FollowUp:
    """A turn as it is searched.

    ``question`` is its own text. ``terms`` are words of earlier questions with their weights,
    between 0 and 1; ``earlier`` those questions with the weights of their vectors, the latest
    first. ``standalone`` is what a model made of it. ``tentative``: it depends only by saying
    little, so that it may as well begin something new.
    """

    question: str
    depends: bool = False
    terms: dict[str, float] = field(default_factory=dict)
    earlier: tuple[tuple[str, float], ...] = ()
    standalone: str | None = None
    tentative: bool = False

    @property
    def before(self) -> str:
        """The questions that it may go on from, a line each; '' of none.

        The last, and the last that says something where that is another.
        """
        texts = [" ".join(text.split()) for text, _ in self.earlier]
        telling = [text for text in texts if len(_content(text)) > 1]
        return "\n".join(dict.fromkeys([*texts[:1], *telling[:1]]))


def follow_up(question: str, history: History) -> FollowUp:
    """``question`` as it follows the questions of ``history``; all are read as they are judged."""
    question = judged(question)
    asked = [text for turn in history.turns if not courtesy(text := judged(turn.question))]
    if not asked or courtesy(question) or not depends(question):
        return FollowUp(question)
    earlier = _on_this_topic(asked)
    return FollowUp(
        question,
        True,
        _earlier_terms(question, earlier),
        _earlier_vectors(question, earlier),
        tentative=not points_back(question),
    )


def depends(question: str) -> bool:
    """True if ``question`` points back, or has at most FEW_WORDS content words."""
    return points_back(question) or len(_content(question)) <= FEW_WORDS


def points_back(question: str) -> bool:
    """True where the question has a word that stands for what was named before."""
    return not POINTING.isdisjoint(words(question))


def topic_of(question: str) -> str:
    """The words of an earlier question that tell what it is about; '' of none."""
    return " ".join(word for word in words(question) if word not in STOP_WORDS)


def with_topic(question: str, topic: str) -> str:
    """The question behind the topic of the one before it, as the model of evidence reads it."""
    return f"{topic}: {question}" if topic else question


def unresolved(question: str, history: History) -> str | None:
    """The thing that ``question`` points at, as in `this actor`, where nothing before names it.

    None where it points at nothing, or at what an earlier question, the last answer or the
    question itself has named already.
    """
    asked = words(judged(question))
    told = [*(turn.question for turn in history.turns), *(t.answer for t in history.turns[-1:])]
    known = set(terms(" ".join([*told, history.summary])))
    for place, (word, thing) in enumerate(pairwise(asked)):
        if word in _DEMONSTRATIVES and thing not in STOP_WORDS:
            told_here = terms(" ".join(asked[:place]))
            return thing if known.union(told_here).isdisjoint(terms(thing)) else None
    return None


def _content(question: str) -> set[str]:
    return set(words(question)) - STOP_WORDS - POINTING


def _on_this_topic(asked: Sequence[str]) -> Sequence[str]:
    """The last EARLIER questions, from the last one on that could stand alone."""
    last = asked[-EARLIER:]
    alone = (place for place in range(len(last) - 1, -1, -1) if not depends(last[place]))
    return last[next(alone, 0) :]


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
    first = VECTOR_WEIGHT * (BARE if len(_content(question)) <= 1 else 1)
    return tuple((text, first * DECAY**age) for age, text in enumerate(reversed(asked)))
