"""Questions and cards by form: a value of a cited sentence blanked out, or replaced by another."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, zip_longest

from helix.language.terms import terms
from helix.study.items import BLANK, OPTIONS, Card, Choice, Difficulty, TrueFalse
from helix.study.offline.values import Value, invented_amounts, rivals, values_of
from helix.study.sentences import Sentence

IsFalse = Callable[[str], Awaitable[bool]]
"""Returns True if no passage of the scope states a text."""

_TRIED = 9  # rivals of a value that are looked at
_ASKED = {
    "number": "Which number belongs in the gap?",
    "year": "Which year belongs in the gap?",
    "date": "Which date belongs in the gap?",
    "name": "Which name belongs in the gap?",
}
_TRUE_FALSE_SHARE = {"easy": 2, "normal": 4, "advanced": 0}
"""By difficulty, one of how many questions is a true-or-false statement; 0: none."""


async def questions_of(
    sentences: Sequence[Sentence], pool: Sequence[Value], difficulty: Difficulty, is_false: IsFalse
) -> AsyncIterator[Choice | TrueFalse]:
    """Questions about ``sentences``: one for each sentence, then second ones.

    Wrong options are taken from ``pool``.
    """
    every = _TRUE_FALSE_SHARE[difficulty]
    for value in _in_turn(sentences, pool):
        others = await _wrong_ones(value, pool, difficulty, is_false)
        few = len(others) < OPTIONS - 1
        if every and (few or number_of(value.text + value.sentence.text) % every == 0):
            for statement in _true_or_false(value, others):
                yield statement
        elif not few:
            yield _choice(value, others)


def number_of(text: str) -> int:
    """A hash of ``text`` as a number: choices made by it look random, and are reproducible."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=4).digest())


def _in_turn(sentences: Sequence[Sentence], pool: Sequence[Value]) -> Iterator[Value]:
    """The first value of each sentence, then the second ones; those with most rivals first."""
    ranked = [
        sorted(values_of(sentence), key=lambda value: -min(len(rivals(value, pool)), OPTIONS))
        for sentence in sentences
    ]
    for turn in range(max(map(len, ranked), default=0)):
        yield from (values[turn] for values in ranked if turn < len(values))


async def _wrong_ones(
    value: Value, pool: Sequence[Value], difficulty: Difficulty, is_false: IsFalse
) -> list[str]:
    """Texts that make the sentence false in place of ``value``; at most as many as are needed."""
    candidates = rivals(value, pool)
    if difficulty == "easy":
        candidates.reverse()  # of another family: easier to tell
    elif len(candidates) > OPTIONS:
        turn = number_of(value.sentence.text) % len(candidates[:_TRIED])
        candidates = candidates[turn:_TRIED] + candidates[:turn] + candidates[_TRIED:]
    wrong: list[str] = []
    for text in (*candidates[:_TRIED], *invented_amounts(value)):
        if len(wrong) == OPTIONS - 1:
            break
        if text not in wrong and await is_false(value.replaced(text)):
            wrong.append(text)
    return wrong


def _choice(value: Value, others: Sequence[str]) -> Choice:
    options = list(others)
    key = number_of(value.sentence.text + value.text) % OPTIONS
    options.insert(key, value.text)
    gapped = value.replaced(BLANK)
    title = value.sentence.source.title
    question = f"{_ASKED[value.kind]} {title}: “{gapped}”"
    return Choice(question, gapped, tuple(options), key, value.sentence.text)


def _true_or_false(value: Value, others: Sequence[str]) -> Iterator[TrueFalse]:
    original = value.sentence.text
    if number_of(original) % 2:
        yield TrueFalse(original, truth=True, explanation=original)
    elif others:
        false_text = value.replaced(others[0])
        yield TrueFalse(false_text, truth=False, original=original, explanation=original)


_LONGEST_HEADING = 80


def cards_of(sentences: Sequence[Sentence]) -> Iterator[Card]:
    """Cards about the sentences of one passage: its heading's and gaps in turn."""
    kinds = (_headings(sentences), _gaps(sentences))
    yield from filter(None, chain.from_iterable(zip_longest(*kinds)))


def _headings(sentences: Sequence[Sentence]) -> Iterator[Card]:
    for sentence in sentences:
        path = sentence.source.hit.heading_path
        heading = path[-1] if path else ""
        shared_words = set(terms(heading)) & set(terms(sentence.text))
        if shared_words and len(heading) <= _LONGEST_HEADING and heading != sentence.source.title:
            question = heading if heading.endswith("?") else f"What is said about “{heading}”?"
            yield Card(f"{sentence.source.title}: {question}", sentence.text)
            return


def _gaps(sentences: Sequence[Sentence]) -> Iterator[Card]:
    for sentence in sentences:
        for value in values_of(sentence)[:1]:
            front = f"{sentence.source.title}: “{value.replaced(BLANK)}”"
            yield Card(front, sentence.text)
