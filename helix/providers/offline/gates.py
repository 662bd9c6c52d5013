"""What a sentence must not be to answer a question, however alike the two are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.domain.relevance import is_of_another_time
from helix.domain.source_place import SourcePlace
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.rows import BESIDE, INWARDS, amount, read_row
from helix.language.word_lists import word_lists
from helix.providers.offline.contraries import (
    tells_limit,
    tells_of_party,
    tells_same_side,
)
from helix.providers.offline.dimensions import tells_dimension
from helix.providers.offline.evidence import Evidence
from helix.providers.offline.explanations import Explanation, announces_table, wanted
from helix.providers.offline.figures import counts_alike, has_figure
from helix.providers.offline.focus import (
    tells_count,
    tells_day,
    tells_fact,
    tells_length,
    tells_one,
    tells_purpose,
    tells_rate,
)
from helix.providers.offline.measures import points_back, tells_measure
from helix.providers.offline.mentions import names_end, names_thing, names_whom
from helix.providers.offline.passages import kind_words
from helix.providers.offline.people import office_of
from helix.providers.offline.roles import tells_role
from helix.providers.offline.verb_gates import tells_what_is_asked
from helix.providers.offline.verbs import names_object, tells_verb

_MOST_CELLS = 5  # of a row that a reader takes in at a glance
_GENERIC = word_lists("tables")["generic"]
_FURNITURE = re.compile(
    r"(?:page )?\d{1,4}(?: of \d{1,4})?|table of contents|.{0,80}\|\s*\d{1,4}"
    r"|.{0,60}\b(?:form )?10-[kq]\b[^.]{0,30}\d{1,4}|(?:©|copyright\b).{0,200}|confidential|draft",
    re.IGNORECASE,
)
_MIXED = re.compile(r"(?<=[a-z,.] )(?:Lower|Higher|Increased|Decreased|Improved) (?!and\b)[a-zA-Z]")
_AMOUNT_FIRST = re.compile(r"(?:\(?\d{1,3}(?:,\d{3})+\)?|\(\d{2,3}\)) [A-Z]")
_LABEL_FIRST = re.compile(r"(\w+(?: \w+){3,}) (?:\w+ ){1,5}\1\b")
_POINTS_ELSEWHERE = re.compile(
    r"\b(?:factors|risks|matters|reasons|uncertainties|information) (?:that (?:are|is) )?"
    r"(?:set forth|described|discussed|listed|noted|identified) (?:above|below|elsewhere|in Part)\b"
)
_TITLE_WORD = r"(?:[A-Z][a-z]+|of|and|the|for|in|to|on|\([A-Z][a-z]+\))"
_TITLE = re.compile(rf"{_TITLE_WORD}(?: {_TITLE_WORD}){{2,9}}")
_TWICE = re.compile(r"\b([A-Za-z]+ [\w.$%]+) \1\b")
_OFTEN = re.compile(r"\bhow (?:often|frequently)\b", re.IGNORECASE)
_FREQUENCY = re.compile(rf"\b(?:{any_of('frequencies')})\b", re.IGNORECASE)
_WHENEVER = re.compile(r"\bwhen (?:is|are|do|does|must|should|can|may)\b", re.IGNORECASE)
_CONDITION = re.compile(rf"\b(?:{any_of('conditions')})\b", re.IGNORECASE)
_ENTRY = re.compile(
    r"[\"“]?[A-Z][^.;:|]{1,50}[\"”]? (?:means|refers to|is defined as|stands for|shall mean)\b"
    r"|[A-Z][A-Za-z0-9&/()-]{1,20}(?: [A-Z(][\w&/()-]*){0,4}(?: [-–—] |\t| {3,})[A-Z]"
)


def _tells_rate(question: AskedQuestion, text: str) -> bool:
    """Whether amounts are of the rate that is asked for; `how often` asks for the rate itself."""
    return bool(_OFTEN.search(question.text)) or tells_rate(question, text)


_TELLS = (
    tells_fact, tells_day, tells_count, tells_one, tells_length, tells_purpose, tells_role,
    tells_dimension, tells_same_side, tells_of_party, tells_limit, _tells_rate,
)  # fmt: skip


def may_answer(
    question: AskedQuestion, evidence: Evidence, place: int, source: SourcePlace | None = None
) -> bool:
    """Whether the sentence at ``place`` may be quoted: it holds what is asked for, and is prose.

    Furniture of a page, an entry of a glossary where no meaning is asked for, and a row of a table
    that has a cell a period (helix.providers.offline.cells quotes its cells) may not.

    Args:
        source: where the sentence's source stands.
    """
    source = source or SourcePlace()
    company = source.company
    text = evidence.sentences[place].text
    if (office := office_of(question, company)) and not office.issubset(meanings(text)):
        return False
    stated = list(_stated_until(evidence, place))
    before = stated[1] if len(stated) > 1 else ""
    if not counts_alike(question, stated):
        return False
    asked = wanted(question)
    if asked is None and not _has_value(question, text, before, company):
        return False
    if not names_object(question, stated[: 1 + points_back(text)], source):
        return False
    if is_of_another_time(question, text, source):
        return False
    if asked is Explanation.CAUSE and not tells_measure(question, text, before, company):
        return False
    if not (
        names_thing(question, evidence, place, source)
        and names_whom(question, evidence, place, source)
        and tells_what_is_asked(question, text, before)
        and tells_verb(question, evidence, place)
        and names_end(question, evidence, place)
        and all(tells(question, text) for tells in _TELLS)
    ):
        return False
    if not is_prose(text) or (not question.is_definition and _ENTRY.match(text)):
        return False
    if not _is_fit_row(question, text, source):
        return False
    return not question.counted or _counts(question, evidence, place)


def is_prose(text: str) -> bool:
    """Whether a text is neither cut, nor mixed of columns, nor furniture, nor points elsewhere."""
    return not (
        is_garbled(text) or is_cut(text) or is_furniture(text) or _POINTS_ELSEWHERE.search(text)
    )


def _is_fit_row(question: AskedQuestion, text: str, source: SourcePlace) -> bool:
    """Whether a text is no row of a table whose cells are to be told apart, or one that fits."""
    if INWARDS in text and read_row(text, (0, len(text))):
        return False
    wants_value = question.asks_for_value or question.kind is AnswerKind.NUMBER
    return not wants_value or not (
        (question.kind is not AnswerKind.NAME and _TITLE.fullmatch(text))
        or _has_many_cells(text)
        or announces_table(text)
        or _has_bare_cells(text)
        or _is_other_row(question, text, source)
    )


def _has_value(question: AskedQuestion, text: str, before: str, company: frozenset[str]) -> bool:
    """Whether a sentence has a value of the kind and of the measure that are asked for."""
    if question.kind is not AnswerKind.OPEN and not _has_kind(question, text):
        return False
    return has_figure(question, text) and tells_measure(question, text, before, company)


def _has_bare_cells(text: str) -> bool:
    """Whether a text is a row of several numbers whose columns nothing names."""
    if BESIDE not in text or ": " in text:
        return False
    return sum(amount(cell) is not None for cell in text.split(BESIDE)) > 1


def _has_many_cells(text: str) -> bool:
    """Whether a text is a row whose cells have to be told apart, by their columns."""
    row = read_row(text, (0, len(text)))
    return row is not None and not row.corner and len(row.cells) > _MOST_CELLS


def _is_other_row(question: AskedQuestion, text: str, source: SourcePlace) -> bool:
    """Whether a text is a row of a part, or without columns of more than is asked for."""
    label, beside, rest = text.partition(BESIDE)
    if ": " in rest and ": " not in label:
        return _is_of_a_part(question, label, rest, source)
    if not beside or ": " in text or amount(rest) is None:
        return False
    stated = source.company.union(question.subject, _GENERIC)
    return not stated.issuperset(meanings(without_periods(label)))


def _is_of_a_part(question: AskedQuestion, label: str, rest: str, source: SourcePlace) -> bool:
    """Whether a row of amounts has a label of its own: one segment's, where all is asked for."""
    own = frozenset(meanings(without_periods(label))) - _GENERIC - source.company
    if not own or not all(amount(cell.rpartition(": ")[2]) for cell in rest.split(BESIDE)):
        return False
    return own.isdisjoint(question.subject)


