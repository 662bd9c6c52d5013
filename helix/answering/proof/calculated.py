"""Proof of statements with a calculation: `Other: 44.1 (2019) - 56.7 (2018) = -12.6 million`.

A number that stands in no source is proved by a calculation whose operands do. The danger is a
right sum over the wrong numbers. So the statement must write the calculation out, and name each
operand's row, and its column where the row has several. The calculation is computed again here;
no result of a tool is trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from helix.answering.proof.model import NAME, NUMBER, WORDS
from helix.answering.proof.passages import Passage
from helix.domain.aggregates import Computed
from helix.domain.arithmetic import Literal, NotArithmetic, literals, parse, shape
from helix.domain.calculations import Calculation, Operand
from helix.language.paraphrases import meanings
from helix.language.periods import with_quarters
from helix.language.rows import SCALES, Named, TableRow, amount, counted_in, rows_of, units_in
from helix.language.sentences import Span, sentence_spans
from helix.language.word_lists import word_lists

_NEUTRAL = word_lists("tables")["neutral"]
_ARITHMETIC = word_lists("tables")["arithmetic"]
_EQUALS = re.compile(r"\s(?:=|≈)\s")
_NOTE = re.compile(r"(?<=[\d%nd)])\s\(([^()]*)\)")
"""The words in brackets directly behind a number, which name it."""
_BEGINS = re.compile(r"(?<![\w.,])[-−–(\[$€£¥]{0,9}\d|(?<![\w.,])\.\d")
_RESULT = re.compile(
    r"(?P<sign>[-−–]?)\s?[$€£¥]?\s?(?P<digits>\d[\d,]*(?:\.\d+)?)\s?"
    r"(?P<unit>%|(?:percent|thousand|million|billion|trillion)\b)?(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 600
_SCALE_BEHIND = re.compile(r"\s(thousand|million|billion|trillion)s?\b", re.IGNORECASE)


@dataclass(frozen=True)
class CalculatedProof:
    """The proof of a claim: passages with spans, or none and the ``problem``."""

    spans: tuple[tuple[Passage, Span], ...]
    problem: str | None = None
    calculation: Computed | None = None


@dataclass(frozen=True)
class Equation:
    """A claim divided into the words before its expression, the expression, and the rest.

    ``notes`` are the words in brackets behind its numbers, by the number's index.
    """

    lead: str
    expression: str
    notes: Mapping[int, str]
    negative: bool
    digits: str
    unit: str

    @property
    def told(self) -> str:
        """Its result with its sign, without its unit."""
        return f"{'-' if self.negative else ''}{self.digits}"


@dataclass(frozen=True)
class _Found:
    """The place of an operand: its cell with the row, or the sentence around it."""

    passage: Passage
    span: Span
    own: frozenset[str]
    must: frozenset[str]
    beside: frozenset[str]
    scale: str
    units: Span | None = None


def calculated(
    claim: str, computed: Sequence[Computed], passages: Sequence[Passage]
) -> CalculatedProof | None:
    """The proof of a claim that cites ``passages``; None where it states no calculation."""
    calculations = [one for one in computed if isinstance(one, Calculation)]
    equation = equation_of(claim) if calculations and len(claim) <= _LONGEST else None
    if equation is None:
        return None
    problem = NUMBER
    for calculation in calculations:
        if not (_is_stated(equation, calculation) and calculation.holds()):
            continue
        found = [_find(one, passages) if one else None for one in calculation.operands]
        named = [
            (one, place) for one, place in zip(calculation.operands, found, strict=True) if one
        ]
        if not all(place and place.scale == one.scale for one, place in named):
            continue
        problem = _problem(equation, calculation, found) or ""
        if not problem:
            spans = dict.fromkeys(pair for place in found if place for pair in _spans(place))
            return CalculatedProof(tuple(spans), None, calculation)
    return CalculatedProof((), problem)


def _spans(place: _Found) -> Iterator[tuple[Passage, Span]]:
    yield place.passage, place.span
    if place.units:
        yield place.passage, place.units


def equation_of(claim: str) -> Equation | None:
    """The claim as an equation; None where it has no equation."""
    equals = list(_EQUALS.finditer(claim))
    if len(equals) != 1:
        return None
    left = claim[: equals[0].start()]
    right = _RESULT.fullmatch(claim[equals[0].end() :].strip().rstrip(" ."))
    if right is None:
        return None
    for begins in _BEGINS.finditer(left):
        expression, notes = _without_notes(left[begins.start() :])
        try:
            tree = parse(expression)
        except NotArithmetic:
            continue
        if isinstance(tree, Literal):
            continue
        lead = f"{left[: begins.start()]} {right['rest']}"
        unit = (right["unit"] or "").lower().replace("percent", "%")
        digits = right["digits"].replace(",", "")
        return Equation(lead, expression, notes, bool(right["sign"]), digits, unit)
    return None


def _without_notes(text: str) -> tuple[str, dict[int, str]]:
    """The expression without its notes, and the notes by the index of their number."""
    notes: dict[int, str] = {}
    bare, at = "", 0
    for note in _NOTE.finditer(text):
        if re.search(r"[-+*/−–×÷(]\s*\Z", text[: note.start()]):
            continue
        bare += text[at : note.start()]
        at = note.end()
        notes[len(re.findall(r"\d[\d.,]*", bare)) - 1] = note[1]
    return bare + text[at:], notes


def _is_stated(equation: Equation, calculation: Calculation) -> bool:
    """True if the equation is the calculation: its expression, and its result as rounded there."""
    try:
        if shape(parse(equation.expression)) != shape(parse(calculation.expression)):
            return False
    except NotArithmetic:
        return False
    places = len(equation.digits.partition(".")[2])
    stated = Decimal(equation.digits)
    close = abs(abs(calculation.result) - stated) * 2 <= Decimal(1).scaleb(-places)
    exact = places >= min(2, len(str(calculation.rounded).partition(".")[2]))
    same_sign = equation.negative == (calculation.result < 0) or not stated
    return close and exact and same_sign and equation.unit == calculation.unit


def _find(operand: Operand, passages: Sequence[Passage]) -> _Found | None:
    """The place of an operand in the cited passages; None where it stands in none."""
    for passage in passages:
        offset = passage.hit.start_char or 0
        start, end = operand.start - offset, operand.end - offset
        if passage.hit.chunk_id != operand.chunk_id or passage.text[start:end] != operand.quote:
            continue
        for row, above in rows_of(passage.text):
            for cell in row.cells:
                if cell.start <= start and end <= cell.end:
                    return _cell(passage, row, cell, above)
        return _sentence(passage, start, end)
    return None


def _cell(passage: Passage, row: TableRow, cell: Named, above: Span) -> _Found:
    units = units_in(passage.text, above)
    label, header = _means(row.label), _means(cell.header)
    path = _means(" ".join((row.corner, *row.path)))
    others = [_means(other.header) for other in row.cells if other is not cell]
    shared = frozenset[str].intersection(header, *others) if others else header
    must = (label - _NEUTRAL) | (header - shared)
    for other, _ in rows_of(passage.text):
        if other is not row and _means(other.label) == label:
            must |= path - _means(" ".join((other.corner, *other.path)))
    about = _means(passage.text[slice(*above)]) | _means(passage.title)
    scale = counted_in(row, cell, units)
    value = amount(cell.value)
    path |= _means(value.unit) if value else frozenset()
    span = (units.start, units.end) if units and scale in SCALES else None
    return _Found(passage, (row.start, cell.end), header | path, must, about, scale, span)


def _sentence(passage: Passage, start: int, end: int) -> _Found | None:
    """The sentence that an operand stands in, outside of a table's rows."""
    for span in sentence_spans(passage.text):
        if span[0] <= start and end <= span[1]:
            behind = _SCALE_BEHIND.match(passage.text, end)
            is_share = passage.text[end - 1 : end + 1].strip().endswith("%")
            scale = "%" if is_share else behind[1].lower() if behind else ""
            own = _means(passage.text[slice(*span)])
            return _Found(passage, span, own, frozenset(), _means(passage.title), scale)
    return None


