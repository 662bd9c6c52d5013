"""The values of a sentence that can be asked for: numbers, years, dates, names, defined terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from helix.answering.proof.facts import Facts
from helix.answering.proof.numbers import MONTHS, Number
from helix.language.terms import STOP_WORDS, terms
from helix.study.sentences import Sentence

ValueKind = Literal["date", "year", "number", "name", "term"]

_MONTH = "|".join(month.title() for month in MONTHS)
_DATE = re.compile(
    rf"\b(?:(?:{_MONTH}) \d{{1,2}}, (?:1[0-9]|20)\d\d|\d{{1,2}} (?:{_MONTH}) (?:1[0-9]|20)\d\d"
    rf"|(?:{_MONTH}) (?:1[0-9]|20)\d\d)\b"
)
_NAME = re.compile(
    r"(?<![.!?:“\"'(] )(?<![\w.’'-])[A-Z][\w’'-]*[a-z][\w’'-]*"
    r"(?: (?:of |de |van |von |the )?[A-Z][\w’'-]*){0,3}(?![\w’'-])"
)
_TERM = re.compile(
    r"(?P<article>(?:The|A|An) )?(?P<term>[A-Za-z][\w’'-]*(?: [\w’'-]+){0,3})"
    r" (?:is defined as|refers to|means|denotes|is (?:a|an|the)|are (?:a|an|the)) (?=\w)"
)
_NO_NAMES = frozenset(
    "January February March April May June July August September October November December Monday"
    " Tuesday Wednesday Thursday Friday Saturday Sunday English I The A An In On At Of".split()
)
_BEFORE_YEARS = frozenset(
    "in by since from until till to during between and before after around circa about year of"
    " early late".split()
)
_PLACES = frozenset("in at near from into across throughout".split())
_JOINED = "-–—/_"
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_GOES_ON = re.compile(r"[.,]\d")
_BEFORE_WORDS = re.compile(r"([\w’'-]{1,60})\s{0,9}\W?\Z")
_AFTER_WORD = re.compile(r"\W?\s*([\w%]+)")


@dataclass(frozen=True, slots=True)
class Value:
    """A part of a sentence, ``text[start:end]``, with its kind and family.

    ``family`` is the unit of a number or the word before a name: values of one family can replace
    each other.
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
    titled = set(terms(sentence.source.title))  # it stands above the question
    for value in (*_dates(sentence), *_numbers(sentence), *_names(sentence), *_defined(sentence)):
        if any(value.start < other.end and other.start < value.end for other in values):
            continue
        if set(terms(value.text)) <= titled:
            continue
        aside = sentence.text.count("(", 0, value.start) > sentence.text.count(")", 0, value.start)
        if aside:
            continue
        if len(re.findall(rf"(?<!\w){re.escape(value.text)}(?!\w)", sentence.text)) == 1:
            values.append(value)
    return values


def _dates(sentence: Sentence) -> Iterator[Value]:
    for match in _DATE.finditer(sentence.text):
        shape = re.sub(r"\d+", "9", re.sub(_MONTH, "M", match[0]))
        yield Value("date", match[0], *match.span(), shape, sentence)


def _numbers(sentence: Sentence) -> Iterator[Value]:
    text = sentence.text
    for number in Facts(text).numbers:
        digits = _DIGITS.match(text, number.start)
        if not number.sure or not digits or digits.end() > number.end:
            continue
        end = digits.end()
        if text[end : end + 1].isalnum() or text[end : end + 1] in ("-", "/", "’", ":"):
            continue
        if _GOES_ON.match(text, end):
            continue  # of a version, as in 4.19.0
        if number.start and (
            text[number.start - 1] in "-/.,#§:" or text[number.start - 1].isalnum()
        ):
            continue  # a part of a longer one, as in RMB1,395
        if _DATE.search(text, max(0, number.start - 12), min(len(text), end + 6)):
            continue
        is_year = _is_year(number, digits[0], text[: number.start])
        family = "" if is_year else _unit(text, number, end)
        kind: ValueKind = "year" if is_year else "number"
        yield Value(kind, digits[0], number.start, end, family, sentence)


