"""Questions that a library suggests of itself, by rule: candidates, which are asked before shown.

A rule may be wrong; what no passage answers is never shown (helix/serving/suggested_questions.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

from helix.domain.tables import Cell, HeaderPath, Table

_MOST_OF_A_RULE = 4  # candidates a document
_MOST_OF_A_TABLE = 2
_LONGEST_LABEL = 60
_LONGEST_HEADING = 80


@dataclass(frozen=True, slots=True)
class Material:
    """The material for questions of one document; ``tables`` have spans of ``text``."""

    document_id: int
    title: str
    text: str
    facts: Mapping[str, object] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question, and the document that suggested it.

    ``value`` is the number that a proper answer has, as it is printed; '' where none is known.
    ``heading`` is the one that a proper answer stands under; '' where the question names none.
    """

    document_id: int
    question: str
    value: str = ""
    heading: str = ""

    def is_met_by(self, answer: str) -> bool:
        """True if ``answer`` has the number that is asked for."""
        return self.value in answer


def candidates(materials: Sequence[Material], most: int) -> list[Suggestion]:
    """At most ``most`` questions, each once, of each document in turn."""
    lists = [
        [Suggestion(one.document_id, *asked) for asked in _questions(one)] for one in materials
    ]
    turns = (one for turn in zip_longest(*lists) for one in turn if one)
    found: dict[str, Suggestion] = {}
    for one in turns:
        found.setdefault(one.question.lower(), one)
    return list(islice(found.values(), most))


def _questions(material: Material) -> Iterator[tuple[str, str, str]]:
    """(question, value, heading) of each rule in turn, the ones that ask for most first."""
    texts = (_of_limits, _of_terms, _of_authors)
    rules = [
        ((asked, value, "") for asked, value in _of_tables(material)),
        ((heading, "", heading) for heading in _of_headings(material)),
        *(((asked, "", "") for asked in rule(material)) for rule in texts),
        ((asked, "", heading) for asked, heading in _of_sections(material)),
    ]
    lists = [list(islice(rule, _MOST_OF_A_RULE)) for rule in rules]
    yield from filter(None, chain.from_iterable(zip_longest(*lists)))


# --- tables

_NUMBER = re.compile(r"[($€£¥\s-]*\d[\d.,]*[\s%)]*")
_MARKS = re.compile(r"\s{0,9}(?:\(\d{1,9}\)|[*†‡]){1,9}$|[\s.:]{1,9}$")
_YEAR = re.compile(r"(?:fiscal (?:year )?)?(?:19|20)\d\d", re.IGNORECASE)
_DAY = re.compile(r"[A-Z][a-z]{2,8}\.? \d{1,2}, (?:19|20)\d\d")
_SPAN = re.compile(
    r"((?:three|six|nine|twelve|\d{1,3}|fiscal|the)?\s?(?:months?|weeks?|years?|quarters?)) ended"
    r".{0,30}(?:19|20)\d\d",
    re.IGNORECASE,
)
_SPAN_WORDS = re.compile(
    r"\b(?:the|three|six|nine|twelve|months?|weeks?|years?|quarters?|fiscal|ended)\b", re.IGNORECASE
)
_LOWERED = frozenset(
    "total net gross operating cost costs income revenue revenues sales cash other research"
    " selling general interest provision earnings basic diluted long-term current deferred".split()
)


_AMOUNTS = re.compile(
    r"(?:\S+ ){0,2}(?:sales|revenues?|income|costs?|expenses?|earnings|assets|liabilities)"
)  # a group that a row's label is read with; "operating activities" is none


def _of_tables(material: Material) -> Iterator[tuple[str, str]]:
    for table in material.tables:
        cells = (
            cell for cell in table.cells if _NUMBER.fullmatch(material.text[slice(*cell.span)])
        )
        firsts = {cell.row: cell for cell in reversed(list(cells))}
        asked = (
            (text, material.text[slice(*firsts[row].span)].strip("($€£¥ )"))
            for row in sorted(firsts)
            if (text := _of_cell(material, table, firsts[row]))
        )
        yield from islice(asked, _MOST_OF_A_TABLE)


