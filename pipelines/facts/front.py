"""The first pages of a document: what it says of itself is read from these alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from helix.language.sentences import Span
from pipelines.readers import ReadText

_PAGES = 3
_CHARACTERS = 12_000
_LINE = re.compile(r"[^\n]+")
_HEADLINES = 30
_LONGEST_HEADLINE = 14  # words


class Fact(NamedTuple):
    """A fact as text, and the characters of the document that it was read from, if of its text."""

    text: str
    span: Span | None = None


Facts = dict[str, Fact]


class Line(NamedTuple):
    """A line of the text from ``start``, without white space around."""

    text: str
    start: int

    @property
    def span(self) -> Span:
        """Its characters."""
        return self.start, self.start + len(self.text)

    def fact(self, match: re.Match[str], group: str | int = 0) -> Fact:
        """The fact that a match within the line found."""
        return fact_of(match, group, self.start)


@dataclass(frozen=True)
class Front:
    """The beginning of a document's text: at most its first three pages.

    ``whole`` is the whole text; ``name`` is the file's name; ``metadata_title``
    the title that the file's format has in its metadata or as its first heading.
    """

    text: str
    whole: str
    name: str = ""
    metadata_title: str = ""

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines that have anything in them."""
        return tuple(_lines(self.text))

    @property
    def headlines(self) -> Iterator[Line]:
        """The lines at the top that are no sentences of prose."""
        for line in self.lines[:_HEADLINES]:
            if len(line.text.split()) <= _LONGEST_HEADLINE and not line.text.endswith((".", ";")):
                yield line


def front_of(text: ReadText, name: str) -> Front:
    """The front of what was read of the file ``name``."""
    ends = [section.end for section in text.sections if (section.page or 0) > _PAGES]
    stops = [section.start for section in text.sections if (section.page or 0) > _PAGES]
    end = min([_CHARACTERS, len(text.text), *(stops if ends else ())])
    return Front(text.text[:end], text.text, name, text.title or "")


def fact_of(match: re.Match[str], group: str | int = 0, offset: int = 0) -> Fact:
    """A match of a rule as a fact: its white space as single spaces, its span as it stands."""
    start, end = match.span(group)
    return Fact(one_line(match[group]), (offset + start, offset + end))


def one_line(text: str) -> str:
    """``text`` with single spaces, without those and the commas around it."""
    return " ".join(text.split()).strip(" ,;:")


def plain(facts: Facts) -> dict[str, object]:
    """Facts as ``documents.facts`` has them: texts by name, and their spans under ``spans``."""
    facts_by_name: dict[str, object] = {name: fact.text for name, fact in facts.items()}
    spans: Mapping[str, list[int]] = {
        name: list(fact.span) for name, fact in facts.items() if fact.span
    }
    return facts_by_name | ({"spans": spans} if spans else {})


def _lines(text: str) -> Iterator[Line]:
    for match in _LINE.finditer(text):
        line = match[0].strip()
        if line:
            yield Line(line, match.start() + len(match[0]) - len(match[0].lstrip()))
