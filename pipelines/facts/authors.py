"""A document's authors, and the identifier that it is registered under."""

from __future__ import annotations

import re

from pipelines.facts.front import Fact, Facts, Front, Line, fact_of

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
