"""Things that a turn speaks of and nothing before it names, such as `this actor`. Pure.

Found on MTRAG-UN (evals/CONVERSATIONS.md): a demonstrative is seldom wrong; `the loan` mostly has
the loan of some document in mind, and counts only where what was found is of no one thing either;
`the actor` is one of many, and counts where passages of several documents were found; `it` counts
where what was found is not about what the question before asked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.history import History
from helix.domain.noun_phrases import NounPhrase, definite, early_pronoun, pointed
from helix.domain.question_analysis import read_question
from helix.domain.records import Candidate
from helix.language.terms import terms

SPREAD = 0.2
"""By less than this the fifth of the passages found falls behind the first where they compete, in
the score of convex fusion, 0 to 1."""
OFF_TOPIC = 0.2
"""At most this share of the words that the question before asked about is in passages, on average,
that are of something else."""
_COMPARED = 5
_PRONOUNS = frozenset(("it", "its", "they", "them", "their"))


def unresolved(question: str, history: History, found: Sequence[Candidate]) -> str | None:
    """The words of ``question`` whose thing is not known, without their article; else None.

    ``found`` are the passages found for it, best first. A thing is known where the last of its
    words is in an earlier question, in the last answer, or earlier in the question itself; so is
    everything where the best passage is of a document that was put to the conversation, which is
    what is meant then.
    """
    if found and found[0].hit.attached:
        return None
    competing = bool(history.turns) and _competing(found)
    several = len({each.hit.document_id for each in found[:_COMPARED]}) > 1
    counting = (one for one in definite(question) if competing or (several and one.is_one_of_many))
    if phrase := _first_unresolved([*pointed(question), *counting], history):
        return phrase.text
    return early_pronoun(question) if competing and _off_topic(history, found) else None


def unresolved_phrase(question: str, history: History) -> NounPhrase | None:
    """The phrase of ``unresolved``, whatever was found: of a question that was refused."""
    many = (one for one in definite(question) if one.is_one_of_many)
    return _first_unresolved([*pointed(question), *many], history)


def unnamed(question: str, history: History) -> str | None:
    """The thing that a refused question does not name: as ``unresolved``, whatever was found."""
    phrase = unresolved_phrase(question, history)
    return phrase.text if phrase else early_pronoun(question)


def which(unnamed: str) -> str:
    """The question back."""
    if unnamed in _PRONOUNS:
        return f'What do you mean by "{unnamed}"?'
    return f"Which {unnamed} do you mean?"


def _first_unresolved(phrases: Sequence[NounPhrase], history: History) -> NounPhrase | None:
    asked = [turn.question for turn in history.turns]
    answered = [turn.answer for turn in history.turns[-1:]]
    known = set(terms(" ".join([*asked, *answered, history.summary])))
    return next((one for one in phrases if not one.is_known(known)), None)


def _competing(found: Sequence[Candidate]) -> bool:
    """True if several passages fit nearly as well, so that none is surely meant."""
    scores = [each.fused for each in found[:_COMPARED] if each.fused is not None]
    return len(scores) == _COMPARED and scores[0] - scores[-1] < SPREAD


def _off_topic(history: History, found: Sequence[Candidate]) -> bool:
    """True if the passages hardly speak of what the question before did."""
    topic = set(read_question(history.turns[-1].question).subject)
    met = sum(len(topic.intersection(terms(each.hit.content))) for each in found[:_COMPARED])
    return bool(topic) and met <= OFF_TOPIC * len(topic) * _COMPARED
