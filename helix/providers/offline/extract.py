"""Choosing and quoting: from a question and sources to sentences with their numbers, or refusal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from helix.domain.citations import MARKER, marker_numbers
from helix.domain.contract import REFUSAL
from helix.domain.intents import is_summary
from helix.evidence.asked_words import rest_of
from helix.evidence.forms import Form
from helix.language.paraphrases import rephrasings
from helix.providers.offline.cells import named_cell
from helix.providers.offline.extremes import asks_for_extreme, extreme_of
from helix.providers.offline.lead_sentences import lead_sentences
from helix.providers.offline.quotes import Quote, likeliest
from helix.providers.offline.reading import Offered, OfferedSource

RISK = 0.45
"""The share of wrong answers up to which something is quoted (HELIX_OFFLINE_RISK's default)."""
PARAGRAPH = "\n\n"
_MOST_RESTS = 2
_MOST_PARTS = 3
_COMMA = re.compile(r",(?!\d)")
_BULLET_MARK = re.compile(r"^[-*+•‣◦▪▶●○■□–—·>]\s+")
_FALSE_MARKER = re.compile(r"\[(\s*[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*\s*)\]")
_ROUND = r"(\1)"
_LINE_BREAK = re.compile(r"(?<!\s)\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*+")
_NUMBERED = re.compile(r"\(?\d{1,3}[.)]\s")
_SEPARATOR = {Form.TEXT: " ", Form.ITEM: "\n", Form.CODE: "\n", Form.ROW: "\n"}
"""The separator in front of a further sentence, item, block of code or row."""


def answer_of(asked: Offered, risk: float = RISK) -> str:
    """The statements that answer, each followed by its marker, or exactly the refusal.

    An agent's calculations are stated as they are; what it searched for by itself is answered from
    what was found for it.
    """
    if asked.findings.statements:
        return PARAGRAPH.join(asked.findings.statements)
    answers = [
        said
        for part in asked.findings.parts
        if (found := tuple(one for one in asked.sources if one.number in part.numbers))
        for said in _answer(Offered(part.question, found), risk)[:1]
    ]
    if any(answers):
        return _together(answers)
    question = _without_orders(MARKER.sub(" ", asked.question))
    if is_summary(question):
        return lead_sentences(asked.sources) or REFUSAL
    return _answers(replace(asked, question=question), risk) or REFUSAL


def _without_orders(question: str) -> str:
    """The text up to its last question mark: an order that follows asks nothing of a document."""
    asked, mark, _ = question.rpartition("?")
    return f"{asked}{mark}" if asked.strip() else question


def _answers(asked: Offered, risk: float) -> str:
    """The answer, and the one to what it has no word of: to the rest of the question.

    Where there is no rest, the answer with the second likeliest, if there is one.
    """
    first = _answer(asked, risk)
    if not (first or asked.follows):
        return _answer_of_parts(asked, risk)
    answers = first[:1]
    while answers and not asked.follows and len(answers) <= _MOST_RESTS:
        rest, needed = rest_of(asked.question, _said(answers, asked.sources))
        more = _answer(replace(asked, question=rest), risk, needed)[:1] if needed else []
        if not more:
            break
        answers += more
    return _together(answers if answers[1:] else first[-1:])


def _together(answers: Iterable[str]) -> str:
    """The answers as paragraphs, without those that another has too."""
    found: list[str] = []
    for answer in answers:
        within = [place for place, one in enumerate(found) if _has(answer, one)]
        if within:
            found[within[0]] = answer
            found = [one for place, one in enumerate(found) if place not in within[1:]]
        elif not any(_has(one, answer) for one in found):
            found.append(answer)
    return PARAGRAPH.join(found)


def _has(whole: str, part: str) -> bool:
    """True where the words of ``part`` stand in ``whole``, in their order."""
    return f" {' '.join(part.split())} " in f" {' '.join(whole.split())} "


def _said(answers: Sequence[str], sources: Sequence[OfferedSource]) -> str:
    """The answers, with the titles and headings that their quotes stand under."""
    text = "\n".join(answers)
    cited = set(marker_numbers(text))
    return "\n".join([text, *(one.place.text for one in sources if one.number in cited)])


def _answer_of_parts(asked: Offered, risk: float) -> str:
    """The answers to what commas divide the question into, where every part has one."""
    parts = [part for part in _COMMA.split(asked.question) if part.strip()]
    if not 1 < len(parts) <= _MOST_PARTS:
        return ""
    answers = [_answer(replace(asked, question=part), risk)[:1] for part in parts]
    return _together(chain(*answers)) if all(answers) else ""


def _answer(asked: Offered, risk: float, needed: str = "") -> list[str]:
    """The likeliest answer, and it with a second one that is not much less likely, if there is one.

    Both are in the order of their source where that is one. Empty where nothing is likely.
    """
    question, sources = asked.question, asked.sources
    if asks_for_extreme(question):
        if found := extreme_of(question, sources):
            return [f"{quote(found[1])} [{sources[found[0]].number}]"]
    elif not (asked.follows or needed):
        for reading in (question, *rephrasings(question)):
            if cell := named_cell(reading, sources):
                return [f"{quote(cell.of.statement)} [{sources[cell.of.source].number}]"]
    best = likeliest(question, sources, risk, asked.follows, asked.said, needed)
    if not best[1:]:
        return [_written(quotes, sources) for quotes in best]
    first, second = best
    is_behind = first[0].source == second[0].source and second[0].start < first[0].start
    both = [_written(quotes, sources) for quotes in ((second, first) if is_behind else best)]
    return [_written(first, sources), PARAGRAPH.join(both)]


def _written(quotes: Sequence[Quote], sources: Sequence[OfferedSource]) -> str:
    """The quotes as Markdown, each with its marker."""
    said, in_code = "", False
    for form, run in groupby(quotes, lambda one: one.form):
        texts = list(_cited(form, list(run), sources))
        is_list = form is Form.ITEM and bool(said or texts[1:])
        for text in texts:
            separator = PARAGRAPH if in_code and form is Form.TEXT else _SEPARATOR[form]
            mark = "- " if is_list and not _NUMBERED.match(text) else ""
            said += separator * bool(said) + mark + text
        in_code = form is Form.CODE
    return said


def _cited(form: Form, quotes: Sequence[Quote], sources: Sequence[OfferedSource]) -> Iterator[str]:
    """The texts of neighbouring quotes of one form with their markers; of code one block."""
    source = sources[quotes[0].source]
    if form is Form.CODE:
        yield f"{_code(source.text, quotes[0].start, quotes[-1].end)}\n[{source.number}]"
        return
    for one in quotes:
        yield f"{quote(source.text[one.start : one.end])} [{source.number}]"


def _code(text: str, start: int, end: int) -> str:
    """The lines of ``text[start:end]`` in a fence, moved left as far as all of them can be."""
    line = text.rfind("\n", 0, start) + 1
    lines = text[start if text[line:start].strip() else line : end]
    return f"```\n{_FALSE_MARKER.sub(_ROUND, textwrap.dedent(lines))}\n```"


def quote(sentence: str) -> str:
    """The sentence as it stands, on one line, its own bracketed numbers in round brackets.

    `[7]` in a source points to the source's own notes; in an answer it would cite source 7.
    """
    return _FALSE_MARKER.sub(_ROUND, _LINE_BREAK.sub(" ", _BULLET_MARK.sub("", sentence)))
