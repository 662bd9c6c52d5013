"""Names of documents, and the names in a question that may be a document's.

A name is words folded as copies are compared, with spaces between; a period's is its key
(helix/language/periods.py), which no words can be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from helix.language.periods import Period, asks_for_latest, periods, reported
from helix.language.word_lists import tables, word_lists
from helix.language.words import WORD, copy_words

COMPANY, KIND, PERIOD, AUTHOR, DATE = "company", "kind", "period", "author", "date"
EDITABLE = (COMPANY, KIND, PERIOD, AUTHOR, DATE, "parties", "identifier", "ticker", "fiscal")
"""The facts that there are; ``pipelines/facts`` reads them."""
SPANS = "spans"
"""The key of ``documents.facts`` that says where each of the others was read from."""
TITLE, FILE_NAME, FACTS = "title", "file_name", "facts"
"""The keys of ``documents.edits``."""
PERIOD_END = "period_end"
"""The fact that the newest of several documents is told by: a day as 2023-07-01."""
# A paper's dozen authors would drown each of its chunks: who names one is led by document_names.
_LINE = ("company", "parties", "kind", "period", "fiscal", "ticker")
_LONGEST = 160  # characters of a fact in the line


def texts_of(facts: Mapping[str, Any]) -> dict[str, str]:
    """The facts without their spans, and without what is no text."""
    return {name: fact for name, fact in facts.items() if isinstance(fact, str)}


def with_edits(facts: Mapping[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """``facts`` with what people changed in their place; None takes one away.

    An edited fact has no span: it was not read from the text.
    """
    changed: Mapping[str, Any] = edits.get(FACTS) or {}
    spans = {name: span for name, span in facts.get(SPANS, {}).items() if name not in changed}
    merged = {**facts, **changed, SPANS: spans or None}
    if PERIOD in changed:
        merged[PERIOD_END] = period_end(merged[PERIOD] or "")
    return {name: value for name, value in merged.items() if value is not None}


def period_end(period: str) -> str | None:
    """The last day of a ``period`` as a report calls it, as 2023-07-01."""
    day = reported(period)[1]
    return day.isoformat() if day else None


def facts_line(title: str, facts: Mapping[str, Any]) -> str:
    """The facts that search should see and ``title`` does not say already, on one line."""
    said = set(copy_words(title))
    parts = []
    for name in _LINE:
        fact = facts.get(name)
        if isinstance(fact, str) and not said.issuperset(words := copy_words(fact)):
            parts.append(fact[:_LONGEST])
            said.update(words)
    return " | ".join(parts)


Name = tuple[str, str]
"""Kind and name: ("company", "apple"), ("period", "quarter:2023-3")."""

PERIOD, KIND = "period", "kind"
PROPER = frozenset(("company", "author"))
"""Kinds of names that are written with a capital: "Target" is a company, "target" is none."""

_MOST_WORDS = 10  # of a name; a longer title is called by no question whole
_ASKED = 60  # words of a question that are looked at
_PARTS = re.compile(r"\s[-–—|:]\s|:\s")
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_POSSESSIVE = re.compile(r"['’]s?\b", re.IGNORECASE)


def document_names(title: str, file_name: str, facts: Mapping[str, Any]) -> set[Name]:
    """The names of a document of this title, file and facts."""
    names = {("title", name) for name in _titles(title)}
    names |= {("file", name) for name in _files(file_name)}
    names |= {("company", name) for name in _companies(facts)}
    names |= {("author", name) for name in _authors(str(facts.get("author", "")))}
    if identifier := _folded(str(facts.get("identifier", ""))):
        names.add(("identifier", identifier))
    if kind := facts.get(KIND):
        names.add((KIND, kind_key(str(kind))))
    names |= {(PERIOD, key) for key in _periods(title, file_name, facts)}
    return {(kind, name) for kind, name in names if len(name.split()) <= _MOST_WORDS}


def company_names(text: str) -> Iterator[str]:
    """A company's names in folded words: whole, and without its legal form."""
    words = _words(text)
    core = list(words)
    if core[:1] == ["the"]:
        core = core[1:]
    while len(core) > 1 and core[-1] in _lists()["legal_forms"]:
        core = core[:-1]
    domain = core[:-1] if len(core) > 1 and core[-1] in ("com", "org", "net", "io") else core
    yield from {" ".join(each) for each in (words, core, domain) if each}


