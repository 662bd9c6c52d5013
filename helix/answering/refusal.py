"""The explanation of a refusal: facts of its question, and the passages that came closest. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from helix.domain.question_analysis import AskedQuestion, read_question
from helix.domain.records import Hit
from helix.domain.relevance import SourcePlace
from helix.domain.retrieval import Reason, Retrieval
from helix.evidence.model import evidence_model
from helix.evidence.vectors import word_vectors
from helix.language.paraphrases import meanings
from helix.language.sentences import Passage as ReadPassage
from helix.language.sentences import Span, sentence_spans, units_of
from helix.language.text_cache import MEBIBYTE, text_cache

_MOST = 5
_AROUND = 240  # characters of a passage that are told
_LIKELY = 0.5
WEIGHED: frozenset[Reason] = frozenset(("below_gate", "model_refused"))
"""Refusals whose closest passages are weighed by the model of evidence, some 10 ms."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PLAIN: dict[str, str] = {
    "no_documents": "The library holds no documents.",
    "filtered_empty": "No document fits the filters of the question.",
    "underspecified": "The question speaks of something that the conversation has not named.",
    "ungrounded": "An answer was written and withheld: its sources do not bear it out.",
}


class Passage(TypedDict):
    """A passage that came close. ``start`` and ``end`` are its best sentence in the document.

    ``text`` is what stands around that sentence, ``marks`` the question's words as spans of it.
    ``likely``: that sentence probably answers after all, by the model of evidence.
    """

    chunk_id: int
    document_id: int
    title: str
    heading_path: list[str]
    page: int | None
    label: str
    source_url: str | None
    start: int | None
    end: int | None
    text: str
    marks: list[Span]
    likely: bool


def reason_text(
    question: str, retrieval: Retrieval, reason: Reason | None, as_of: datetime | None = None
) -> str | None:
    """One sentence that says why nothing was answered; None of an answer.

    ``as_of`` is the moment that the question was about, where it named one.
    """
    if reason is None:
        return None
    if reason == "no_documents" and as_of is not None:
        return f"The library has no document that was there at {as_of.isoformat()}."
    if reason in _PLAIN:
        return _PLAIN[reason]
    judged = reason == "model_refused"
    verdict = "was judged to answer" if judged else "is near enough to the question"
    passages = _passages(retrieval, reason)
    word, count = _mentioned(read_question(question), passages)
    if not count:
        return f"{_counted(len(passages), 'passage')} came closest; none {verdict}."
    if count > 1:
        return f"{count} passages mention {word}; none {verdict}."
    verdict = "was not judged to answer" if judged else "is not near enough to the question"
    return f"1 passage mentions {word}; it {verdict}."


def closest_passages(
    question: str, retrieval: Retrieval, reason: Reason | None
) -> list[Passage] | None:
    """The passages given to the model, in that order, or else the ones found; None of an answer.

    At most five; none of an answer that was withheld, of which nothing is told. Those of a refusal
    of WEIGHED are weighed, so that none that answers is taken for one that only came close.
    """
    if reason is None:
        return None
    if reason == "ungrounded":
        return []
    asked = frozenset(read_question(question).subject)
    hits = _passages(retrieval, reason)[:_MOST]
    likely = _likely_sentences(question, hits) if reason in WEIGHED else {}
    return [_passage(hit, asked, likely.get(place)) for place, hit in enumerate(hits)]


def _passages(retrieval: Retrieval, reason: Reason) -> list[Hit]:
    if reason == "model_refused":
        return [source.hit for source in retrieval.sources]
    return retrieval.hits


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _mentioned(question: AskedQuestion, hits: Sequence[Hit]) -> tuple[str, int]:
    """The word of the question that tells most, as it is written there, and how many have it.

    A name before any other; of two the one that weighs more in the table of word vectors.
    """
    texts = [frozenset(meanings(hit.content)) | frozenset(meanings(hit.title)) for hit in hits]
    words = _WORD.findall(question.text)
    _, weights = word_vectors().embed_and_weigh(words)
    counted = [
        (set(found) <= question.named, float(weight), count, word)
        for word, weight in zip(words, weights, strict=True)
        if (found := meanings(word)) and set(found) <= set(question.subject)
        if (count := sum(text.issuperset(found) for text in texts))
    ]
    *_, count, word = max(counted, key=lambda one: one[:2], default=(False, 0.0, 0, ""))
    return word.removesuffix("'s").removesuffix("’s"), count


def _likely_sentences(question: str, hits: Sequence[Hit]) -> dict[int, Span]:
    """The sentence that answers best, by the place of its hit, where one probably answers."""
    passages = [
        ReadPassage(hit.content, SourcePlace(hit.title, hit.heading_path, hit.facts).text)
        for hit in hits
    ]
    units = units_of(passages)
    probabilities = evidence_model().answers(question, passages, units)
    found: dict[int, tuple[float, Span]] = {}
    for unit, probability in zip(units, map(float, probabilities), strict=True):
        if probability >= max(_LIKELY, found.get(unit.passage, (0.0,))[0]):
            found[unit.passage] = probability, (unit.start, unit.end)
    return {place: span for place, (_, span) in found.items()}


def _passage(hit: Hit, asked: frozenset[str], likely: Span | None) -> Passage:
    start, end = likely or _best_sentence(hit.content, asked)
    first = max(0, min(start, start - (_AROUND - (end - start)) // 2))
    first = first if first == 0 else hit.content.find(" ", first, start + 1) + 1 or start
    text = hit.content[first : max(first + _AROUND, min(end, first + 2 * _AROUND))]
    at = hit.start_char
    return Passage(
        chunk_id=hit.chunk_id, document_id=hit.document_id, title=hit.title,
        heading_path=list(hit.heading_path), page=hit.page, label=hit.label,
        source_url=hit.source_url,
        start=None if at is None else at + start, end=None if at is None else at + end,
        text=text,
        marks=[word.span() for word in _WORD.finditer(text) if asked & set(meanings(word[0]))],
        likely=likely is not None,
    )  # fmt: skip


def _best_sentence(text: str, asked: frozenset[str]) -> Span:
    """The sentence with most of the question's words, the first of equals."""
    return max(_sentences_of(text), key=lambda sentence: len(asked & sentence[1]))[0]


@text_cache(most_bytes=8 * MEBIBYTE, bytes_a_character=15)
def _sentences_of(text: str) -> tuple[tuple[Span, frozenset[str]], ...]:
    """The sentences of a chunk, each with what its words mean."""
    spans = sentence_spans(text) or [(0, len(text))]
    return tuple((span, frozenset(meanings(text[slice(*span)]))) for span in spans)
