"""The kind of a document: a 10-Q, an annual report, an agreement, a paper, a letter."""

from __future__ import annotations

import re

from helix.language.word_lists import tables
from pipelines.facts.front import Fact, Facts, Front, fact_of


def _rules(table: str) -> dict[str, re.Pattern[str]]:
    patterns: dict[str, str] = tables("documents")[table]
    return {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in patterns.items()}


_FORMS, _KINDS = _rules("forms"), _rules("kinds")
_COVER = 3000  # characters in which a form says its name
_ABSTRACT = re.compile(r"^[^\w\n]*(?:abstract|summary)\b", re.IGNORECASE | re.MULTILINE)
_SCIENTIFIC = re.compile(
    r"\bdoi\b|\barxiv\b|^[^\w\n]*(?:\d\.?[^\S\n]*)?(?:introduction|keywords?|references)\b"
    r"|\breceived:?\s.{0,200}\baccepted:?\s",
    re.IGNORECASE | re.MULTILINE,
)
_GREETING = re.compile(r"^[^\w\n]*dear\b.{1,80}$", re.IGNORECASE | re.MULTILINE)
_FAREWELL = re.compile(
    r"^[^\w\n]*(?:(?:yours\s+)?(?:sincerely|faithfully|truly)|(?:kind|best|warm)\s+regards)\b",
    re.IGNORECASE | re.MULTILINE,
)
FILINGS = frozenset(_FORMS)
"""The kinds that are forms of the securities commission of the United States."""


def kind_facts(front: Front, _: Facts) -> Facts:
    """``kind``, where a rule tells it."""
    kind = _form(front) or _paper(front) or _by_headline(front) or _letter(front)
    return {"kind": kind} if kind else {}


def _form(front: Front) -> Fact | None:
    matches = (
        (match.start(), Fact(kind, fact_of(match).span))
        for kind, pattern in _FORMS.items()
        if (match := pattern.search(front.text, 0, _COVER))
    )
    return min(matches, default=(0, None))[1]


def _paper(front: Front) -> Fact | None:
    abstract = _ABSTRACT.search(front.text)
    if abstract and _SCIENTIFIC.search(front.text):
        return Fact("paper", abstract.span())
    return None


def _by_headline(front: Front) -> Fact | None:
    """The kind that the earliest headline names; of one line the first rule's."""
    if front.metadata_title:
        for kind, pattern in _KINDS.items():
            if pattern.search(front.metadata_title):
                return Fact(kind)
    for line in front.headlines:
        for kind, pattern in _KINDS.items():
            if match := pattern.search(line.text):
                return Fact(kind, line.fact(match).span)
    return None


def _letter(front: Front) -> Fact | None:
    greeting = _GREETING.search(front.text)
    if greeting and _FAREWELL.search(front.text, greeting.end()):
        return Fact("letter", greeting.span())
    return None