def company_keys(text: str) -> list[str]:
    """The names that a company of this name, with or without its legal form, has."""
    return sorted(company_names(text))


def kind_key(text: str) -> str:
    """The name that documents of a kind have."""
    return f"kind:{text}".casefold()


class Called(NamedTuple):
    """A name that a question may have: its words ``start`` to ``end``.

    ``proper``: it stands there as a proper name does, with a capital or a digit.
    """

    name: str
    start: int
    end: int
    proper: bool


@dataclass(frozen=True)
class Asked:
    """The words of a question that may be names of documents.

    ``kinds`` are patterns' names ("10-Q"); ``latest`` is whether it asks for the newest.
    """

    called: tuple[Called, ...]
    periods: tuple[Period, ...]
    kinds: frozenset[str]
    latest: bool


def asked_names(question: str) -> Asked:
    """The names in ``question`` that may be documents': each run of its words, and its periods."""
    found = [
        (_plain(match[0]), match[0][0].isupper() or match[0][0].isdigit())
        for match in WORD.finditer(_POSSESSIVE.sub("", question))
    ][:_ASKED]
    cased = any(character.isupper() for character in question)
    called = [
        Called(
            " ".join(word for word, _ in found[start:end]),
            start, end, found[start][1] or not cased,
        )
        for start in range(len(found))
        for end in range(start + 1, min(start + _MOST_WORDS, len(found)) + 1)
    ]  # fmt: skip
    kinds = frozenset(kind for kind, pattern in _called().items() if pattern.search(question))
    return Asked(tuple(called), tuple(periods(question)), kinds, asks_for_latest(question))


def _titles(title: str) -> Iterator[str]:
    for part in {title, *_PARTS.split(title)}:
        words = _words(part)
        if not _lists()["generic_titles"].issuperset(words) and (part == title or len(words) > 1):
            yield " ".join(words)


def _files(file_name: str) -> Iterator[str]:
    """A file's name with its ending, and without where that could be no other word."""
    whole, stem = _words(file_name), _words(_SUFFIX.sub("", file_name))
    if len(whole) > len(stem):
        yield " ".join(whole)
    telling = len(stem) > 1 or any(c.isdigit() for c in "".join(stem))
    if telling and not _lists()["generic_titles"].issuperset(stem):
        yield " ".join(stem)


def _companies(facts: Mapping[str, Any]) -> Iterator[str]:
    for fact in ("company", "short_name", "parties", "ticker"):
        for company in str(facts.get(fact, "")).split(";"):
            yield from company_names(company)


def _authors(text: str) -> Iterator[str]:
    """Each author's whole name, and the surname: "Chen, Pei-Jer" and "Pei-Jer Chen" have Chen."""
    for author in text.split(";"):
        surname, turned, given = author.partition(",")
        last = surname if turned else author.split()[-1] if author.split() else ""
        for name in (f"{given} {surname}" if turned else author, last):
            if len(folded := _folded(name)) > 1:
                yield folded


def _periods(title: str, file_name: str, facts: Mapping[str, Any]) -> Iterator[str]:
    name = _SUFFIX.sub("", file_name).replace("_", " ")
    for text in (facts.get("period", ""), facts.get("fiscal", ""), title, name):
        for key in reported(str(text))[0]:
            yield key
            quarter, _, number = key.rpartition("-")
            if quarter.startswith("quarter:") and number in "24":  # its report tells of the half
                yield f"half:{quarter.partition(':')[2]}-{int(number) // 2}"


def _words(text: str) -> list[str]:
    return copy_words(_POSSESSIVE.sub("", text))


def _folded(text: str) -> str:
    return " ".join(_words(text))


def _plain(word: str) -> str:
    return " ".join(copy_words(word))


@cache
def _lists() -> dict[str, frozenset[str]]:
    return word_lists("documents")


@cache
def _called() -> dict[str, re.Pattern[str]]:
    """Patterns by which questions call a kind: its own, or its name."""
    patterns = tables("documents")
    own = {kind: rf"\b{re.escape(kind)}s?\b" for kind in (*patterns["forms"], *patterns["kinds"])}
    return {
        kind: re.compile(pattern, re.IGNORECASE)
        for kind, pattern in (own | patterns["called"]).items()
    }
