"""The first pages of a document: what it says of itself is read from these alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
_FEWEST_LINES = 3  # of a paragraph of prose that a program broke


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
        """The lines at the top that are neither sentences of prose nor parts of broken ones."""
        top = self.lines[:_HEADLINES]
        for paragraph in self._paragraphs():
            if not _is_broken_prose(paragraph):
                yield from (one for one in paragraph if one in top and _is_headline(one.text))

    def _paragraphs(self) -> Iterator[list[Line]]:
        """Lines without an empty one between them, as far as headlines are looked for."""
        found: list[Line] = []
        for line in self.lines:
            if found and self.text.count("\n", found[-1].span[1], line.start) > 1:
                yield found
                if line.start > self.lines[:_HEADLINES][-1].start:
                    return
                found = []
            found.append(line)
        yield found


def _is_headline(text: str) -> bool:
    return len(text.split()) <= _LONGEST_HEADLINE and not text.endswith((".", ";"))


def _is_broken_prose(paragraph: Sequence[Line]) -> bool:
    """True of a sentence in lines of about one length, as text files and e-mails have them.

    A cover's lines differ in length, and their last one ends without a full stop.
    """
    if len(paragraph) < _FEWEST_LINES or not paragraph[-1].text.endswith((".", ";", ":")):
        return False
    lengths = [len(line.text) for line in paragraph[:-1]]
    return 2 * min(lengths) > max(lengths)


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
