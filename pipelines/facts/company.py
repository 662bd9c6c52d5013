"""The company of a document, its trading symbol, and the parties of an agreement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from helix.language.word_lists import word_lists
from helix.language.words import copy_words
from pipelines.facts.front import Fact, Facts, Front, Line, fact_of

_LISTS = word_lists("documents")
_BYSTANDERS = _LISTS["bystanders"]

_FORM = (
    r"(?:Inc|Incorporated|Corp|Corporation|Company|Co|Ltd|Limited|LLC|L\.L\.C|LLP|L\.P|PLC|plc|GmbH"
    r"|AG|KGaA|SE|S\.A|SA|N\.V|NV|B\.V|BV|AB|ASA|Oyj?|A/S|S\.p\.A|SpA|S\.r\.l|Pty Ltd|Holdings?"
    r"|INC|INCORPORATED|CORP|CORPORATION|COMPANY|LTD|LIMITED|GMBH|HOLDINGS?|GROUP|Group)"
)
_WORD = r"(?:[A-Z0-9][\w&'’./+-]*|&|and|of|the|de)"
_NAME = rf"[A-Z0-9][\w&'’./+-]*(?:\s{_WORD}){{0,6}}?,?\s{_FORM}\b\.?"
_IN_TEXT = re.compile(rf"(?<![\w&]){_NAME}")
_ALONE = re.compile(rf"{_NAME}(?:\s+and\s+subsidiaries)?", re.IGNORECASE)
_CHARTER = re.compile(r"(?:\(\s{0,9})?exact name of (?:the )?registrant", re.IGNORECASE)
_COPYRIGHT = re.compile(
    rf"(?:©|\(c\)|\bcopyright)\s*(?:©\s*)?(?:(?:19|20)\d\d(?:\s*[-–]\s*(?:19|20)\d\d)?,?\s*)?(?:by\s+)?"
    rf"(?P<name>{_NAME}|(?<!\n)[A-Z][\w&'’.-]*(?:\s[A-Z][\w&'’.-]*){{0,3}})",
)
_COVER_LINE = re.compile(
    r"^(?P<name>[A-Z][\w&'’.-]*(?:\s[\w&'’.-]+){0,3}?)(?:['’]s)?\s+"
    r"(?:(?:integrated|consolidated)\s+)?(?:annual|interim|quarterly|sustainability)\s+report\b",
    re.IGNORECASE,
)
_SYMBOL = re.compile(
    r"\b(?:NASDAQ|NYSE|Nasdaq|LSE|TSX|AMEX)\s?(?:GS|GM)?\s?:\s?(?P<before>[A-Z]{1,5})\b"
    r"|\b(?P<after>[A-Z]{1,5})\s+(?:The\s+)?(?:Nasdaq|NASDAQ|New\s+York\s+Stock\s+Exchange|NYSE)\b"
)
_NOT_SYMBOLS = frozenset("LLC INC THE AND OF ON NEW A PAR US USD NOTES".split())
_SHORT = r"\s*\((?:the\s+)?[\"“](?P<short>[A-Z][\w&.’'-]{1,30}(?:\s[A-Z][\w&.-]*)?)[,.]?[\"”]"
_PARTY_WORD = r"(?:[A-Z][\w&.'’/-]*|&|and|of|the|de|van|von)"
_PARTY = rf"[A-Z][\w&.'’/-]*(?:\s{_PARTY_WORD}){{0,7}}?(?:,?\s{_FORM}\b\.?)?"
_PARTIES = re.compile(
    rf"\bbetween:?\s+(?:\(?[1a]\)\s*)?(?P<first>{_PARTY})\s*(?=[,(\n]|and\b)[^;]{{0,400}}?"
    rf"[,)\s]\s*and:?\s+(?:\(?[2b]\)\s*)?(?P<second>{_PARTY})\s*(?=[,(.;\n]|$)",
)
_FREQUENT = 3
_SEEN_IN = 60_000  # characters in which a company is counted, and its name as it is written
_NOT_COMPANIES = frozenset(("Company", "The Company", "Group", "The Group"))


def company_facts(front: Front, earlier: Facts) -> Facts:
    """``company``, ``short_name``, ``ticker`` and, of an agreement, ``parties``."""
    kind = earlier["kind"].text if "kind" in earlier else ""
    facts: Facts = {}
    if kind == "paper":
        return facts
    if kind == "agreement" and (match := _PARTIES.search(front.text)):
        names = f"{fact_of(match, 'first').text}; {fact_of(match, 'second').text}"
        return {"parties": Fact(names, (match.start("first"), match.end("second")))}
    if company := _company(front, kind):
        facts["company"] = company
        facts |= _short_name(front, company)
        if symbol := _symbol(front):
            facts["ticker"] = symbol
    return facts


def _company(front: Front, kind: str) -> Fact | None:
    rules = [_by_charter(front), _by_line(front), _by_cover(front), _by_copyright(front)]
    if kind:
        rules.append(_by_count(front))
    name = next(filter(None, rules), None)
    return Fact(_capitalised(name.text, front.whole[:_SEEN_IN]), name.span) if name else None


def _by_charter(front: Front) -> Fact | None:
    """The line above "(Exact name of registrant …)"."""
    above: Line | None = None
    for line in front.lines:
        if match := _CHARTER.search(line.text):
            before = line.text[: match.start()].strip()
            if before:
                return Fact(before, (line.start, line.start + len(before)))
            return Fact(above.text, above.span) if above else None
        if any(character.isalpha() for character in line.text):
            above = line
    return None


def _by_line(front: Front) -> Fact | None:
    """A headline, or a part of one, that is a company's name and nothing else."""
    for line in front.headlines:
        for part in re.finditer(r"(?:(?!\s[-–—|]\s|\s{3}).)+", line.text):
            text = part[0].strip()
            if text[:1].isupper() and _ALONE.fullmatch(text) and not _is_bystander(text):
                start = line.start + part.start() + len(part[0]) - len(part[0].lstrip())
                return Fact(text, (start, start + len(text)))
    return None


