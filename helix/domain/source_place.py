"""The place of a source: its document's title and facts, and the headings above it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from helix.language.paraphrases import meanings
from helix.language.periods import dates, keys_until, periods

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
