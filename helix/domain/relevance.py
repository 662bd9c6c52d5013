"""Whether what is said bears on what is asked: its subject, its entity, its period. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from helix.domain.asked import Question
from helix.domain.source_place import SourcePlace
from helix.language.word_lists import word_lists

_OF_COMPANIES = word_lists("tables")["of_companies"]


class Placed(Protocol):
    """A source that says where it stands."""

    @property
    def place(self) -> SourcePlace: ...


def companies_of(sources: Iterable[Placed]) -> frozenset[str]:
    """The words of the names of all companies whose documents the sources are of."""
    named = (source.place.company for source in sources)
    return frozenset[str]().union(*named) - _OF_COMPANIES


def is_of_another(question: Question, place: SourcePlace, companies: frozenset[str]) -> bool:
    """Whether a question names one of ``companies``, and a source is another company's."""
    asked = companies.intersection(question.subject)
    return bool(asked and place.company) and asked.isdisjoint(place.company)


def foreign_names(
    question: Question, place: SourcePlace, text: frozenset[str], companies: frozenset[str]
) -> frozenset[str]:
    """What a question names that a source with these meanings of its ``text`` is not about.

    A name that is in none of its words; and a company, where the source is another's.
    """
    if is_of_another(question, place, companies):
        return companies.intersection(question.subject)
    return question.named - place.about - text
