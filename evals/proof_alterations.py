"""Answers with one thing altered: what the verifier has to find."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evals.proof_answers import Case
from helix.domain.context import Source
from helix.domain.records import Hit

_QUOTE = re.compile(r"(?P<text>.+?) \[(?P<n>\d+)\](?= |\Z)")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|had|can|could|may|will|should|did|does)\b")
_NOT = re.compile(r"\b(?:(?<!whether or )not|never) |(?<=\bcan)not\b")
_DIGIT = re.compile(r"(?<![A-Za-z0-9(\[-])\d+(?:[.,]\d+)*(?![A-Za-z0-9)\]])")
_WORDS = "two three four five six seven eight nine ten eleven twelve twenty thirty".split()
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
_KINDS_OF_UNIT = (
    "minutes hours days weeks months years", "metres kilometres miles", "meters kilometers miles",
    "grams kilograms tonnes", "dollars euros", "million billion", "percent",
)  # fmt: skip
_UNIT_GROUPS = {unit: group.split() for group in _KINDS_OF_UNIT for unit in group.split()}
_UNIT_GROUPS["percent"] = ["percentage points"]
_UNIT = re.compile(rf"(?<=\d )(?:{'|'.join(_UNIT_GROUPS)})\b(?! points?)")
_IDENTIFIER = re.compile(r"\b(?=[A-Za-z]*[A-Z])[A-Za-z]{1,10}-?\d{1,6}\b")
_FIRST_NAME = re.compile(r"\A[A-Z][a-z]{3,}\b(?= (?:is|was|has|had|were|are|[A-Z]))")
_SHORT_NAME = re.compile(r"(?<=[a-z,] )[A-Z][A-Za-z]{0,2}\b(?!\.)")
_SHORT_NAMES = ("Li", "Bo", "Ann", "Tim", "Ray", "Q")
_DENIAL = re.compile(
    r"\b(?:failed to|fails to|fail to|refused to|unable to|lack of|denied|lacks?) "
)
_PAIRS = (
    "increased decreased", "increase decrease", "before after", "allowed banned",
    "rejected approved", "higher lower", "largest smallest", "started ended", "won lost",
    "positive negative", "rose fell", "first last", "northern southern", "effective ineffective",
    "more less",
)  # fmt: skip
_OPPOSITE = {word: other for pair in map(str.split, _PAIRS) for word, other in (pair, pair[::-1])}
_OPPOSED = re.compile(rf"\b(?:{'|'.join(_OPPOSITE)})\b")
_QUANTIFIER = re.compile(
    r"\b(?:all|some|most|few)\b(?= (?!of\b)[a-z]+s\b| of the\b)", re.IGNORECASE
)


_Put = Callable[[str, Sequence[str], random.Random], str]
"""A maker of the replacement: of the match, the known names, and the random generator."""
_Alter = Callable[[str, int, Sequence[str], int, random.Random], tuple[str, int]]
"""Text, its source, names, count of sources and the draw: the altered text and its source."""


@dataclass(frozen=True)
class Altered:
    """An answer with one thing altered, ``quote`` being what it now says, cited to ``n``."""

    kind: str
    answer: str
    quote: str
    n: int
    case: Case


def alterations(case: Case, names: Sequence[str], draw: random.Random) -> Iterator[Altered]:
    """One alteration of each kind that the answer has room for, in a quote drawn by ``draw``."""
    quotes = list(_QUOTE.finditer(case.answer))
    for kind, alter in KINDS.items() if quotes else ():
        quote = draw.choice(quotes)
        text, n = alter(quote["text"], int(quote["n"]), names, len(case.sources), draw)
        if (text, n) == (quote["text"], int(quote["n"])) or _holds(case.sources[n - 1], text):
            continue
        head, tail = case.answer[: quote.start()], case.answer[quote.end() :]
        yield Altered(kind, f"{head}{text} [{n}]{tail}", text, n, case)


def _holds(source: Source, text: str) -> bool:
    """True where the source has these words, one after another: then nothing false was made."""
    return _folded(text) in _folded(source.content)


def _folded(text: str) -> str:
    return " ".join(["", *re.findall(r"\w+|[$€£%]", text.casefold()), ""])


def _marker(
    text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
) -> tuple[str, int]:
    others = [other for other in range(1, sources + 1) if other != n]
    return text, draw.choice(others) if others else n


def _exchange(pattern: re.Pattern[str], put: _Put) -> _Alter:
    def alter(
        text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
    ) -> tuple[str, int]:
        found = list(pattern.finditer(text))
        if not found:
            return text, n
        match = draw.choice(found)
        return text[: match.start()] + put(match[0], names, draw) + text[match.end() :], n

    return alter


def _other_digit(found: str, names: Sequence[str], draw: random.Random) -> str:
    at = draw.choice([i for i, c in enumerate(found) if c.isdigit()])
    digit = draw.choice([d for d in "123456789" if d != found[at]])
    return found[:at] + digit + found[at + 1 :]


def _another_of(pool: Callable[[str, Sequence[str]], Sequence[str]]) -> _Put:
    """Draws from the pool that goes with what was found and the names; never what was found."""
    return lambda found, names, draw: draw.choice([o for o in pool(found, names) if o != found])


_other_name = _another_of(lambda found, names: names)


def _other_if_name(found: str, names: Sequence[str], draw: random.Random) -> str:
    """Another name of what elsewhere stands within sentences: `There` is none."""
    return _other_name(found, names, draw) if found in names else found


def _other_quantity(found: str, names: Sequence[str], draw: random.Random) -> str:
    """One that claims more, or less of `all`."""
    more = {"few": "most", "some": "all", "most": "all", "all": "few"}[found.lower()]
    return more.capitalize() if found[0].isupper() else more


def _swapped(
    text: str, n: int, names: Sequence[str], sources: int, draw: random.Random
) -> tuple[str, int]:
    """Two names of the quote in each other's place, with a verb between them."""
    found = [m for m in NAME.finditer(text) if m[0] in names]
    pairs = [
        (one, two)
        for one, two in itertools.pairwise(found)
        if one[0] != two[0] and len(text[one.end() : two.start()].split()) >= 2
        and not re.search(r",|\b(?:and|or)\b", text[one.end() : two.start()])
    ]  # fmt: skip
    if not pairs:
        return text, n
    one, two = draw.choice(pairs)
    between = text[one.end() : two.start()]
    return text[: one.start()] + two[0] + between + one[0] + text[two.end() :], n


