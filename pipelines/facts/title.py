"""A document's kind, as a 10-Q or a letter, its title, its authors, and its registered number."""

from __future__ import annotations

import re

from helix.domain.names import company_names
from helix.language.periods import DAY
from helix.language.word_lists import tables, word_lists
from helix.language.words import copy_words
from pipelines.facts.front import Fact, Facts, Front, Line, fact_of

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
_GENERIC = word_lists("documents")["generic_titles"]
_LEGAL = word_lists("documents")["legal_forms"]
_DAY = re.compile(DAY)
_FORM = re.compile(r"\b(?:form\s*)?(?:10-?[qk]|[86]-?k|20-?f|s-?1)(?:405|/a)?\b", re.IGNORECASE)
_TELLING = re.compile(r"[^\W\d_]{3,}")
_LONGEST = 200  # characters


def _rules(table: str) -> dict[str, re.Pattern[str]]:
    patterns: dict[str, str] = tables("documents")[table]
    return {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in patterns.items()}


_FORMS, _KINDS = _rules("forms"), _rules("kinds")
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


def title_of(
    own_title: str | None, heading: str | None, facts: Facts, *, keep_own: bool
) -> str | None:
    """The title of a document, None where its file's name must do.

    Args:
        own: the one in its metadata, or its first heading.
        heading: the largest heading of its first page, where it is printed.
        facts: company, kind and period of it.
        keep_own: a title of its own that says nothing ("Overview") is better than none.
    """
    composed = _composed(facts)
    is_filing = "kind" in facts and facts["kind"].text in FILINGS
    if composed and is_filing:  # its cover is a form's, the same for all
        return composed
    for title in (own_title, heading):
        if title and is_informative(title, facts):
            return " ".join(title.split())[:_LONGEST]
    return composed or (own_title if keep_own else None)


def is_informative(title: str, facts: Facts) -> bool:
    """True where ``title`` has more than dates, forms, the company and words like "document"."""
    bare = _FORM.sub(" ", _DAY.sub(" ", title))
    company = facts["company"].text if "company" in facts else ""
    company_words = {word for name in company_names(company) for word in name.split()}
    words = set(copy_words(bare)) - _GENERIC - _LEGAL - company_words
    return any(_TELLING.fullmatch(word) for word in words)


def _composed(facts: Facts) -> str | None:
    """ "Apple Inc. 10-Q, quarter ended July 1, 2023": of company and kind at least."""
    if "company" not in facts or "kind" not in facts:
        return None
    period = f", {facts['period'].text}" if "period" in facts else ""
    return f"{facts['company'].text} {facts['kind'].text}{period}"[:_LONGEST]


_LABELLED = re.compile(
    r"^(?:authors?|written by|prepared by|by)\s*:?\s+(?P<names>\S.{1,600})$", re.IGNORECASE
)
_MARKS = re.compile(r"[\d*†‡§¶#∗]+|\([^)]{0,200}\)|[ᵃ-ᶻ¹²³⁰-⁹]+")
_NAME_PART = (
    r"(?:[A-ZÀ-ÖØ-Þ][\w'’‐-]*\.?|[A-Z]\.(?:-?[A-Z]\.){0,4}"
    r"|van|von|de|der|den|di|da|la|le|El|Al|bin)"
)
_NAME = re.compile(rf"{_NAME_PART}(?:\s+{_NAME_PART}){{1,4}}")
_INVERTED = re.compile(
    rf"{_NAME_PART}(?:\s+{_NAME_PART}){{0,3}},\s*{_NAME_PART}(?:\s+{_NAME_PART}){{0,3}}"
)
_DEGREES = re.compile(r",?(?<!\s)\s++(?:Ph\.?\s?D|M\.?D|M\.?Sc|MPH|Dr|Prof)\.?(?=[,;\s]|$)")
_MOST = 20  # authors that are kept of a paper
_SEARCHED = 14  # lines below the title
_STOP = re.compile(r"\W*(?:abstract|summary|introduction|keywords)\b", re.IGNORECASE)

_IDENTIFIERS = {
    "DOI": re.compile(r"\b(?P<id>10\.\d{4,9}/[^\s\"<>,;]{2,80}[^\s\"<>,;.)])"),
    "arXiv": re.compile(r"\barXiv:\s?(?P<id>\d{4}\.\d{4,5}(?:v\d+)?)", re.IGNORECASE),
    "ISBN": re.compile(r"\bISBN(?:-1[03])?:?\s*(?P<id>[\d-]{9,16}[\dX])\b", re.IGNORECASE),
    "No.": re.compile(
        r"\b(?:commission\s+file|invoice|contract|agreement|document|policy|order|report|reference"
        r"|part|model)\s+(?:no\.?|number|nr\.?|id|#)\s*+[:.]?\s*+#?(?P<id>[A-Z]{0,6}[-/]?\d[\w/-]{2,30})",
        re.IGNORECASE,
    ),
}


def author_facts(front: Front, earlier: Facts) -> Facts:
    """``author`` (names with ``;`` between them) and ``identifier``."""
    facts: Facts = {}
    kind = earlier["kind"].text if "kind" in earlier else ""
    for line in front.lines[:_SEARCHED]:
        if _STOP.match(line.text):
            break
        names = _labelled(line) or (kind in ("paper", "thesis") and _listed(line))
        if names:
            facts["author"] = names
            break
    if identifier := _identifier(front):
        facts["identifier"] = identifier
    return facts


def people(text: str) -> list[str]:
    """The names in a list of people; none where it is not only that.

    With ``;`` between them a name may be turned round: "Chen, Pei-Jer; Wu, T-C".
    """
    bare = " ".join(_MARKS.sub(" ", _DEGREES.sub("", text)).split())
    if ";" in bare or _INVERTED.fullmatch(bare):
        parts, shape = bare.split(";"), re.compile(f"(?:{_INVERTED.pattern})|(?:{_NAME.pattern})")
    else:
        parts, shape = re.split(r", ?(?:and )?| and | & ", bare), _NAME
    names = [part.strip(" ,.") for part in parts if part.strip(" ,.")]
    right = [name for name in names if shape.fullmatch(name)]
    return right if names and len(right) >= 0.8 * len(names) else []


def _labelled(line: Line) -> Fact | None:
    match = _LABELLED.match(line.text)
    names = people(match["names"]) if match else []
    return (
        Fact("; ".join(names[:_MOST]), line.fact(match, "names").span) if match and names else None
    )


def _listed(line: Line) -> Fact | None:
    """A line of a paper that is names alone: two of them, or one with a mark or an initial."""
    names = people(line.text) if len(line.text) < 2000 else []
    certain = len(names) > 1 or (names and (_MARKS.search(line.text) or "." in names[0]))
    return Fact("; ".join(names[:_MOST]), line.span) if certain else None


def _identifier(front: Front) -> Fact | None:
    for pattern in _IDENTIFIERS.values():
        if match := pattern.search(front.text):
            return fact_of(match, "id")
    return None
