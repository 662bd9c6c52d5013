"""A rubric for quiz items, by other means than those that made them.

Three questions, each answered by a reader that sees only what it may see: with the span alone, the
key and no other option; without it, no way to tell; in the whole scope, no sentence that says
another option's words.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from evals.study.scopes import Scope
from helix.answering.proof import prove
from helix.domain.records import Hit
from helix.language.folding import copy_words
from helix.study.items import BLANK, Choice, Proven, TrueFalse
from helix.study.passages import source_of
from helix.study.sentences import sentences_of

CRITERIA = ("answerable with the span", "not without it", "one right option")
_SAID = 0.9  # share of a statement's words that a sentence has that says it


def judged(proven: Proven, scope: Scope) -> list[str]:
    """The criteria that an item fails; none where it passes."""
    item = proven.item
    assert isinstance(item, Choice | TrueFalse)
    checks = (_is_answerable, _needs_the_span, _has_one_answer)
    return [name for name, check in zip(CRITERIA, checks, strict=True) if not check(proven, scope)]


def _is_answerable(proven: Proven, scope: Scope) -> bool:
    """Whether a reader of the span alone says the key, and of no other option that it holds."""
    item = proven.item
    passage = next(p for p in scope.passages if p.chunk_id == proven.supports[0].chunk_id)
    quote = proven.supports[0].quote
    span = source_of(_cut(passage.hit, quote))

    def says(text: str) -> bool:
        statements = prove(f"{text} [1]", [span]).statements
        return bool(statements) and all(one.problem is None for one in statements)

    if isinstance(item, TrueFalse):
        return says(item.statement) is item.truth
    assert isinstance(item, Choice)
    return [says(item.filled(n)) for n in range(len(item.options))] == [
        n == item.key for n in range(len(item.options))
    ]


def _cut(hit: Hit, quote: str) -> Hit:
    at = (hit.start_char or 0) + hit.content.index(quote)
    return replace(hit, content=quote, start_char=at, end_char=at + len(quote))


def _needs_the_span(proven: Proven, _: Scope) -> bool:
    """Whether someone who knows nothing cannot tell the key by its form or the question's words."""
    item = proven.item
    if not isinstance(item, Choice):
        return True
    shapes = [_shape(option) for option in item.options]
    if Counter(shapes)[shapes[item.key]] == 1 and len(set(shapes)) == 2:
        return False  # three alike, and the odd one is the key
    asked = set(copy_words(item.question.replace(BLANK, " ")))
    return not set(copy_words(item.options[item.key])) <= asked


def _shape(option: str) -> tuple[bool, bool, bool, bool]:
    return (option[:1].isdigit(), option[:1].isupper(), "," in option, "." in option)


def _has_one_answer(proven: Proven, scope: Scope) -> bool:
    """Whether no sentence of the scope has the words of the statement with another option."""
    item = proven.item
    if isinstance(item, TrueFalse):
        wrong = [] if item.truth else [(item.statement, item.statement)]
    else:
        assert isinstance(item, Choice)
        wrong = [(item.filled(n), o) for n, o in enumerate(item.options) if n != item.key]
    for text, option in wrong:
        words, needed = set(copy_words(text)), set(copy_words(option))
        for passage in scope.passages:
            for sentence in sentences_of(passage):
                has = set(copy_words(sentence.text))
                differs = item.text != sentence.text  # the item's own sentence has most words
                if differs and needed <= has and len(words & has) >= _SAID * len(words):
                    return False
    return True
