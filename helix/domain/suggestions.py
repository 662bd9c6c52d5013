"""Questions that a library suggests of itself, by rule: candidates, which are asked before shown.

A rule may be wrong; what no passage answers is never shown (helix/serving/suggested_questions.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest

from helix.domain.tables import HeaderPath, Table

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


def _of_tables(material: Material) -> Iterator[tuple[str, str]]:
    """Questions about rows, with the row's first number.

    Never a sentence of a row and a column: what is right of "Net sales" and "2025" reads badly of
    "Hull" and "2025", or of "Tutor" and "Hours a week", and no rule can tell them apart.
    """
    for table in material.tables:
        firsts: dict[int, str] = {}
        for cell in table.cells:
            if _NUMBER.fullmatch(printed := material.text[slice(*cell.span)]):
                firsts.setdefault(cell.row, printed.strip("($€£¥ )"))
        asked = (
            (_about(material.title, label), firsts[row])
            for row in sorted(firsts)
            if (label := _label(table.rows[row]))
        )
        yield from islice(asked, _MOST_OF_A_TABLE)


def _label(path: HeaderPath) -> str:
    """The label of a row, where it is a name; empty where it is none, or too long."""
    label = _MARKS.sub("", path[-1]) if path else ""
    is_name = re.search(r"[^\W\d_]{3}", label) and not re.search(r"[|›\"“]", label)
    return label if is_name and len(label) <= _LONGEST_LABEL else ""


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
    for heading in material.headings:
        words = len(heading.split())
        is_subject = bool(_SUBJECT.fullmatch(heading)) and heading != material.title
        if is_subject and 2 <= words <= 7 and len(heading) <= _LONGEST_HEADING:
            yield _about(material.title, heading), heading


def _about(title: str, subject: str) -> str:
    return f"What does “{title[:_LONGEST_HEADING]}” say about {subject}?"
