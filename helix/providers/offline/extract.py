"""Choosing and quoting: from a question and sources to sentences with their numbers, or refusal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from helix.contract import REFUSAL
from helix.domain.asked import (
    AnswerKind,
    AskedQuestion,
    any_of,
    numbers_in,
    parts_of,
    read_question,
)
from helix.domain.findings import Part
from helix.domain.intents import is_summary
from helix.domain.relevance import companies_of, is_of_another
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings, rephrasings
from helix.providers.offline.cell_statements import MOST_WORDS
from helix.providers.offline.cells import cell_answer
from helix.providers.offline.evidence import (
    Evidence,
    Sentence,
    weigh_evidence,
)
from helix.providers.offline.explanations import (
    Explanation,
    causes_of,
    defines,
    gives_cause,
    wanted,
)
from helix.providers.offline.extremes import compared_cells
from helix.providers.offline.gates import may_answer
from helix.providers.offline.leads import lead_sentences
from helix.providers.offline.mentions import unnamed
from helix.providers.offline.passages import Floats, kind_words
from helix.providers.offline.people import holder
from helix.providers.offline.reading import PromptSource

ENOUGH = 1.5
"""The least score that is an answer, chosen on the tuning half (decision record 0004)."""

_MOST_QUOTES = 3
_CLOSE = 0.3  # a further sentence scores this near the best one
_WORTH_ADDING = 0.15  # and meets this share of the question that was not yet covered
_FAR = 0.5  # one that scores this part of the best is quoted only
_DEFINES = 0.5  # more for a sentence that says what something is, where that is asked
_OTHER_HALF = 0.25  # for this share of the question: `the costs of shipping and of wrapping`
_LIST_ITEMS = 20
NOT_FOUND = "Not found in the documents:"
"""In front of a part of the question that nothing answers, where another part is answered."""
PARAGRAPH = "\n\n"
_FOREIGN_NAME = 0.5  # taken off when a name in the question is nowhere in the source
_NAME_MET = 0.55  # a coverage that another name of its kind does not reach
_NEGATION = re.compile(
    rf"\b(?:{any_of('negations')})\b|n['’]t\b|\b(?:un|non|dis)-?[a-z]{{4,}}", re.IGNORECASE
)
_CLAUSE = re.compile(r"[^;:,]+[;:,]*\s*|[;:,]+\s*")
_BULLET_MARK = re.compile(r"^[-*+•‣◦▪>]\s+")
_FALSE_MARKER = re.compile(r"\[(\s*[0-9]{1,9}(?:\s*,\s*[0-9]{1,9})*\s*)\]")
_LINE_BREAK = re.compile(r"\s*[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]\s*")
_BULLET = re.compile(r"(?:[-*+•‣◦▪>]|\(?\w{1,3}[.)])\s+")


@dataclass(frozen=True)
class Quote:
    """Characters of one source: ``sources[source].text[start:end]``."""

    source: int
    start: int
    end: int


def extract(question: str, sources: Sequence[PromptSource]) -> str:
    """The sentences that answer, each followed by its marker, or exactly the refusal.

    Each part of a question is answered for itself; one that is not is named, if another is.
    """
    question = _without_orders(question)
    if is_summary(question):
        return lead_sentences(sources) or REFUSAL
    parts = parts_of(question)
    answers = [_answer(part, sources) for part in parts]
    if not any(answers):
        return (_answer(question, sources) if len(parts) > 1 else "") or REFUSAL
    if len(parts) == 1:
        return answers[0]
    stated = [
        answer or f"{NOT_FOUND} {quote(without_periods(part))}"
        for part, answer in zip(parts, answers, strict=True)
    ]
    return PARAGRAPH.join(dict.fromkeys(stated))


def extract_parts(parts: Sequence[Part], sources: Sequence[PromptSource]) -> str:
    """What answers each part of a question, from the sources that were found for it; '' of none.

    A part that nothing answers is named where another is answered.
    """
    stated = []
    for part in parts:
        found = [source for source in sources if source.number in part.numbers]
        stated.append(_answer(part.question, found) if found else "")
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


def _answer(question: str, sources: Sequence[PromptSource]) -> str:
    readings = [read_question(each) for each in (question, *rephrasings(question))]
    if person := holder(readings[0], sources):
        return _cited(Quote(person.source, person.start, person.end), sources, readings[0])
    if several := compared_cells(question, sources):
        number = sources[several.source].number
        return " ".join(f"{quote(text)} [{number}]" for text in several.texts)
    wants = wanted(readings[0])
    cells = (cell_answer(asked, sources) for asked in readings if not wants)
    if cell := next(filter(None, cells), None):
        return f"{quote(cell.text)} [{sources[cell.source].number}]"
    return next(filter(None, (_quoted(asked, sources) for asked in readings)), "")


def _quoted(asked: AskedQuestion, sources: Sequence[PromptSource]) -> str:
    """The sentences that answer, each with its marker; '' where none does."""
    evidence = weigh_evidence(asked, sources)
    chosen = choose_sentences(asked, evidence, sources)
    quotes = [_with_announced_list(evidence.sentences, place) for place in chosen]
    return " ".join(_cited(each, sources, asked) for each in quotes)


def choose_sentences(
    question: AskedQuestion, evidence: Evidence, sources: Sequence[PromptSource]
) -> list[int]:
    """Places of the sentences to quote, best first, none when the evidence is too weak."""
    scores = evidence.scores.copy()
    for place, sentence in enumerate(evidence.sentences):
        if sentence.is_heading or REFUSAL in sentence.text:
            scores[place] = -np.inf
    if not len(scores):
        return []
    best = int(scores.argmax())

    def may(at: int) -> bool:
        return may_answer(question, evidence, at, sources[evidence.sentences[at].source].place)

    if wanted(question) is Explanation.MEANING:
        texts = (sentence.text for sentence in evidence.sentences)
        scores += _DEFINES * np.array([defines(question, text) for text in texts])
        best = int(scores.argmax())
    while scores[best] >= ENOUGH and not may(best):
        if cause := _cause_behind(question, evidence.sentences, best):
            return [best, cause]
        scores[best] = -np.inf
        best = int(scores.argmax())
    if scores[best] - _penalty(question, evidence, sources, best) < ENOUGH:
        return []
    adds = _adding(question, evidence, sources, best)
    return [
        best,
        *_additional_sentences(question, evidence, scores, best, lambda at: adds(at) and may(at)),
    ]


def _adding(
    question: AskedQuestion, evidence: Evidence, sources: Sequence[PromptSource], best: int
) -> Callable[[int], bool]:
    """Whether the sentence at a place may add to the best: to one value no other document does."""
    wants_one = question.kind is not AnswerKind.OPEN or question.asks_for_value
    titles = [source.place.title for source in sources]
    own = titles[evidence.sentences[best].source]

    def adds(at: int) -> bool:
        is_own = titles[evidence.sentences[at].source] == own
        return is_own or question.asks_for_several or not wants_one

    return adds


def _cause_behind(question: AskedQuestion, sentences: Sequence[Sentence], place: int) -> int | None:
    """The place of the sentence behind one that names a change, where it tells why."""
    behind = place + 1
    if behind == len(sentences) or sentences[behind].source != sentences[place].source:
        return None
    is_cause = causes_of(question, sentences[place].text, sentences[behind].text)
    return behind if is_cause and not sentences[place].is_heading else None


def _additional_sentences(
    question: AskedQuestion,
    evidence: Evidence,
    scores: Floats,
    best: int,
    may: Callable[[int], bool],
) -> list[int]:
    """Places of sentences that say what the best one leaves unsaid, mostly none."""
    chosen = [best]
    covered = evidence.coverage[best]
    for place in map(int, np.argsort(-scores, kind="stable")[1:]):
        if len(chosen) == _MOST_QUOTES or scores[place] < _FAR * scores[best]:
            break
        gained = np.maximum(covered, evidence.coverage[place])
        gain = float((gained - covered) @ evidence.weights[best])
        close = scores[place] >= max(ENOUGH, scores[best] - _CLOSE)
        adds = gain >= (_WORTH_ADDING if close else _OTHER_HALF) or (
            close and question.asks_for_several
        )
        if adds and not _repeats(evidence.sentences, chosen, place) and may(place):
            chosen.append(place)
            covered = gained
    return chosen[1:]


def _repeats(sentences: Sequence[Sentence], chosen: Sequence[int], place: int) -> bool:
    """Whether a chosen quote says it already: chunks overlap, and documents repeat themselves."""
    said = " ".join(sentences[place].text.split())
    return any(said == " ".join(sentences[other].text.split()) for other in chosen)


def _with_announced_list(sentences: Sequence[Sentence], place: int) -> Quote:
    """The sentence, and the list that it announces with a colon."""
    first = last = sentences[place]
    if first.text.rstrip("*_ ").endswith(":"):
        for following in sentences[place + 1 : place + 1 + _LIST_ITEMS]:
            is_item = following.source == first.source and _BULLET.match(following.text)
            if not is_item or _words(sentences, first, following) > MOST_WORDS:
                break
            last = following
    return Quote(first.source, first.start, last.end)


def _words(sentences: Sequence[Sentence], first: Sentence, last: Sentence) -> int:
    """The words from one sentence to another of the same source."""
    between = (s for s in sentences if s.source == first.source)
    return sum(len(s.text.split()) for s in between if first.start <= s.start <= last.start)


def _cited(each: Quote, sources: Sequence[PromptSource], question: AskedQuestion) -> str:
    source = sources[each.source]
    text = source.text[each.start : each.end]
    if len(text.split()) > MOST_WORDS:
        text = _answering_part(text, question)
    return f"{quote(text)} [{source.number}]"


def _answering_part(text: str, question: AskedQuestion) -> str:
    """The clauses of a long sentence, at most 60 words, that have most of the question's words.

    One that has no marks is cut between words.
    """
    pieces = [piece for piece in _CLAUSE.findall(text) if piece.strip()]
    asked = frozenset(question.subject)
    is_cause = wanted(question) is Explanation.CAUSE
    best, most = " ".join(text.split()[:MOST_WORDS]), -1.0
    for first in range(len(pieces)):
        run = ""
        for piece in pieces[first:]:
            run += piece
            if len(run.split()) > MOST_WORDS:
                break
            met = len(asked.intersection(meanings(run))) + len(run.split()) / 1000
            has_kind = question.kind is AnswerKind.OPEN or bool(kind_words(question.kind, run))
            worth = met + has_kind + (gives_cause(run) if is_cause else 0)
            if worth > most:
                best, most = run, worth
    return best.strip()


def _penalty(
    question: AskedQuestion, evidence: Evidence, sources: Sequence[PromptSource], best: int
) -> float:
    """What speaks against the best sentence: infinite when it cannot be the answer."""
    sentence = evidence.sentences[best]
    source, stated = sources[sentence.source].text, sources[sentence.source].place.text
    if is_of_another(question, sources[sentence.source].place, companies_of(sources)):
        return np.inf
    if unnamed(question, evidence, best, sources[sentence.source].place):
        return np.inf
    if question.negated and not _NEGATION.search(sentence.text):
        return np.inf
    if question.numbers and not question.numbers <= numbers_in(source) | numbers_in(stated):
        return np.inf
    rows = [i for i, each in enumerate(evidence.sentences) if each.source == sentence.source]
    covered = evidence.coverage[rows].max(axis=0)
    unmet = [question.terms[place] for place in question.names if covered[place] < _NAME_MET]
    about = sources[sentence.source].place.about
    return _FOREIGN_NAME * any(not about.issuperset(meanings(name)) for name in unmet)


def quote(sentence: str) -> str:
    """The sentence as it stands, on one line, its own bracketed numbers in round brackets.

    `[7]` in a source points to the source's own notes; in an answer it would cite source 7.
    """
    return _FALSE_MARKER.sub(r"(\1)", _LINE_BREAK.sub(" ", _BULLET_MARK.sub("", sentence)))
