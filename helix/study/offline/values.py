"""The values of a sentence that can be asked for, by form: numbers, years, dates and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from helix.language.periods import periods
from helix.language.terms import STOP_WORDS, terms
from helix.study.sentences import Sentence

ValueKind = Literal["date", "year", "number", "name"]

_NUMBER = re.compile(
    r"(?<![\w\-/.,#§:’])(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\w\-/’:]|[.,]\d)"
)
_YEAR = re.compile(r"1[1-9]\d\d|20\d\d")
_NAME = re.compile(
    r"(?<![.!?:“\"'(] )(?<![\w.’'\-–—/])[A-Z][\w’'-]*[a-z][\w’'-]*"
    r"(?: (?:of |de |van |von |the )?[A-Z][\w’'-]*){0,3}(?![\w’'\-–—/]|,\d)"
)
_NEXT = re.compile(r"[^\w%]?\s*([\w%]+)")
_FEWEST_LETTERS = 4


@dataclass(frozen=True, slots=True)
class Value:
    """A part of a sentence, ``text[start:end]``, with its kind and family.

    ``family`` is the word behind a number, the form of a date or a name's count of words: values
    of one family can replace each other.
    """

    kind: ValueKind
    text: str
    start: int
    end: int
    family: str
    sentence: Sentence

    def replaced(self, other: str) -> str:
        """The sentence with ``other`` in its place."""
        whole = self.sentence.text
        return whole[: self.start] + other + whole[self.end :]


def values_of(sentence: Sentence) -> list[Value]:
    """The values of a sentence that stand in it once, in the order of their kinds and places."""
    values: list[Value] = []
    text, titled = sentence.text, set(terms(sentence.source.title))  # it stands above the question
    for value in (*_dates(sentence), *_numbers(sentence), *_names(sentence)):
        is_aside = text.count("(", 0, value.start) > text.count(")", 0, value.start)
        is_known = set(terms(value.text)) <= titled
        overlaps = any(value.start < other.end and other.start < value.end for other in values)
        times = len(re.findall(rf"(?<!\w){re.escape(value.text)}(?!\w)", text))
        if times == 1 and not (is_aside or is_known or overlaps):
            values.append(value)
    return values


def _dates(sentence: Sentence) -> Iterator[Value]:
    for start, end, keys in periods(sentence.text):
        text = sentence.text[start:end]
        family = re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", "M", text))
        if keys[0].startswith(("day:", "month:")):
            yield Value("date", text, start, end, family, sentence)


def _numbers(sentence: Sentence) -> Iterator[Value]:
    text = sentence.text
    for found in _NUMBER.finditer(text):
        following = _NEXT.match(text, found.end())
        unit = next(iter(terms(following[1])), "") if following else ""
        if _YEAR.fullmatch(found[0]) and unit != "%":
            yield Value("year", found[0], *found.span(), "", sentence)
        else:
            yield Value("number", found[0], *found.span(), unit, sentence)


def _names(sentence: Sentence) -> Iterator[Value]:
    for found in _NAME.finditer(sentence.text, 1):
        name = found[0].removesuffix("’s").removesuffix("'s")
        parts = name.split()
        is_word = not STOP_WORDS.isdisjoint((parts[0].lower(), parts[-1].lower()))
        if len(name) >= _FEWEST_LETTERS and not is_word:
            end = found.start() + len(name)
            yield Value("name", name, found.start(), end, str(min(len(parts), 2)), sentence)


def rivals(value: Value, others: Sequence[Value]) -> list[str]:
    """Texts of other values of the same kind, those of its family first, each once.

    Equal amounts, and names that share a word with ``value``, are left out; so are numbers of
    another unit: 30 of days never stands for 4 of percent.
    """
    alike = [each for each in others if each.kind == value.kind and _is_written_alike(value, each)]
    near = [each.text for each in alike if each.family == value.family]
    far = [each.text for each in alike if each.family != value.family]
    texts: dict[str, str] = {}
    for text in (*near, *(far if value.kind in ("year", "name") else ())):
        if text not in value.sentence.text and not _same(value, text):
            texts.setdefault(text.casefold(), text)
    return list(texts.values())


def _is_written_alike(value: Value, other: Value) -> bool:
    is_number = value.kind == "number"
    return not is_number or all((c in value.text) == (c in other.text) for c in ".,")


def _same(value: Value, other: str) -> bool:
    if value.kind in ("number", "year"):
        return _decimal(value.text) == _decimal(other)
    return value.text == other or not (value.kind == "date" or _apart(value.text, other))


def _apart(one: str, other: str) -> bool:
    return set(terms(one)).isdisjoint(terms(other))


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def invented_amounts(value: Value) -> list[str]:
    """Invented amounts near to ``value``, in its spelling, for a scope with too few values."""
    amount = _decimal(value.text) if value.kind in ("number", "year") else None
    if amount is None:
        return []
    places = len(value.text.partition(".")[2])
    if value.kind == "year":
        amounts = [amount + step for step in (-3, 2, 5, -7, 9)]
    elif not places and 0 <= amount <= 12:
        amounts = [amount + step for step in (1, 2, 3, -1, 4) if amount + step > 0]
    else:
        shares = ("0.5", "1.5", "2", "0.75", "1.25")
        amounts = [
            (amount * Decimal(share)).quantize(Decimal(1).scaleb(-places)) for share in shares
        ]
    grouped = "," if "," in value.text else ""
    texts = [f"{number:{grouped}.{places}f}" for number in amounts]
    return [text for text in dict.fromkeys(texts) if not _same(value, text)]
