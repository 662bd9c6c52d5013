"""The proof of an item: a span of a document states its right answer, and none another option.

The rules are those for a sentence of an answer (helix.answering.proof). An item without a proof is
dropped, because a wrong item teaches something wrong.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

from helix.answering.proof import Support, prove
from helix.answering.proof.facts import Facts
from helix.domain.context import Source
from helix.language.terms import terms
from helix.study.items import (
    BLANK,
    OPTIONS,
    Card,
    Choice,
    Item,
    Lesson,
    Proven,
    Rejected,
    TrueFalse,
)
from helix.study.sentences import sentences_of

MALFORMED, WRONG_KEY, UNANSWERABLE = "malformed", "wrong key", "unanswerable"
TRUE_DISTRACTOR, GIVEN_AWAY, DUPLICATE = "true distractor", "given away", "duplicate"
UNSUPPORTED, NOT_FALSE = "unsupported", "not false"
"""Reasons to drop an item."""

Near = Callable[[str], Awaitable[Sequence[Source]]]
"""Gives the passages of the whole scope that share most words with a text."""

_LONGEST = {"question": 600, "option": 200, "statement": 600, "front": 400, "back": 1200}
_MAY_STATE = 0.5  # share of a text's terms below which no proof succeeds: it asks for 0.65
_ALIKE = 0.8  # Jaccard similarity of the terms of two items that are one
_KNOWN = 0.6  # share of a question's terms that its passage has, with its title and headings
_FAR_LONGER = 2.5  # times as long as any other option: it is the one with the reservations
_VOWELS = tuple("aeiouAEIOU")


class Examiner:
    """Examines the items of one set; ``existing`` are the items that the set has already."""

    def __init__(self, near: Near, existing: Iterable[Item] = ()) -> None:
        self._near = near
        self._stated_cache: dict[tuple[int, str], bool] = {}
        self._words: dict[int, frozenset[str]] = {}
        self._existing = [frozenset(terms(item.text)) for item in existing]

    async def examine(self, item: Item, source: Source) -> Proven | Rejected:
        """The item with its spans in ``source``, or the reason why it is dropped.

        Later items that repeat a proven one are dropped as duplicates.
        """
        if problem := malformed(item):
            return Rejected(item, problem)
        words = frozenset(terms(item.text))
        if any(_are_alike(words, other) for other in self._existing):
            return Rejected(item, DUPLICATE)
        supports, problem = await self._proof(item, source)
        if problem or not supports:
            return Rejected(item, problem or UNSUPPORTED)
        self._existing.append(words)
        return Proven(item, supports)

    async def _proof(self, item: Item, source: Source) -> tuple[tuple[Support, ...], str | None]:
        if isinstance(item, Choice):
            return await self._choice(item, source)
        if isinstance(item, TrueFalse):
            return await self._true_false(item, source)
        if isinstance(item, Card):
            supports = spans_of(item.back, source)
            return supports, None if is_about(item.front, source) else UNANSWERABLE
        return mentions(item.title if isinstance(item, Lesson) else item.label, source), None

    async def _choice(self, item: Choice, source: Source) -> tuple[tuple[Support, ...], str | None]:
        if reveals_answer(item):
            return (), GIVEN_AWAY
        supports = spans_of(item.filled(item.key), source)
        others = [item.filled(n) for n in range(len(item.options)) if n != item.key]
        if not supports:
            is_stated = any(spans_of(other, source) for other in others)
            return (), WRONG_KEY if is_stated else UNANSWERABLE
        if not is_about(item.question, source):
            return (), UNANSWERABLE
        for other in others:
            if not await self.is_unstated(other, source):
                return (), TRUE_DISTRACTOR
        return supports, None

    async def _true_false(
        self, item: TrueFalse, source: Source
    ) -> tuple[tuple[Support, ...], str | None]:
        if item.truth:
            return spans_of(item.statement, source), None
        supports = spans_of(item.original, source)
        if not await self.is_unstated(item.statement, source):
            return (), NOT_FALSE
        return supports, None

    async def is_unstated(self, text: str, source: Source) -> bool:
        """True if no passage of the scope states ``text``; False where that cannot be decided."""
        key = source.chunk_id, text
        if key not in self._stated_cache:
            self._stated_cache[key] = not _is_one_statement(text, source) or await self._states(
                text, source
            )
        return not self._stated_cache[key]

    async def _states(self, text: str, source: Source) -> bool:
        """True if a passage states ``text``; passages with few of its words are not looked at."""
        if spans_of(text, source):
            return True
        words = frozenset(terms(text))
        return any(
            spans_of(text, each)
            for each in await self._near(text)
            if len(words & self._words_of(each)) >= _MAY_STATE * len(words)
        )

    def _words_of(self, source: Source) -> frozenset[str]:
        if source.chunk_id not in self._words:
            text = " ".join((source.title, *source.hit.heading_path, source.content))
            self._words[source.chunk_id] = frozenset(terms(text))
        return self._words[source.chunk_id]


def malformed(item: Item) -> str | None:
    """MALFORMED where a field is empty, too long or inconsistent with the others; else None."""
    if isinstance(item, Choice):
        options = [_folded(option) for option in item.options]
        sound = (
            len(options) == OPTIONS == len(set(options))
            and all(options) and 0 <= item.key < OPTIONS
            and item.statement.count(BLANK) == 1
            and not any(BLANK in option for option in item.options)
            and max(map(len, item.options)) <= _LONGEST["option"]
            and 0 < len(item.question.strip()) <= _LONGEST["question"]
            and len(item.statement) <= _LONGEST["statement"]
        )  # fmt: skip
        return None if sound and not _equal_numbers(item) else MALFORMED
    if isinstance(item, TrueFalse):
        is_changed = bool(item.original) and _folded(item.statement) != _folded(item.original)
        sound = 0 < len(item.statement.strip()) <= _LONGEST["statement"]
        return None if sound and (item.truth or is_changed) else MALFORMED
    if isinstance(item, Card):
        front, back = item.front.strip(), item.back.strip()
        sound = 0 < len(front) <= _LONGEST["front"] and 0 < len(back) <= _LONGEST["back"]
        says_it = set(terms(back)) <= set(terms(front))
        return None if sound and not says_it else MALFORMED
    return None if 0 < len(item.text.strip()) <= _LONGEST["option"] else MALFORMED


def spans_of(text: str, source: Source) -> tuple[Support, ...]:
    """The spans of ``source`` that state ``text``; none where one of its sentences has no span."""
    proof = prove(f"{text.strip()} [1]", [source])
    if not proof.statements or any(one.problem for one in proof.statements):
        return ()
    return tuple(dict.fromkeys(span for one in proof.statements for span in one.supports))


def mentions(label: str, source: Source) -> tuple[Support, ...]:
    """The first sentence with all words of ``label``; any where title and headings have them."""
    label_words = set(terms(label))
    if not label_words:
        return ()
    headed = label_words <= set(terms(" ".join((source.title, *source.hit.heading_path))))
    for sentence in sentences_of(source):
        if headed or label_words <= set(terms(sentence.text)):
            return (sentence.support,)
    return ()


def is_about(question: str, source: Source) -> bool:
    """True if most words of a question stand in the passage, its title or its headings."""
    question_words = set(terms(question.replace(BLANK, " ")))
    passage_words = set(terms(" ".join((source.content, source.title, *source.hit.heading_path))))
    return len(question_words & passage_words) >= _KNOWN * len(question_words)


def reveals_answer(item: Choice) -> bool:
    """True if the question's wording, or an option's length or grammar, shows the right option."""
    key = item.options[item.key]
    others = [option for n, option in enumerate(item.options) if n != item.key]
    question = item.question.replace(BLANK, " ")
    key_words = set(terms(key))
    if key_words and key_words <= set(terms(question)):
        return True
    shortened = rf"(?<=[^\W\d_]){re.escape(key)}(?!\d)"  # protein 1 (MBD1)
    if key.isdigit() and re.search(shortened, f"{question} {item.statement}"):
        return True
    digits = [any(c.isdigit() for c in option) for option in item.options]
    if len(set(digits)) > 1 or (len(key) > 30 and len(key) > _FAR_LONGER * max(map(len, others))):
        return True
    before = item.statement.partition(BLANK)[0].rstrip(" “\"'").rpartition(" ")[2].lower()
    if before in ("a", "an"):
        vowels = {option.lstrip(" “\"'").startswith(_VOWELS) for option in item.options}
        return len(vowels) > 1
    return False


def _equal_numbers(item: Choice) -> bool:
    """True if two options are the same amount, such as 30 and thirty."""
    option_numbers = [Facts(item.filled(n)).numbers for n in range(len(item.options))]
    plain = [Facts(option).numbers for option in item.options]
    if not all(len(numbers) == 1 for numbers in plain):
        return False
    at = item.statement.index(BLANK)
    amounts = [
        next((n for n in numbers if n.start <= at < n.until or at <= n.start < at + 40), None)
        for numbers in option_numbers
    ]
    pairs = [(a, b) for i, a in enumerate(amounts) for b in amounts[i + 1 :] if a and b]
    return any(a.agrees(b) for a, b in pairs)


def _is_one_statement(text: str, source: Source) -> bool:
    return len(prove(f"{text.strip()} [1]", [source]).statements) == 1


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    together = len(one | other)
    return together > 0 and len(one & other) >= _ALIKE * together


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