def _by_cover(front: Front) -> Fact | None:
    """The words before "Annual Report" in a headline or in the document's own title."""
    lines = [*front.headlines, Line(front.metadata_title, -1)]
    for line in lines:
        match = _COVER_LINE.search(line.text)
        if match and not _is_generic(match["name"]):
            return line.fact(match, "name") if line.start >= 0 else Fact(match["name"])
    return None


def _by_copyright(front: Front) -> Fact | None:
    match = _COPYRIGHT.search(front.text)
    return fact_of(match, "name") if match and not _is_bystander(match["name"]) else None


def _by_count(front: Front) -> Fact | None:
    """The company that the text's beginning names most, if often."""
    places: dict[str, re.Match[str]] = {}
    counts: Counter[str] = Counter()
    for match in _IN_TEXT.finditer(front.whole, 0, _SEEN_IN):
        key = " ".join(copy_words(match[0]))
        if not _is_bystander(match[0]) and match[0] not in _NOT_COMPANIES:
            counts[key] += 1
            places.setdefault(key, match)
    for key, count in counts.most_common(1):
        if count >= _FREQUENT and not _is_common(places[key][0], front.whole[:_SEEN_IN]):
            return fact_of(places[key])
    return None


def _is_common(name: str, text: str) -> bool:
    """True for words in capitals, as a heading's, which the text writes small elsewhere."""
    small = r"\s+".join(map(re.escape, name.rstrip(".").lower().split()))
    return name.isupper() and re.search(rf"\b{small}\b", text) is not None


def _short_name(front: Front, company: Fact) -> Facts:
    """The short name that the document gives: International Business Machines ("IBM")."""
    pattern = re.compile(re.escape(company.text.rstrip(".")) + r"\.?" + _SHORT, re.IGNORECASE)
    match = pattern.search(front.whole, 0, _SEEN_IN)
    if match and match["short"] not in ("Company", "Registrant", "Corporation", "Group"):
        return {"short_name": fact_of(match, "short")}
    return {}


def _symbol(front: Front) -> Fact | None:
    counts: Counter[str] = Counter()
    places: dict[str, Fact] = {}
    for match in _SYMBOL.finditer(front.text):
        group = "before" if match["before"] else "after"
        if match[group] not in _NOT_SYMBOLS:
            counts[match[group]] += 1
            places.setdefault(match[group], fact_of(match, group))
    return places[counts.most_common(1)[0][0]] if counts else None


def _is_bystander(name: str) -> bool:
    return bool(_BYSTANDERS.intersection(copy_words(name)))


def _is_generic(name: str) -> bool:
    return _LISTS["generic_titles"].issuperset(copy_words(name))


def _capitalised(name: str, text: str) -> str:
    """A name in capitals as the text writes it elsewhere, else with each word's first alone."""
    name = re.sub(r" and subsidiaries$", "", " ".join(name.split()), flags=re.IGNORECASE)
    if not name.isupper():
        return name
    pattern = re.compile(r"\s+".join(map(re.escape, name.rstrip(".").split())), re.IGNORECASE)
    ways = Counter(" ".join(match[0].split()) for match in pattern.finditer(text))
    mixed = [way for way, _ in ways.most_common() if not way.isupper() and not way.islower()]
    dot = "." if name.endswith(".") else ""
    return (mixed[0] if mixed else " ".join(_titled(name.rstrip(".")))) + dot


def _titled(name: str) -> Iterator[str]:
    for word in name.split():
        yield word if len(word) <= 3 and "." not in word else word.capitalize()