KINDS: dict[str, _Alter] = {
    "marker": _marker,
    "digit": _exchange(_DIGIT, _other_digit),
    "number word": _exchange(_NUMBER_WORD, _another_of(lambda found, names: _WORDS)),
    "name": _exchange(NAME, _other_name),
    "name at the start": _exchange(_FIRST_NAME, _other_if_name),
    "short name": _exchange(_SHORT_NAME, _another_of(lambda found, names: _SHORT_NAMES)),
    "two names exchanged": _swapped,
    "unit": _exchange(_UNIT, _another_of(lambda found, names: _UNIT_GROUPS[found])),
    "identifier": _exchange(_IDENTIFIER, _other_digit),
    "denying word removed": _exchange(_DENIAL, lambda found, names, draw: ""),
    "opposite": _exchange(_OPPOSED, lambda found, names, draw: _OPPOSITE[found]),
    "quantifier": _exchange(_QUANTIFIER, _other_quantity),
    "not inserted": _exchange(_AUXILIARY, lambda found, names, draw: f"{found} not"),
    "not removed": _exchange(_NOT, lambda found, names, draw: ""),
}


def alone(text: str, n: int = 1, title: str = "Document") -> Source:
    """A source of one chunk, which is a document whole."""
    hit = Hit(n, n, title, "", 0, text, 0, len(text), str(n), 0.3)
    return Source(hit, (hit,), text, 0, len(text))