def _is_year(number: Number, digits: str, before: str) -> bool:
    """True if four digits without a unit stand where years do: `in 1066`."""
    if number.unit or len(digits) != 4 or not digits.isdigit() or not "1000" <= digits <= "2099":
        return False
    word = _BEFORE_WORDS.search(before)
    return number.is_year or bool(word and word[1].lower() in _BEFORE_YEARS)


def _unit(text: str, number: Number, end: int) -> str:
    if number.unit:
        return number.unit.dimension
    following = _AFTER_WORD.match(text, end)
    return next(iter(terms(following[1])), "") if following else ""


def _names(sentence: Sentence) -> Iterator[Value]:
    text = sentence.text
    for match in _NAME.finditer(text):
        name = match[0].removesuffix("’s").removesuffix("'s")
        words = name.split()
        if match.start() == 0 or any(word in _NO_NAMES for word in words[:1] + words[-1:]):
            continue
        if len(name) < 4 or words[-1].lower() in STOP_WORDS or words[0].lower() in STOP_WORDS:
            continue
        end = match.start() + len(name)
        if text[match.start() - 1] in _JOINED or text[end : end + 1] in tuple(_JOINED):
            continue
        yield Value("name", name, match.start(), end, _name_family(text, match.start(), name),
                    sentence)  # fmt: skip


def _name_family(text: str, start: int, name: str) -> str:
    """The family of a name by its form: people, adjective, place, or its number of words."""
    if name.endswith("s") and not name.endswith(("ss", "us", "is")):
        return "people"
    if name.endswith(("ish", "ese", "ian", "ean", "can", "ic")):
        return "adjective"
    before = _BEFORE_WORDS.search(text[:start])
    if before and before[1].lower() in _PLACES:
        return "place"
    return f"{min(len(name.split()), 2)} words"


def _defined(sentence: Sentence) -> Iterator[Value]:
    match = _TERM.match(sentence.text)
    if match and match["term"].split()[-1].lower() not in STOP_WORDS:
        if match["term"].split()[0].lower() in STOP_WORDS or len(match["term"]) < 4:
            return
        start = match.start("term")
        end = match.end("term")
        family = "article" if match["article"] else ""
        yield Value("term", match["term"], start, end, family, sentence)


def rivals(value: Value, others: Sequence[Value]) -> list[str]:
    """Texts of other values of the same kind, those of its family first, each once.

    Equal amounts, and names that share a word with ``value``, are left out.
    """
    near = [each for each in others if each.kind == value.kind and each.family == value.family]
    far = [each for each in others if each.kind == value.kind and each.family != value.family]
    if value.kind in ("number", "date"):
        far = []  # 30 of days never stands for 4 of percent
    texts: dict[str, str] = {}
    for each in (*near, *far):
        text = _fitted(value, each)
        is_in_sentence = text in value.sentence.text
        if text and not is_in_sentence and text.casefold() not in texts and not _same(value, text):
            texts[text.casefold()] = text
    return list(texts.values())


def _fitted(value: Value, other: Value) -> str:
    """The text of ``other`` with the article and capital that its new place needs."""
    if value.kind == "number" and any((c in value.text) != (c in other.text) for c in ".,"):
        return ""
    if value.kind == "term":
        first = other.text[0].upper() if value.start == 0 else other.text[0].lower()
        is_name = other.text[1:2].isupper() or (other.start > 0 and other.text[0].isupper())
        return other.text if is_name else first + other.text[1:]
    return other.text


def _same(value: Value, other: str) -> bool:
    if value.kind in ("number", "year"):
        return _decimal(value.text) == _decimal(other)
    if value.kind == "date":
        return value.text == other
    return bool(set(terms(value.text)) & set(terms(other)))


def _decimal(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return None


def invented_amounts(value: Value) -> list[str]:
    """Invented amounts near to ``value``, in its spelling, for a scope with too few values."""
    if value.kind not in ("number", "year"):
        return []
    amount = _decimal(value.text)
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