def is_garbled(text: str) -> bool:
    """Whether it is no prose: two words stand twice in a row, or lines of columns are mixed."""
    if len(_MIXED.findall(text)) > 1:
        return True
    return bool(_TWICE.search(text))


def is_cut(text: str) -> bool:
    """Whether a text is a part: the amount of a row begins it, or its label is its first words."""
    return bool(_AMOUNT_FIRST.match(text) or _LABEL_FIRST.match(text))


def is_furniture(text: str) -> bool:
    """Whether a sentence is a page number, a running header or footer, or a legal line."""
    return bool(_FURNITURE.fullmatch(text))


def _stated_until(evidence: Evidence, place: int) -> Iterator[str]:
    """The sentence and at most three before it in the same source, the nearest first."""
    source = evidence.sentences[place].source
    for each in evidence.sentences[max(0, place - 3) : place + 1][::-1]:
        if each.source == source:
            yield each.text


def _has_kind(question: AskedQuestion, text: str) -> bool:
    """Whether the sentence holds a number, a time or a name more than the question has.

    `How often?` wants a frequency; `when is it due?` may have a condition.
    """
    if _OFTEN.search(question.text):
        return bool(_FREQUENCY.search(text))
    if _WHENEVER.search(question.text) and _CONDITION.search(text):
        return True
    asked = Counter(kind_words(question.kind, question.text))
    return bool(Counter(kind_words(question.kind, text)) - asked)


def _counts(question: AskedQuestion, evidence: Evidence, place: int) -> bool:
    """Whether the sentence, or the one before or after it, says what is counted."""
    own = evidence.sentences[place]
    return any(
        not question.counted.isdisjoint(meanings(each.text))
        for each in evidence.sentences[max(0, place - 1) : place + 2]
        if each.source == own.source
    )
