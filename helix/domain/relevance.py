"""The place of a source, and tests that a statement bears on the question asked. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Protocol

from helix.domain.question_analysis import AskedQuestion
from helix.language.paraphrases import meanings
from helix.language.periods import Period, dates, keys_until, lengths_in, months_in, periods
from helix.language.word_lists import word_lists

_WEEK = 8  # days by which the ends of one period differ from year to year


@dataclass(frozen=True)
class SourcePlace:
    """The title of a source's document, the headings above it, the document's facts by name."""

    title: str = ""
    heading_path: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it as one text."""
        return "\n".join((self.title, *self.heading_path, *self.facts.values()))

    @cached_property
    def about(self) -> frozenset[str]:
        """Meanings of its title, the headings above it and the facts of its document."""
        return frozenset(meanings(self.text))

    @cached_property
    def company(self) -> frozenset[str]:
        """The words of the company's name; empty where none is known."""
        return frozenset(meanings(self.facts.get("company", "")))

    @cached_property
    def period_end(self) -> date | None:
        """The last day of what its document reports on."""
        period = self.facts.get("period_end") or self.facts.get("period", "")
        return next((day for _, _, day in dates(period)), None)

    @cached_property
    def period_keys(self) -> frozenset[str]:
        """The keys of helix.language.periods of what its document reports on."""
        facts = self.facts
        found = {key for name in ("period", "fiscal") for one in periods(facts.get(name, ""))
                 for key in one.keys}  # fmt: skip
        if self.period_end:
            found.update(
                keys_until(self.period_end, 12 if "year" in facts.get("period", "") else 3)
            )
        return frozenset(found)

    def fiscal_keys(self, day: date) -> frozenset[str]:
        """The key of the company's own quarter that ends at ``day``, this year's or last year's."""
        if self.period_end is None:
            return frozenset()
        years = round((self.period_end - day).days / 365)
        if abs((self.period_end - day).days - 365 * years) > _WEEK:
            return frozenset()
        found = set[str]()
        for one in periods(self.facts.get("fiscal", "")):
            kind, _, rest = one.keys[0].partition(":")
            year, dash, part = rest.partition("-")
            if year.isdigit():
                found.add(f"{kind}:{int(year) - years}{dash}{part}")
        return frozenset(found)


NO_PLACE = SourcePlace()
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_COMPARED = re.compile(
    r"\b(?:from|than|over|versus|vs\.?|compared (?:to|with)|relative to)(?: (?:the|that|of|in))*"
    r"\W*\Z",
    re.IGNORECASE,
)
"""In front of a period that a statement only compares with: `up from the first quarter`."""
_OF_COMPANIES = word_lists("tables")["of_companies"]


class Placed(Protocol):
    """A source that says where it stands."""

    @property
    def place(self) -> SourcePlace: ...


def companies_of(sources: Iterable[Placed]) -> frozenset[str]:
    """The words of the names of all companies whose documents the sources are of."""
    named = (source.place.company for source in sources)
    return frozenset[str]().union(*named) - _OF_COMPANIES


def is_of_another(question: AskedQuestion, place: SourcePlace, companies: frozenset[str]) -> bool:
    """True if a question names one of ``companies``, and the source is another company's."""
    asked = companies.intersection(question.subject)
    return bool(asked and place.company) and asked.isdisjoint(place.company)


def foreign_names(
    question: AskedQuestion, place: SourcePlace, text: frozenset[str], companies: frozenset[str]
) -> frozenset[str]:
    """Names in a question that a source with these meanings of its ``text`` is not about.

    A name that is in none of its words; and a company, where the source is another's.
    """
    if is_of_another(question, place, companies):
        return companies.intersection(question.subject)
    return question.named - place.about - text