def _problem(
    equation: Equation, calculation: Calculation, found: Sequence[_Found | None]
) -> str | None:
    """The contradiction between the equation's words and its operands' places; None without one."""
    said = _means(equation.lead)
    lead = said - _NEUTRAL - _ARITHMETIC
    notes = _notes_of(equation, calculation)
    places = [(notes[n], place) for n, place in enumerate(found) if place]
    everywhere = frozenset[str]().union(*(place.own | place.beside for _, place in places))
    if lead - everywhere:
        return WORDS
    dated = frozenset(word for word in lead if any(map(str.isdigit, word)))
    for note, place in places:
        if dated - place.own - place.beside:
            return NUMBER  # another column's period
        if note - _NEUTRAL - place.own - place.beside:
            return NAME  # what is noted behind the number is not what it is
        if place.must - note - said:
            return NAME  # it is not said which row or column the number is of
    if _ambiguous(lead, places):
        return NAME
    return None


def _ambiguous(lead: frozenset[str], places: Sequence[tuple[frozenset[str], _Found]]) -> bool:
    """True if the lead does not distinguish operands of several rows or columns."""
    noted: dict[tuple[int, Span], tuple[frozenset[str], _Found]] = {}
    for note, place in places:
        noted.setdefault((place.passage.hit.chunk_id, place.span), (note, place))
    several = list(noted.values())
    return any(
        (place.must - other.own) - note
        for note, place in several
        for _, other in several
        if other is not place
    )


def _notes_of(equation: Equation, calculation: Calculation) -> list[frozenset[str]]:
    """The words behind each number; a number that is written twice needs them once."""
    known: dict[tuple[int, int], frozenset[str]] = {}
    numbers = list(literals(parse(calculation.expression)))
    for place, operand in enumerate(calculation.operands[: len(numbers)]):
        if operand and place in equation.notes:
            known.setdefault((operand.chunk_id, operand.start), _means(equation.notes[place]))
    return [
        known.get((one.chunk_id, one.start), frozenset()) if one else frozenset()
        for one in calculation.operands
    ]


def _means(text: str) -> frozenset[str]:
    return frozenset(meanings(with_quarters(text)))