def _of_cell(material: Material, table: Table, cell: Cell) -> str | None:
    label, column = _label(table.rows[cell.row]), " ".join(table.columns[cell.column])
    if not label or not column or len(column) > _LONGEST_HEADING:
        return None
    verb = "were" if re.search(r"[^s]s$", label) else "was"
    whose = _possessive(str(material.facts.get("company") or ""))
    if when := _when(column):
        return f"What {verb} {whose} {label} {when}?"
    if whose != "the":
        return None
    return f"What is the {_lowered(column)} of {label}?"


def _label(path: HeaderPath) -> str:
    """The label of a row: "products net sales" for the label "Products" of "Net sales"."""
    if not path:
        return ""
    label = _lowered(_MARKS.sub("", path[-1]))
    if len(path) > 1 and _AMOUNTS.fullmatch(group := _MARKS.sub("", path[-2]).lower()):
        label = f"{label} {group}"
    is_name = re.search(r"[^\W\d_]{3}", label) and not re.search(r"[|›\"“]", label)
    return label if is_name and len(label) <= _LONGEST_LABEL else ""


def _lowered(text: str) -> str:
    """Without the capital that begins a label, where it is of an ordinary word."""
    first = text.split(" ", 1)[0]
    return text[0].lower() + text[1:] if first.lower() in _LOWERED else text


def _when(column: str) -> str:
    if _SPAN.search(column):
        said = _SPAN_WORDS.sub(lambda found: found.group().lower(), column)
        return f"for the {said.removeprefix('the ')}"
    if _YEAR.fullmatch(column):
        return f"in {column}"
    return f"as of {column}" if _DAY.fullmatch(column) else ""


def _possessive(company: str) -> str:
    form = r",?\s+(?:inc|corp|corporation|company|co|ltd|plc|llc|ag|se|n\.v|s\.a)\.?$"
    name = re.sub(form, "", company.strip(), flags=re.IGNORECASE)
    if not name:
        return "the"
    # a cover's "INTEL CORPORATION" is Intel; a name with small letters is spelt as its owner does
    name = name.title() if company.strip().isupper() else name
    return f"{name}'" if name.endswith("s") else f"{name}'s"


# --- text


_LIMIT = re.compile(
    r"(?:^|(?<=[.!?] ))(?P<what>(?:The |All |Any |Each )?[A-Za-z][\w '-]{2,60}?)"
    r" (?P<verb>is|are|must be|can be|may be|will be)"
    r" (?P<done>(?:\w+ed|paid|made|given|sent|taken|held)(?: \w+){0,3}?)"
    r" within (?:\w+ \()?(?P<count>\d+)\)? (?P<unit>(?:business |working |calendar )?"
    r"(?:days|hours|weeks|months))\b",
    re.MULTILINE,
)
_SUBJECT = re.compile(r"(?=.*[a-z])[^\W\d_][^/?:;|“”\"]*[^\W_.]")
_TERM = re.compile(r"[“\"](?P<term>[A-Z][\w &-]{2,40})[”\"] (?:means|refers to|shall mean)\b")


def _of_headings(material: Material) -> Iterator[str]:
    """A heading that is a question, as in an FAQ, asks itself."""
    yield from (text for text in material.headings if text.endswith("?") and " " in text)


def _of_limits(material: Material) -> Iterator[str]:
    for found in _LIMIT.finditer(material.text):
        what, modal = found["what"], found["verb"].split()
        what = what if what.isupper() else what[0].lower() + what[1:]
        rest = " ".join((*modal[1:], found["done"]))
        yield f"Within how many {found['unit']} {modal[0]} {what} {rest}?"


def _of_terms(material: Material) -> Iterator[str]:
    for found in _TERM.finditer(material.text):
        yield f"What does “{found['term']}” mean?"


def _of_authors(material: Material) -> Iterator[str]:
    if material.facts.get("author"):
        yield f"Who wrote “{material.title[:_LONGEST_HEADING]}”?"


def _of_sections(material: Material) -> Iterator[tuple[str, str]]:
    """Questions about the subject of a heading that is words, no signature, note or title."""
    title = material.title[:_LONGEST_HEADING]
    for heading in material.headings:
        words = len(heading.split())
        is_subject = bool(_SUBJECT.fullmatch(heading)) and heading != material.title
        if is_subject and 2 <= words <= 7 and len(heading) <= _LONGEST_HEADING:
            yield f"What does “{title}” say about {heading}?", heading
