"""What a turn speaks of that nothing before it names, such as `this actor`. Pure.

Found on MTRAG-UN (evals/CONVERSATIONS.md): a demonstrative is seldom wrong; `the loan` mostly has
the loan of some document in mind, and counts only where what was found is of no one thing either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.domain.asked import STOP_WORDS
from helix.domain.history import History
from helix.domain.records import Candidate
from helix.language.terms import terms
from helix.language.word_lists import word_lists

SPREAD = 0.2
"""By less than this the fifth of the passages found falls behind the first where they compete, in
the score of convex fusion, 0 to 1."""
_COMPARED = 5
_MOST_WORDS = 4
_POINTED = re.compile(r"\b(?:this|that|these|those)\s+(?=[a-z])", re.IGNORECASE)
_DEFINITE = re.compile(r"\bthe\s+(?=[a-z])")
_AUXILIARY = re.compile(
    r"\b(?:do|does|did|can|could|will|would|shall|should|may|might|must)\s+\Z", re.IGNORECASE
)
_ANTECEDENT = re.compile(
    r"\b(?:the|an?|any|every|each|some|no|which|what)\s+[\w'’-]+\s+\Z", re.IGNORECASE
)
"""What a relative `that` follows: `the factory that makes the phone` points at nothing."""
_WORD = re.compile(r"\s*([\w'’-]+)")
_ENDS_PHRASE = word_lists("followups")["ends_phrase"] | STOP_WORDS


def unresolved(question: str, history: History, found: Sequence[Candidate]) -> str | None:
    """The words of ``question`` whose thing is not told, without their article; else None.

    ``found`` are the passages found for it, best first. A thing is told where the last of its words
    is in an earlier question or answer, or earlier in the question itself; so is everything where
    the best passage is of a document that was put to the conversation, which is what is meant then.
    """
    if found and found[0].hit.attached:
        return None
    before = " ".join(f"{turn.question} {turn.answer}" for turn in history.turns)
    told = set(terms(f"{before} {history.summary}"))
    if phrase := _untold(_POINTED, question, told):
        return phrase
    if history.turns and _competing(found):
        return _untold(_DEFINITE, question, told)
    return None


def _competing(found: Sequence[Candidate]) -> bool:
    """Whether several passages fit nearly as well, so that none is surely meant."""
    scores = [each.fused for each in found[:_COMPARED] if each.fused is not None]
    return len(scores) == _COMPARED and scores[0] - scores[-1] < SPREAD


def _untold(opening: re.Pattern[str], question: str, told: set[str]) -> str | None:
    for match in opening.finditer(question):
        before = question[: match.start()]
        if match[0].lower().startswith("that") and _ANTECEDENT.search(before):
            continue
        words = _phrase(question, match.end(), asked_by_verb=bool(_AUXILIARY.search(before)))
        known = told.union(terms(before))
        if words and known.isdisjoint(terms(words[-1])):
            return " ".join(words)
    return None


def _phrase(text: str, start: int, *, asked_by_verb: bool) -> list[str]:
    """The words from ``start`` on up to one that ends a noun phrase.

    Behind `did` and the like a verb follows the phrase; where none that is known did, it is the
    last of the words taken.
    """
    words: list[str] = []
    while len(words) < _MOST_WORDS and (match := _WORD.match(text, start)):
        word = match[1].lower()
        if word in _ENDS_PHRASE:
            asked_by_verb = asked_by_verb and word in STOP_WORDS
            break
        words.append(match[1])
        start = match.end()
    return words[:-1] if asked_by_verb and len(words) > 1 else words
