"""The rules that a claim has to pass against a span, in the order in which they are asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from helix.answering.proof.alteration import alteration
from helix.answering.proof.clauses import contradicted, misplaced
from helix.answering.proof.facts import Facts
from helix.answering.proof.model import CLAIM, NAME, NEGATION, NUMBER
from helix.answering.proof.passages import Passage
from helix.answering.proof.presence import name_missing, number_missing, polarity_differs
from helix.answering.proof.qualifiers import claims_more
from helix.answering.proof.roles import roles_swapped


@dataclass(frozen=True)
class Candidate:
    """A span as rules look at it: the facts of its sentences, and the passages they are from."""

    facts: tuple[Facts, ...]
    passages: tuple[Passage, ...]

    @cached_property
    def whole(self) -> Facts:
        """The sentences as one text."""
        if len(self.facts) == 1:
            return self.facts[0]
        return Facts("\n".join(each.text for each in self.facts))

    @property
    def title(self) -> str:
        return " ".join(passage.title for passage in self.passages)

    @property
    def capitals(self) -> frozenset[str]:
        """Words written with a capital within sentences; all sentences are read for it."""
        return frozenset().union(*(passage.capitals for passage in self.passages))


class Rule(NamedTuple):
    """One condition: ``problem(claim, candidate)`` says what is wrong, None where nothing is.

    The rules ``of_presence`` are asked first and before words are counted. What a ``final`` one
    finds is the last word on the whole passage.
    """

    name: str
    problem: Callable[[Facts, Candidate], str | None]
    of_presence: bool = False
    final: bool = False


def _missing_number(claim: Facts, span: Candidate) -> str | None:
    return NUMBER if number_missing(claim, span.facts) else None


def _missing_name(claim: Facts, span: Candidate) -> str | None:
    missing = name_missing(claim, span.facts, span.title, span.capitals)
    return NAME if missing else None


def _other_polarity(claim: Facts, span: Candidate) -> str | None:
    return NEGATION if polarity_differs(claim, span.facts) else None


def _alteration(claim: Facts, span: Candidate) -> str | None:
    return alteration(claim, span.whole)


def _other_clause(claim: Facts, span: Candidate) -> str | None:
    if misplaced(claim, span.whole):
        return NUMBER
    return NEGATION if contradicted(claim, span.whole) else None


def _swapped(claim: Facts, span: Candidate) -> str | None:
    return NAME if len(span.facts) == 1 and roles_swapped(claim, span.whole) else None


def _more_claimed(claim: Facts, span: Candidate) -> str | None:
    return CLAIM if claims_more(claim, span.whole) else None


RULES = (
    Rule("numbers", _missing_number, of_presence=True),
    Rule("names", _missing_name, of_presence=True),
    Rule("negation", _other_polarity, of_presence=True),
    Rule("agreement", _alteration, final=True),
    Rule("clauses", _other_clause),
    Rule("roles", _swapped),
    Rule("qualifiers", _more_claimed),
)
