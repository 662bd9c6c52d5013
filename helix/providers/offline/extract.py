"""Choosing and quoting: from a question and sources to sentences with their numbers, or refusal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from helix.domain.citations import MARKER, marker_numbers
from helix.domain.contract import REFUSAL
from helix.domain.question_analysis import is_summary
from helix.evidence.asked_words import rest_of
from helix.evidence.blocks import Layout
from helix.evidence.forms import STEP, Form
from helix.language.paraphrases import rephrasings
from helix.language.rows import BESIDE
from helix.language.sentences import Passage, Span, units_of
from helix.language.word_lists import word_lists
from helix.providers.offline.cells import named_cell
from helix.providers.offline.extremes import asks_for_extreme, extreme_of
from helix.providers.offline.quotes import Quote, likeliest
from helix.providers.offline.reading import Offered, OfferedSource

RISK = 0.4
"""The share of wrong answers up to which something is quoted (HELIX_OFFLINE_RISK's default)."""
PARAGRAPH = "\n\n"
_MOST_RESTS = 2
_MOST_PARTS = 3
_JOINING = "|".join(sorted(word_lists("words")["joining"]))
_PART = re.compile(rf",(?!\d)|\s(?:{_JOINING})\s(?=(?:\S+\s+){{2}}\S)", re.IGNORECASE)
"""A comma, or a word that joins, with three words behind it: fewer seldom ask anything."""
_BULLET_MARK = re.compile(r"^(?:[-*+•‣◦▪▶●○■□–—·>]|#\.)\s+")
_FALSE_MARKER = re.compile(r"\[(\s*[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*\s*)\]")
_ROUND = r"(\1)"
_DIRECTIVE = ".. "
_SEPARATOR = dict.fromkeys(Form, "\n") | {Form.TEXT: " "}
"""The separator in front of a further sentence; of anything else."""
_MOST_LEADS = 6
_FEWEST_WORDS, _MOST_WORDS = 6, 60  # of such a sentence


def answer_of(asked: Offered, risk: float = RISK) -> str:
    """The statements that answer, each followed by its marker, or exactly the refusal.

    An agent's calculations are stated as they are; what it searched for by itself is answered from
    what was found for it.
    """
    if asked.findings.statements:
        return PARAGRAPH.join(asked.findings.statements)
    answers = [
        _answer(Offered(part.question, found), risk).first
        for part in asked.findings.parts
        if (found := tuple(one for one in asked.sources if one.number in part.numbers))
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
    likeliest = _answer(asked, risk)
    if not (likeliest.first or asked.follows):
        return _answer_of_parts(asked, risk)
    answers = [likeliest.first]
    while answers[-1] and not asked.follows and len(answers) <= _MOST_RESTS:
        rest, needed = rest_of(asked.question, _said(answers, asked.sources))
        left = replace(asked, question=rest)
        answers.append(_answer(left, risk, needed).first if needed else "")
    has_rest = len(list(filter(None, answers))) > 1
    return _together(answers if has_rest else [likeliest.whole])


def _together(answers: Iterable[str]) -> str:
    """The answers as paragraphs, without those that another has too."""
    found: list[str] = []
    for answer in filter(None, answers):
        within = [place for place, one in enumerate(found) if _contains(answer, one)]
        if within:
            found[within[0]] = answer
            found = [one for place, one in enumerate(found) if place not in within[1:]]
        elif not any(_contains(one, answer) for one in found):
            found.append(answer)
    return PARAGRAPH.join(found)


def _contains(whole: str, part: str) -> bool:
    """True where the words of ``part`` stand in ``whole``, in their order."""
    return f" {' '.join(part.split())} " in f" {' '.join(whole.split())} "


def _said(answers: Sequence[str], sources: Sequence[OfferedSource]) -> str:
    """The answers, with the titles and headings that their quotes stand under."""
    text = "\n".join(answers)
    cited = set(marker_numbers(text))
    return "\n".join([text, *(one.place.text for one in sources if one.number in cited)])


def _answer_of_parts(asked: Offered, risk: float) -> str:
    """The answers to what commas and joining words divide the question into, if all have one."""
    parts = [part for part in _PART.split(asked.question) if part.strip()]
    if not 1 < len(parts) <= _MOST_PARTS:
        return ""
    answers = [_answer(replace(asked, question=part), risk).first for part in parts]
    return _together(answers) if all(answers) else ""


class _Likeliest(NamedTuple):
    """The likeliest answer, "" where nothing is likely, and the ``whole``: with a second one where
    that is not much less likely, in the order of their source where it is the same."""

    first: str = ""
    whole: str = ""


def _answer(asked: Offered, risk: float, needed: str = "") -> _Likeliest:
    question, sources = asked.question, asked.sources
    is_extreme = asks_for_extreme(question)
    if is_extreme:
        if found := extreme_of(question, sources):
            return _alone(f"{quote(found[1])} [{sources[found[0]].number}]")
    elif not (asked.follows or needed):
        for reading in (question, *rephrasings(question)):
            if cell := named_cell(reading, sources):
                return _alone(f"{quote(cell.of.statement)} [{sources[cell.of.source].number}]")
    best = likeliest(question, sources, risk, asked.follows, asked.said, needed)
    if not best or (is_extreme and _is_uncompared(best[0], sources)):
        return _Likeliest()
    in_order = sorted(best, key=lambda one: one[0].start if _is_of_one(best) else 0)
    whole = PARAGRAPH.join(_written(quotes, sources) for quotes in in_order)
    return _Likeliest(_written(best[0], sources), whole)


def _alone(answer: str) -> _Likeliest:
    return _Likeliest(answer, answer)


def _is_uncompared(quotes: Sequence[Quote], sources: Sequence[OfferedSource]) -> bool:
    """True for a row of a table that does not say itself that it has the greatest or the least."""
    first = quotes[0]
    text = sources[first.source].text[first.start : first.end]
    return first.form is Form.ROW and not asks_for_extreme(text)


def _is_of_one(answers: Sequence[Sequence[Quote]]) -> bool:
    """True where all answers quote the same source."""
    return len({quotes[0].source for quotes in answers}) == 1


def _written(quotes: Sequence[Quote], sources: Sequence[OfferedSource]) -> str:
    """The quotes as Markdown, each with its marker."""
    said, apart = "", False
    for form, run in groupby(quotes, lambda one: one.form):
        texts = list(_cited(form, list(run), sources))
        is_list = form is Form.ITEM and bool(said or texts[1:])
        for text in texts:
            separator = PARAGRAPH if apart and form is Form.TEXT else _SEPARATOR[form]
            mark = "- " if is_list and not STEP.match(text) else ""
            said += separator * bool(said) + mark + text
        apart = form in (Form.CODE, Form.HEADING)
    return said


def _cited(form: Form, quotes: Sequence[Quote], sources: Sequence[OfferedSource]) -> Iterator[str]:
    """The texts of neighbouring quotes of one form with their markers; of code its blocks."""
    source = sources[quotes[0].source]
    if form is Form.CODE:
        for start, end in _blocks(source.text, quotes):
            yield f"{_code(source.text, start, end)}\n[{source.number}]"
        return
    for one in quotes:
        yield f"{quote(source.text[one.start : one.end])} [{source.number}]"


def _blocks(text: str, quotes: Sequence[Quote]) -> list[Span]:
    """The blocks of neighbouring quotes of code: a directive between two is of neither."""
    blocks = [(quotes[0].start, quotes[0].end)]
    for one in quotes[1:]:
        start, end = blocks[-1]
        is_apart = text[end : one.start].lstrip().startswith(_DIRECTIVE)
        blocks[-1:] = [(start, end), (one.start, one.end)] if is_apart else [(start, one.end)]
    return blocks


def _code(text: str, start: int, end: int) -> str:
    """The lines of ``text[start:end]`` in a fence, moved left as far as all of them can be."""
    line = text.rfind("\n", 0, start) + 1
    lines = text[start if text[line:start].strip() else line : end]
    return f"```\n{_FALSE_MARKER.sub(_ROUND, textwrap.dedent(lines))}\n```"


def quote(sentence: str) -> str:
    """The sentence's words on one line, its own bracketed numbers in round brackets.

    `[7]` in a source points to the source's own notes; in an answer it would cite source 7.
    """
    return _FALSE_MARKER.sub(_ROUND, " ".join(_BULLET_MARK.sub("", sentence).split()))


def lead_sentences(sources: Sequence[OfferedSource]) -> str:
    """The first sentence of prose of each source with its marker, of six sources at most."""
    found: list[str] = []
    for source in sources:
        if len(found) < _MOST_LEADS and (lead := _lead(source.text)):
            cited = f"{lead} [{source.number}]"
            found += [cited] if lead not in " ".join(found) else []
    return " ".join(found)


def _lead(text: str) -> str:
    passage = Passage(text)
    units = units_of([passage])
    for unit, form in zip(units, Layout(passage, units).forms, strict=True):
        sentence = " ".join(unit.text.split())
        is_prose = form is Form.TEXT and sentence.endswith((".", "!", "。"))
        if not is_prose or BESIDE in sentence or MARKER.search(sentence):
            continue
        if _FEWEST_WORDS <= len(sentence.split()) <= _MOST_WORDS:
            return sentence
    return ""
