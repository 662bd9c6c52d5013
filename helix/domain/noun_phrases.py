"""Phrases of a question that point at a thing: `this actor`, `the actor`, a pronoun. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from helix.domain.question_analysis import STOP_WORDS
from helix.language.terms import terms
from helix.language.word_lists import expression, word_lists

_MOST_WORDS = 4
_NEAR = 100  # characters in front of a phrase that say how it stands there
_POINTED = re.compile(r"\b(?:this|that|these|those)\s+(?=[a-z])", re.IGNORECASE)
_DEFINITE = re.compile(r"\b(?:[Tt]he|a (?:specific|certain|particular))\s+(?=[A-Za-z])")
_PRONOUN = re.compile(expression("followups", "pronoun"), re.DOTALL)
"""A question whose pronoun comes before any name or thing that it could stand for."""
_EXPLETIVE = re.compile(expression("followups", "expletive"), re.IGNORECASE | re.DOTALL)
"""The continuation of an `it` that stands for what comes after: `is it possible to`."""
_AUXILIARY = re.compile(
    r"\b(?:do|does|did|can|could|will|would|shall|should|may|might|must)\s+\Z", re.IGNORECASE
)
_COPULA = re.compile(r"\b(?:is|are|was|were|isn['’]t|aren['’]t)\s+\Z", re.IGNORECASE)
_ANTECEDENT = re.compile(
    r"\b(?:the|an?|any|every|each|some|no|which|what)\s+[\w'’-]+\s+\Z", re.IGNORECASE
)
"""The antecedent of a relative `that`: `the factory that makes the phone` points at nothing."""
_WORD = re.compile(r"\s*([\w'’-]+)")
_OWNER = re.compile(r"(?:['’]s|(?<=s)['’])\Z")
_DATED = re.compile(r"\s+(?:in|on|at|from|until|since)\s+(?:the\s+)?(?:[A-Z]\w+\s+)?\d")
"""The time that tells one of many from the others: `the championship in 1998`."""
_LISTS = word_lists("followups")
_ENDS_PHRASE = _LISTS["ends_phrase"] | STOP_WORDS


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase of a question: its words behind the article, and the word that ended it.

    ``start`` and ``end`` are its place in the question, with its article.
    """

    question: str
    start: int
    end: int
    words: tuple[str, ...]
    ended_by: str

    @property
    def text(self) -> str:
        """Its words without the article."""
        return " ".join(self.words)

    @property
    def before(self) -> str:
        """The question up to its article."""
        return self.question[: self.start]

    @property
    def is_one_of_many(self) -> bool:
        """True if the thing is of a kind of which documents know many, such as actors."""
        head = self.words[-1].lower()
        many = _LISTS["many_of_a_kind"]
        return head in many or head.removesuffix("s") in many

    def is_known(self, known: set[str]) -> bool:
        """True if the thing is among the words ``known``, or comes earlier in the question."""
        return not known.union(terms(self.before)).isdisjoint(terms(self.words[-1]))


def pointed(question: str) -> Iterator[NounPhrase]:
    """`this actor`; not `a clerk that stamps`, `is this free for all`, `that kind of loan`."""
    for phrase in _phrases(_POINTED, question):
        relative = question[phrase.start : phrase.start + 4].lower() == "that"
        if relative and _ANTECEDENT.search(phrase.before[-_NEAR:]):
            continue
        alone = len(phrase.words) == 1 and not phrase.is_one_of_many
        said_of_it = alone and phrase.ended_by in _LISTS["said_of_it"]
        if not (said_of_it and _COPULA.search(phrase.before[-_NEAR:])):
            yield phrase


def definite(question: str) -> Iterator[NounPhrase]:
    """`the actor`; not `the actor who sang it`, `the first actor`, `the actor in 1998`, a name."""
    for phrase in _phrases(_DEFINITE, question):
        modifiers = phrase.words[:-1]
        names = [word.lower() for word in modifiers if word[0].isupper() and not word.isupper()]
        is_name = phrase.words[-1][0].isupper() and not phrase.is_one_of_many
        singled = any(w.lower() in _LISTS["singled_out"] or w.endswith("est") for w in modifiers)
        if not (
            phrase.ended_by in _LISTS["specifies"]
            or _DATED.match(question, phrase.end)
            or singled
            or is_name
            or names not in ([], ["prime"])
        ):
            yield phrase


def early_pronoun(question: str) -> str | None:
    """The pronoun of a question that names nothing before it, such as `Did it win an award?`."""
    found = _PRONOUN.match(question.strip())
    return None if found is None or _EXPLETIVE.match(found["rest"]) else found["pronoun"]


def _phrases(opening: re.Pattern[str], question: str) -> Iterator[NounPhrase]:
    for match in opening.finditer(question):
        near = question[max(0, match.start() - _NEAR) : match.start()]
        asked_by_verb = bool(_AUXILIARY.search(near))
        words, end, ended_by = _read(question, match.end(), asked_by_verb=asked_by_verb)
        if words and words[-1].lower() not in _LISTS["of_no_kind"]:
            yield NounPhrase(question, match.start(), end, tuple(words), ended_by)


def _read(text: str, start: int, *, asked_by_verb: bool) -> tuple[list[str], int, str]:
    """The words from ``start`` on up to one that ends a noun phrase, their end, and that one.

    Behind `did` and the like a verb follows the phrase; where none that is known did, it is the
    last of the words taken. Whose something is ends the phrase: `the actor's fame` is of an actor.
    """
    found: list[re.Match[str]] = []
    ended_by = ""
    while len(found) < _MOST_WORDS and (match := _WORD.match(text, start)):
        word = match[1].lower()
        if word in _ENDS_PHRASE:
            asked_by_verb = asked_by_verb and word in STOP_WORDS
            ended_by = word
            break
        found.append(match)
        start = match.end()
        if _OWNER.search(word):
            asked_by_verb = False
            break
    if asked_by_verb and len(found) > 1:
        found.pop()
    while len(found) > 1 and _describes(found[-1][1].lower()):
        found.pop()
    words = [_OWNER.sub("", match[1]) for match in found]
    return words, found[-1].start(1) + len(words[-1]) if found else start, ended_by


def _describes(word: str) -> bool:
    """True if ``word`` is an adverb or participle, no noun: `recently`, `recognised`."""
    if word.endswith("ly"):
        return word not in _LISTS["not_adverbs"]
    return word.endswith("ed") and not word.endswith("eed")
