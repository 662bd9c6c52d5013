"""Choosing and quoting: from a question and sources to sentences with their numbers, or refusal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from helix.domain.contract import REFUSAL
from helix.domain.findings import Part
from helix.domain.intents import is_summary
from helix.domain.question_analysis import parts_of, read_question
from helix.evidence.blocks import Form
from helix.language.durations import without_periods
from helix.language.paraphrases import rephrasings
from helix.providers.offline.cells import cell_answer
from helix.providers.offline.extremes import compared_cells
from helix.providers.offline.lead_sentences import lead_sentences
from helix.providers.offline.quotes import Quote, likeliest
from helix.providers.offline.reading import PromptSource

RISK = 0.45
"""The share of wrong answers up to which something is quoted (HELIX_OFFLINE_RISK's default)."""
NOT_FOUND = "Not found in the documents:"
"""In front of a part of the question that nothing answers, where another part is answered."""
PARAGRAPH = "\n\n"
_BULLET_MARK = re.compile(r"^[-*+•‣◦▪>]\s+")
_FALSE_MARKER = re.compile(r"\[(\s*[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*\s*)\]")
_LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*+\n")
_JOINED = {Form.TEXT: " ", Form.ITEM: "\n- ", Form.CODE: PARAGRAPH, Form.ROW: "\n"}
"""The separator in front of a further sentence, item, line of code or row."""


def extract(
    question: str, sources: Sequence[PromptSource], risk: float = RISK, before: str = ""
) -> str:
    """The sentences that answer, each followed by its marker, or exactly the refusal.

    Each part of a question is answered for itself; one that is not is named, if another is.
    ``before`` is the conversation so far: what it has said already is less likely asked again.
    """
    question = _without_orders(question)
    if is_summary(question):
        return lead_sentences(sources) or REFUSAL
    parts = parts_of(question)
    answers = [_answer(part, sources, risk, before) for part in parts]
    if not any(answers):
        return (_answer(question, sources, risk, before) if len(parts) > 1 else "") or REFUSAL
    if len(parts) == 1:
        return answers[0]
    stated = [
        answer or f"{NOT_FOUND} {quote(without_periods(part))}"
        for part, answer in zip(parts, answers, strict=True)
    ]
    return PARAGRAPH.join(dict.fromkeys(stated))


def extract_parts(
    parts: Sequence[Part], sources: Sequence[PromptSource], risk: float = RISK
) -> str:
    """Answer each part of a question from the sources that were found for it; '' if none has one.

    A part without an answer is named where another part has one.
    """
    stated = []
    for part in parts:
        found = [source for source in sources if source.number in part.numbers]
        stated.append(_answer(part.question, found, risk) if found else "")
    if not any(stated):
        return ""
    answers = [
        answer or f"{NOT_FOUND} {quote(without_periods(part.question))}"
        for part, answer in zip(parts, stated, strict=True)
    ]
    return PARAGRAPH.join(dict.fromkeys(answers))


def _without_orders(question: str) -> str:
    """The text up to its last question mark: an order that follows asks nothing of a document."""
    asked, mark, _ = question.rpartition("?")
    return f"{asked}{mark}" if mark and read_question(asked).subject else question


def _answer(question: str, sources: Sequence[PromptSource], risk: float, before: str = "") -> str:
    if several := compared_cells(question, sources):
        number = sources[several.source].number
        return " ".join(f"{quote(text)} [{number}]" for text in several.texts)
    readings = [read_question(each) for each in (question, *rephrasings(question))]
    cells = (cell_answer(asked, sources) for asked in readings)
    if cell := next(filter(None, cells), None):
        return f"{quote(cell.text)} [{sources[cell.source].number}]"
    quotes = likeliest(question, sources, risk, before)
    said = _cited(quotes[0], sources) if quotes else ""
    for last, each in pairwise(quotes):
        said += _between(last, each, sources) + _cited(each, sources)
    return said


def _between(last: Quote, each: Quote, sources: Sequence[PromptSource]) -> str:
    """The separator of two quotes: a paragraph's end where the source has one, and behind code."""
    gap = sources[each.source].text[last.end : each.start]
    ends = last.form is Form.CODE or bool(_BLANK_LINE.search(gap))
    return PARAGRAPH if ends and each.form is Form.TEXT else _JOINED[each.form]


def _cited(each: Quote, sources: Sequence[PromptSource]) -> str:
    source = sources[each.source]
    return f"{quote(source.text[each.start : each.end])} [{source.number}]"


def quote(sentence: str) -> str:
    """The sentence as it stands, on one line, its own bracketed numbers in round brackets.

    `[7]` in a source points to the source's own notes; in an answer it would cite source 7.
    """
    return _FALSE_MARKER.sub(r"(\1)", _LINE_BREAK.sub(" ", _BULLET_MARK.sub("", sentence)))
