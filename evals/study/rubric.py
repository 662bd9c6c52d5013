"""A rubric for quiz items, by other means than those that made them.

Three questions, each answered by a reader that aligns words and compares numbers, and knows nothing
of the proof: what stands in the span where the statement has its gap; whether the key can be told
without the span; whether a sentence of the scope says the statement with another option.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from evals.study.reader import content_words, holds, in_the_gap, is_same, says, sentences, tokens
from evals.study.scopes import Scope
from helix.study.items import BLANK, Choice, Proven, TrueFalse

CRITERIA = ("answerable with the span", "not without it", "one right option")
CONTROLS = ("wrong key", "key in the question", "true distractor")
"""Ways to spoil an item, each of which fails the criterion of the same place."""
GUESSES = ("the longest", "the shortest", "the most frequent in the scope")
_SAID = 0.7  # share of a statement's other content words that a sentence has that may say it


def judged(proven: Proven, scope: Scope) -> list[str]:
    """The criteria that an item fails; none where it passes."""
    checks = (_is_answerable, _needs_the_span, _has_one_answer)
    return [
        name for name, check in zip(CRITERIA, checks, strict=True) if not check(proven, scope.texts)
    ]


def noticed(proven: Proven, scope: Scope) -> dict[str, bool]:
    """By control, whether the rubric fails a question that is spoilt in that way."""
    item = proven.item
    assert isinstance(item, Choice)
    wrong = (item.key + 1) % len(item.options)
    spoilt = replace(item, question=f"{item.question} ({item.options[item.key]})")
    planted = [*scope.texts, f"It is known. {item.filled(wrong)}"]
    return {
        "wrong key": not _is_answerable(
            replace(proven, item=replace(item, key=wrong)), scope.texts
        ),
        "key in the question": not _needs_the_span(replace(proven, item=spoilt), scope.texts),
        "true distractor": not _has_one_answer(proven, planted),
    }


def guessed(item: Choice, scope: Scope) -> dict[str, bool]:
    """By guess of somebody without the span, whether it is right; one of four is by chance."""
    lengths = [len(option) for option in item.options]
    words = Counter(
        word
        for text in scope.texts
        for _, sentence_words in _sentences(text)
        for word in sentence_words
    )
    often = [max((words[word] for word in tokens(option)), default=0) for option in item.options]
    picks = (lengths.index(max(lengths)), lengths.index(min(lengths)), often.index(max(often)))
    return {guess: pick == item.key for guess, pick in zip(GUESSES, picks, strict=True)}


def _is_answerable(proven: Proven, _: Sequence[str]) -> bool:
    """True where a reader of the spans alone finds the key, and no other option, in the gap."""
    item, quote = proven.item, " ".join(span.quote for span in proven.supports)
    if isinstance(item, TrueFalse):
        if item.truth:
            return says(item.statement, quote)
        return says(item.original, quote) and not says(item.statement, quote)
    assert isinstance(item, Choice)
    gap_words = in_the_gap(item.statement, quote)
    if gap_words is None:
        return False
    fits = [n for n, option in enumerate(item.options) if is_same(tokens(option), gap_words)]
    return fits == [item.key]


def _needs_the_span(proven: Proven, _: Sequence[str]) -> bool:
    """True where nothing that a learner sees (question's words, an odd option) tells the key."""
    item = proven.item
    if not isinstance(item, Choice):
        return True
    shapes = [_shape(option) for option in item.options]
    if Counter(shapes)[shapes[item.key]] == 1 and len(set(shapes)) == 2:
        return False  # three alike, and the odd one is the key
    visible = tokens(f"{item.question} {item.statement}".replace(BLANK, " | "))
    return not holds(visible, tokens(item.options[item.key]))


def _shape(option: str) -> tuple[bool, bool, bool, bool]:
    return (option[:1].isdigit(), option[:1].isupper(), "," in option, "." in option)


@lru_cache(maxsize=64)
def _sentences(text: str) -> list[tuple[str, list[str]]]:
    """The sentences of a text, each with its tokens."""
    return [(sentence, tokens(sentence)) for sentence in sentences(text)]


def _has_one_answer(proven: Proven, scope: Sequence[str]) -> bool:
    """True where no sentence of the scope has another option with most words of the statement."""
    item = proven.item
    if isinstance(item, TrueFalse):
        return item.truth or not any(
            says(item.statement, sentence) for text in scope for sentence, _ in _sentences(text)
        )
    assert isinstance(item, Choice)
    wrong = [tokens(option) for n, option in enumerate(item.options) if n != item.key]
    words = content_words(item.statement.replace(BLANK, " "))
    for text in scope:
        for sentence, sentence_words in _sentences(text):
            if len(words.intersection(sentence_words)) < _SAID * len(words):
                continue
            gap_words = in_the_gap(item.statement, sentence)
            if any(
                is_same(option, gap_words) if gap_words else holds(sentence_words, option)
                for option in wrong
            ):
                return False
    return True
