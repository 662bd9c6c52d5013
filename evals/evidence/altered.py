"""Claims made from sentences: shortened ones that hold, and altered ones that do not.

One thing is altered: a number, a name, a word that fits where another stood, a denial, an
opposite, two names exchanged, the end of the sentence, or something put in.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from evals.evidence.claims import Claim, Marked

_NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*\d|(?<![\w.])\d(?!\w)")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_WORD = re.compile(r"\b[a-z]{4,}\b")
_PIECE = re.compile(r"[\w'-]+|[.,;]")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|may|will|would|should)\b")
_DENIAL = re.compile(r"\b(?:not|never) ")
_BRACKETS = re.compile(r"\s*\([^)]*\)")
_PAIRS = (
    "increased decreased", "increase decrease", "before after", "allowed banned",
    "rejected approved", "higher lower", "largest smallest", "started ended", "won lost",
    "positive negative", "rose fell", "first last", "more less", "many few", "all some",
    "always never", "including excluding", "early late", "old new", "same different", "high low",
    "large small", "buy sell", "possible impossible", "public private", "with without",
    "best worst", "most least", "open closed", "minimum maximum", "above below", "good bad",
    "strong weak", "success failure", "support oppose",
)  # fmt: skip
_OPPOSITES = {one: other for pair in map(str.split, _PAIRS) for one, other in (pair, pair[::-1])}
_OPPOSED = re.compile(rf"\b(?:{'|'.join(_OPPOSITES)})\b")
_ENDINGS = ("ing", "ed", "ly", "tion", "ity", "ous", "ive", "al", "er", "ies", "s")
_SHARE_BORNE_OUT = 0.45
_LENGTHS = range(7, 46)  # words
_COMMON = 100
"""Words that stand for little, the most frequent ones, which are not exchanged."""

Alteration = tuple[str, Marked]
"""The altered text, and its characters that were altered."""


@dataclass(frozen=True)
class Context:
    """Consecutive sentences of a document of a set."""

    set: str
    document: str
    sentences: tuple[str, ...]
    headings: str = ""


class Alterations:
    """Draws alterations, with words, names and numbers of ``contexts``."""

    def __init__(self, contexts: Sequence[Context], seed: int) -> None:
        self._draw, self._contexts = random.Random(seed), contexts
        self._between: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._after: dict[str, Counter[str]] = defaultdict(Counter)
        for one in contexts:
            for sentence in one.sentences:
                pieces = _PIECE.findall(sentence.lower())
                for before, word, after in zip(
                    ["^", *pieces], pieces, [*pieces[1:], "$"], strict=False
                ):
                    if len(word) >= 4 and word.isalpha():
                        self._between[before, after][word] += 1
                        self._after[before][word] += 1
        counts = Counter[str]()
        for words in self._after.values():
            counts.update(words)
        self._common = frozenset(word for word, _ in counts.most_common(_COMMON))

    def of(self, claim: Claim, times: int = 2) -> Iterator[Claim]:
        """A claim that holds with one thing altered, ``times`` over, where it has room for one."""
        read = " ".join(claim.sentences).lower()
        for _ in range(times if not claim.label else 0):
            found = self._altered(claim.text, claim.sentences)
            if found and found[0].lower() not in read:
                yield replace(claim, set="altered", text=found[0], label=1.0, bad=found[1])

    def synthetic(self, count: int) -> Iterator[Claim]:
        """So many claims made from sentences of the contexts, each set as often as another."""
        by_set: dict[str, list[Context]] = defaultdict(list)
        by_document: dict[str, list[Context]] = defaultdict(list)
        for one in self._contexts:
            by_set[one.set].append(one)
            by_document[one.document].append(one)
        names = list(by_set)
        while count > 0:
            context = self._draw.choice(by_set[self._draw.choice(names)])
            claim = self._made(context, by_document[context.document])
            if claim:
                count -= 1
                yield claim

    def _made(self, context: Context, document: Sequence[Context]) -> Claim | None:
        sentence = self._draw.choice(context.sentences)
        if len(sentence.split()) not in _LENGTHS:
            return None
        others = [
            sentence
            for one in self._draw.sample(document, min(len(document), 4))
            for sentence in one.sentences
        ]
        wide = tuple(dict.fromkeys([*context.sentences, *others]))
        read = wide if self._draw.random() < 0.5 else context.sentences
        headings = context.headings if self._draw.random() < 0.5 else ""
        claim = Claim(
            "synthetic", context.document, self._shortened(sentence), read, 0.0, (), headings
        )
        if self._draw.random() < _SHARE_BORNE_OUT:
            return claim
        return next((replace(one, set="synthetic") for one in self.of(claim, 1)), None)

    def _shortened(self, sentence: str) -> str:
        """The sentence, or one that says less: without brackets, a part between commas or one."""
        way, parts = self._draw.random(), sentence.split(", ")
        if way < 0.25:
            return _BRACKETS.sub("", sentence)
        if way < 0.5 and len(parts) > 2:
            parts.pop(self._draw.randrange(1, len(parts) - 1))
            return ", ".join(parts)
        if way < 0.5 and len(parts) == 2 and min(len(one.split()) for one in parts) > 4:
            return parts[0].rstrip(".") + "."
        return sentence

    def _altered(self, text: str, read: Sequence[str]) -> Alteration | None:
        ways: list[Callable[[str, Sequence[str]], Alteration | None]] = [
            self._number, self._name, self._name, self._word, self._word, self._word,
            self._denial, self._opposite, self._opposite, self._exchange, self._tail, self._more,
        ]  # fmt: skip
        self._draw.shuffle(ways)
        return next(filter(None, (way(text, read) for way in ways)), None)

    def _put(self, text: str, match: re.Match[str], other: str) -> Alteration:
        start = match.start()
        return text[:start] + other + text[match.end() :], ((start, start + len(other)),)

    def _chosen(self, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
        found = list(pattern.finditer(text))
        return self._draw.choice(found) if found else None

    def _number(self, text: str, read: Sequence[str]) -> Alteration | None:
        if not (match := self._chosen(_NUMBER, text)):
            return None
        others = _NUMBER.findall(" ".join(read))
        other = self._draw.choice(others) if others and self._draw.random() < 0.5 else match[0]
        if other == match[0]:
            other = "".join(
                str((int(c) + self._draw.randrange(1, 9)) % 10) if c.isdecimal() else c
                for c in other
            )
        return self._put(text, match, other)

    def _name(self, text: str, read: Sequence[str]) -> Alteration | None:
        match, others = self._chosen(_NAME, text), _NAME.findall(" ".join(read))
        other = self._draw.choice(others) if others else ""
        if not match or not other or other.lower() in text.lower():
            return None
        return self._put(text, match, other)

    def _word(self, text: str, read: Sequence[str]) -> Alteration | None:
        """Another word that stood between the same words somewhere, or behind the same one."""
        words = [one for one in _WORD.finditer(text) if one[0] not in self._common]
        if not words:
            return None
        match = self._draw.choice(words)
        before = _PIECE.findall(text[: match.start()].lower())[-1:] or ["^"]
        after = _PIECE.findall(text[match.end() :].lower())[:1] or ["$"]
        found = self._fitting(self._between[before[0], after[0]], match[0], text)
        if not found:
            found = self._fitting(self._after[before[0]], match[0], text, alike=True)
        if not found:
            return None
        (other,) = self._draw.choices(list(found), [times**0.7 for times in found.values()])
        return self._put(text, match, other)

    def _fitting(
        self, words: Counter[str], word: str, text: str, *, alike: bool = False
    ) -> dict[str, int]:
        low = text.lower()
        return {
            one: times
            for one, times in words.items()
            if one[:4] != word[:4]
            and one not in low
            and one not in self._common
            and (not alike or _ending(one) == _ending(word))
        }

    def _denial(self, text: str, read: Sequence[str]) -> Alteration | None:
        if match := self._chosen(_DENIAL, text):
            near = max(0, match.start() - 6), min(len(text), match.start() + 8)
            return text[: match.start()] + text[match.end() :], (near,)
        if not (match := self._chosen(_AUXILIARY, text)):
            return None
        at = match.end()
        return f"{text[:at]} not{text[at:]}", ((at + 1, at + 4),)

    def _opposite(self, text: str, read: Sequence[str]) -> Alteration | None:
        match = self._chosen(_OPPOSED, text)
        return self._put(text, match, _OPPOSITES[match[0]]) if match else None

    def _exchange(self, text: str, read: Sequence[str]) -> Alteration | None:
        names = list(_NAME.finditer(text))
        if len(names) < 2:
            return None
        first, second = sorted(self._draw.sample(names, 2), key=lambda one: one.start())
        between = text[first.end() : second.start()]
        if first[0].lower() == second[0].lower() or between.strip() in ("and", "or", ","):
            return None
        head = text[: first.start()] + second[0]
        at = len(head) + len(between)
        altered = head + between + first[0] + text[second.end() :]
        return altered, ((first.start(), len(head)), (at, at + len(first[0])))

    def _tail(self, text: str, read: Sequence[str]) -> Alteration | None:
        """The end of another sentence in place of its own."""
        own, other = text.rstrip(".").split(), self._draw.choice(read).split()
        if min(len(own), len(other)) < 8:
            return None
        head = " ".join(own[: self._draw.randrange(len(own) // 2, len(own) - 2)])
        tail = " ".join(other[self._draw.randrange(len(other) // 2, len(other) - 2) :])
        return f"{head} {tail}", ((len(head) + 1, len(head) + 1 + len(tail)),)

    def _more(self, text: str, read: Sequence[str]) -> Alteration | None:
        """Some words of another document at the end."""
        other = self._draw.choice(self._draw.choice(self._contexts).sentences)
        parts = [one for one in re.split(r", | and | but ", other) if 3 < len(one.split()) < 12]
        if not parts:
            return None
        head = text.rstrip(".") + self._draw.choice([", ", " and ", ", with ", " for "])
        tail = self._draw.choice(parts).strip(" .") + "."
        return head + tail, ((len(head), len(head) + len(tail)),)


def _ending(word: str) -> str:
    return next((one for one in _ENDINGS if word.endswith(one)), "")
