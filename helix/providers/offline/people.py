"""Who holds an office: names beside it in a signature, a table's row, or below a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.domain.relevance import companies_of, foreign_names
from helix.language.paraphrases import meanings
from helix.language.rows import BESIDE
from helix.providers.offline.reading import PromptSource

_OFFICES = frozenset(word for line in any_of("offices").split("|") for word in meanings(line))
_ASIDE = re.compile(rf"\b(?:{any_of('not_in_office')})\b", re.IGNORECASE)
_SIGNED = re.compile(r"/s/\s*")
_PERSON = re.compile(
    r"(?:(?:Mr|Ms|Mrs|Dr)\. )?[A-Z][\w’'-]*\.?(?: (?:[A-Z][\w’'-]*\.?|de|van|von|bin|al)){1,4}"
    r"(?:,? (?:Jr|Sr|II|III)\.?)?"
)
_FIRM = re.compile(r"[A-Z][\w&.,’' -]{2,60}\b(?:LLP|LLC|PLLC|P\.C\.|S\.A\.|AG|GmbH|& Co\.?)")
_NOT_NAME = re.compile(rf"\b(?:{any_of('not_names')})s?\b", re.IGNORECASE)
_LINE = re.compile(r"[^\n]*\S")
_MOST_WORDS = 15  # of the line with an office's title
_ABOVE = 3  # lines above it in which the name may stand


@dataclass(frozen=True)
class Holder:
    """A name and an office as they stand, ``sources[source].text[start:end]``."""

    source: int
    start: int
    end: int
    name: str
    stated: date


def office_of(question: AskedQuestion, company: frozenset[str] = frozenset()) -> frozenset[str]:
    """The office whose holder a question asks for, as its words mean; empty where it asks none."""
    if question.kind is not AnswerKind.NAME:
        return frozenset()
    office = frozenset(question.subject) - company - (question.named - _OFFICES)
    return office if office and office <= _OFFICES else frozenset()


def holder(question: AskedQuestion, sources: Sequence[PromptSource]) -> Holder | None:
    """Who holds the office asked for; of several the one whom the newest document names.

    None where nothing names one, or the newest names several.
    """
    companies = companies_of(sources)
    found = [
        one
        for place, source in enumerate(sources)
        if (office := office_of(question, source.place.company))
        and not foreign_names(question, source.place, source.meanings, companies)
        for one in _holders(office, place, source)
    ]
    if not found:
        return None
    newest = max(one.stated for one in found)
    latest = [one for one in found if one.stated == newest]
    return latest[0] if len({one.name for one in latest}) == 1 else None


def _holders(office: frozenset[str], place: int, source: PromptSource) -> Iterator[Holder]:
    stated = source.place.period_end or date.min
    lines = list(_LINE.finditer(source.text))
    for number, line in enumerate(lines):
        title = line[0]
        if not office.issubset(meanings(title)) or _ASIDE.search(title):
            continue
        if BESIDE in title:
            name = _name_in(title.partition(BESIDE)[0])
            if name:
                yield Holder(place, line.start(), line.end(), name, stated)
        elif len(title.split()) <= _MOST_WORDS:
            for above in reversed(lines[max(0, number - _ABOVE) : number]):
                if name := _name_in(above[0]):
                    yield Holder(place, above.start(), line.end(), name, stated)
                    break


def _name_in(line: str) -> str:
    """The last word of the name that a line is, or all of a firm's; '' where it is no name."""
    bare = _SIGNED.sub("", line.partition(":")[2] if line.startswith("By:") else line).strip()
    if _FIRM.fullmatch(bare):
        return bare.casefold()
    if _PERSON.fullmatch(bare) and not _NOT_NAME.search(bare):
        return bare.rstrip(".").split()[-1].casefold()
    return ""