def irrelevance(
    question: AskedQuestion, said: str, text: str, place: SourcePlace, companies: frozenset[str]
) -> str | None:
    """The reason why a statement from a source does not bear on a question; None where it may.

    Args:
        said: the statement.
        text: the source's.
        companies: of all sources (companies_of).
    """
    stated = frozenset(meanings(said))
    whole = frozenset(meanings(text))
    if foreign := foreign_names(question, place, whole | stated, companies):
        return _not_about(question, foreign | frozenset(question.subject[-1:]))
    if is_of_another_time(question, said, place):
        return f"quoted, but not about {question.text[slice(*question.periods[0][:2])]}"
    met = [word for word in question.subject if word in stated or word in place.about]
    if question.subject and not met and not _shares(question, whole):
        return _not_about(question, frozenset(question.subject[:3]))
    return None


def _shares(question: AskedQuestion, whole: frozenset[str]) -> bool:
    """True if the source has a third of what is asked about: a paraphrase may have none itself."""
    return 3 * len(whole.intersection(question.subject)) >= len(question.subject)


def is_of_another_time(question: AskedQuestion, said: str, place: SourcePlace = NO_PLACE) -> bool:
    """True if each period that the statement names is another than each that is asked for.

    Args:
        place: where it is said; its document's own period has several names.
    """
    if not question.periods:
        return False
    months, lengths = months_in(question.text), lengths_in(said)
    quarters = _quarters(question.periods)
    named = _quarters(periods(said))
    if not quarters & named and (months or quarters) and lengths and (months or 3) not in lengths:
        return True
    asked = {key for period in question.periods for key in period.keys}
    told = [
        one for one in periods(said)
        if not asked.isdisjoint(one.keys) or not _is_compared(said, one)
    ]  # fmt: skip
    if not told:
        return False
    if quarters and (own_quarters := _quarters(told)):
        return quarters.isdisjoint(own_quarters)
    keys = place.period_keys
    if keys.issuperset(one.keys[0] for one in question.periods) and any(
        one.keys[0] in keys for one in told
    ):
        return False
    if all(one.keys[0].startswith("month:") for one in question.periods):
        own = {key for one in told for key in one.keys if key.startswith("month:")}
        if own:
            return own.isdisjoint(one.keys[0] for one in question.periods)
    own_months = months_in(said)
    days = {day for _, _, day in dates(question.text)}
    if days and (own_days := {day for _, _, day in dates(said)}):
        years = {period.keys[0] for period in told} & {f"annual:{day.year}" for day in days}
        return not (days & own_days or years)  # `at 31 December 2019 (2018: $3 million)`
    own = {key for period in told for key in period.keys}
    for _, _, day in dates(said):
        own.update(keys_until(day, own_months or 12))
    return not years_of(asked) & years_of(own)


def _is_compared(said: str, one: Period) -> bool:
    """True if a statement only compares with a period: `up from 2018`, `$9 (2018: $8)`."""
    aside = said[one.start - 1 : one.start] == "(" and said[one.end : one.end + 1] == ":"
    return aside or _COMPARED.search(said[: one.start]) is not None


def _quarters(named: Iterable[Period]) -> frozenset[str]:
    return frozenset(one.keys[0] for one in named if one.keys[0].startswith("quarter:"))


def years_of(keys: Iterable[str]) -> frozenset[str]:
    """The years of keys: `quarter:2023-3` is of 2023."""
    return frozenset(key.partition(":")[2][:4] for key in keys)


def _not_about(question: AskedQuestion, missing: frozenset[str]) -> str:
    """`quoted, but not about Intel's employees`, in the question's own words."""
    found = [word for word in _WORD.findall(question.text) if missing.intersection(meanings(word))]
    names = [word for word in found if word[0].isupper()]
    others = [word for word in found if word not in names]
    whose = " ".join(dict.fromkeys(names)).removesuffix("'s").removesuffix("’s")
    if whose and others:
        whose += "'s"
    return f"quoted, but not about {' '.join(filter(None, (whose, *dict.fromkeys(others))))}"
