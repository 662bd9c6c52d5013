"""The numbers of a text by value: digits or words, with unit, sign and bound. English words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from helix.proof.folding import folded_words

_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_SMALL |= {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)
}
_SMALL |= {"dozen": 12, "twice": 2, "thrice": 3}
_ORDINAL = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        1,
    )
}
_ORDINAL |= {"twentieth": 20, "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}
_SCALE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_SCALE |= {"trillion": 10**12, "k": 10**3, "mn": 10**6, "mio": 10**6, "bn": 10**9}
NUMBER_WORDS = frozenset({*_SMALL, *_ORDINAL, "hundred", "thousand", "million", "billion"})
_COUNTING = NUMBER_WORDS | {"trillion"}
_DIGIT = re.compile(r"\d")

_UNITS = {
    "%": "percent pct prozent % percentage",
    "°": "° degree degrees °c °f",
    "minute": "minute minutes min mins minuten",
    "second": "seconds sec secs sekunden",
    "hour": "hour hours h hr hrs stunde stunden",
    "day": "day days tag tage tagen",
    "week": "week weeks woche wochen",
    "month": "month months monat monate monaten",
    "year": "year years yr yrs jahr jahre jahren",
    "decade": "decade decades",
    "century": "century centuries",
    "usd": "$ usd dollar dollars us$",
    "eur": "€ eur euro euros",
    "gbp": "£ gbp",
    "yen": "¥ yen jpy",
    "chf": "chf franc francs",
    "km": "km kilometre kilometres kilometer kilometers",
    "m": "metre metres meter meters m",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "mile": "mile miles mi",
    "kg": "kg kilogram kilograms kilogramme",
    "g": "g gram grams",
    "mg": "mg milligram milligrams",
    "litre": "l litre litres liter liters",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "gb": "gb gigabyte gigabytes",
    "mb": "mb megabyte megabytes",
}
_UNIT_OF = {word: unit for unit, several in _UNITS.items() for word in several.split()}
UNIT_WORDS = frozenset(_UNIT_OF) - {"m", "h", "l", "g", "min"}

_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = "|".join(sorted({*_SMALL, *_ORDINAL}, key=len, reverse=True))
_ONE = rf"(?:(?:{_TENS})[\s-](?:{_WORDS})|{_WORDS})(?![^\W_])"
_BIG = "(?:hundred|thousand|million|billion|trillion|dozen)(?![^\\W_])"
_NUMBER = re.compile(
    r"(?<![^\W_])(?:"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?[ \u00a0]?(?P<half>[ap])\.?m\b"
    r"|(?P<hour2>\d{1,2}):(?P<minute2>\d\d)(?![\d:])"
    r"|(?P<date>\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4})(?!\d)"
    r"|(?P<digits>\d+(?:[.,'’\u00a0\u202f]\d+)*)(?P<suffix>[^\W\d_]+)?"
    rf"(?:[\s\u00a0-]+(?P<scale>{_BIG}|bn|mn|mio)(?![^\W_]))?"
    rf"|(?P<words>(?:{_ONE}|(?<=\ba )(?:{_BIG}))"
    rf"(?:(?:[\s-]{{1,3}}(?:{_BIG}))+(?:[\s-]{{1,3}}(?:and\s)?{_ONE})?)*))",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s\u00a0-]{0,2}(?:(?:working|business|calendar|consecutive|full|additional|more|paid|US)\s+)?"
    r"(%|‰|per cent|°\s?[CF]?|€|\$|£|¥|[^\W\d_]+)"
)
_BEFORE = re.compile(r"(?:([$€£¥])|\b(USD|EUR|GBP|CHF))[ \u00a0]?\Z", re.IGNORECASE)
_MINUS = re.compile(r"(?:^|[\s($€£])[-−–][$€£]?\Z")
_UPPER = (
    r"not? (?:more|later|longer|greater|higher) than|not exceed(?:ing)?|at most|up to"
    r"|(?:at (?:the|a) )?max(?:imum)?(?: of)?|less than|fewer than|under|below|within|before|until"
)
_LOWER = (
    r"not? (?:less|fewer|earlier|lower) than|at least|min(?:imum)?(?: of)?|more than|over|above"
    r"|exceed(?:s|ing)?|after|longer than|greater than|higher than"
)
BOUND = re.compile(rf"\b(?:(?P<upper>{_UPPER})|(?P<lower>{_LOWER}))(?: the)?\s+\W?\Z", re.I)
BOUND_PHRASE = re.compile(r"\bnot? (?:more|later|longer|greater|higher|less|fewer|earlier) than\b")
_A_UNIT = re.compile(
    r"\ban? (hour|day|week|month|year|decade|century|minute|dozen|hundred)\b", re.I
)
_OWNED = re.compile(r"\b(?:the|an?|its|his|her|their|our|your|every|each)\s+\Z", re.IGNORECASE)
_NOT_COUNTED = re.compile(
    r"\s*(?:\Z|[^\w\s-]|(?:of|is|are|was|can|may|must|has|have|had|should|will|or|and|who|that|in|on"
    r"|to|for|with|at|another|which|by|from|as|the|would|could|does|do|cannot|than)\b)",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A number at ``text[start:end]``: the values it may be read as, what it counts, its bound.

    ``unit`` is "" where none is known; ``bound`` is 1 of a lower bound, -1 of an upper one, else 0.
    ``sure`` is false of what may be no number: `one`, `first` and `second` as other words.
    """

    values: tuple[str, ...]
    unit: str
    bound: int
    start: int
    end: int
    sure: bool = True

    def agrees(self, other: Number) -> bool:
        """Whether both may be the same; what only one of them says does not part them."""
        if not any(value in other.values for value in self.values):
            return False
        if self.unit and other.unit and self.unit != other.unit:
            return False
        return self.bound * other.bound >= 0


def numbers_of(text: str) -> list[Number]:
    """The numbers of a text in order; `a year` is none (see implied_ones)."""
    return list(_found(text)) if _may_count(text) else []


def implied_ones(text: str) -> list[Number]:
    """`a year` as one year: what a text implies, but need not be found for."""
    return [
        Number(("1",), _UNIT_OF.get(m[1].lower(), ""), 0, m.start(), m.end())
        for m in _A_UNIT.finditer(text)
    ]


def _may_count(text: str) -> bool:
    """Whether it has a digit or a number's word; the search for where takes ten times as long."""
    if not text.isascii() or _DIGIT.search(text):
        return True
    return not _COUNTING.isdisjoint(folded_words(text))


def _found(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        if match["date"]:
            yield from _date(match)
        elif match["half"] or match["hour2"]:
            yield Number((_clock(match),), "", 0, *match.span())
        elif match["digits"]:
            yield from _digits(text, match)
        else:
            yield _spelled(text, match)


def _date(match: re.Match[str]) -> Iterator[Number]:
    for part in re.finditer(r"\d+", match[0]):
        yield Number((_plain(part[0], ""),), "", 0, match.start(), match.end())


def _clock(match: re.Match[str]) -> str:
    if not match["half"]:
        return f"{int(match['hour2'])}:{match['minute2']}"
    hour = int(match["hour"]) % 12 + 12 * (match["half"].lower() == "p")
    return f"{hour}:{match['minute'] or '00'}"


def _digits(text: str, match: re.Match[str]) -> Iterator[Number]:
    suffix = (match["suffix"] or "").casefold()
    if suffix and suffix not in ("st", "nd", "rd", "th", *_SCALE, *_UNIT_OF):
        return  # an identifier, or a decade: a name
    if not suffix and _part_of_identifier(text, match.start()):
        return
    scale = _SCALE.get((match["scale"] or suffix).lower(), 1)
    values = tuple(_scaled(value, scale) for value in _readings(_ascii(match["digits"])))
    if _MINUS.search(text, max(0, match.start() - 3), match.start()):
        values = tuple(f"-{value}" for value in values)
    end = match.end()
    yield Number(
        values, _unit(text, match, suffix), _bound(text, match.start()), match.start(), end
    )


def _part_of_identifier(text: str, start: int) -> bool:
    """`COVID-19`: a number behind letters and a hyphen is part of a name."""
    return start >= 2 and text[start - 1] in "-_‐‑" and text[start - 2].isalpha()


def _readings(digits: str) -> list[str]:
    """The values that digits with separators may have: `1.000` is one, or a thousand in German."""
    digits = re.sub("['’\u00a0\u202f]", "", digits)
    points, commas = digits.count("."), digits.count(",")
    if points and commas:
        decimal = max(".,", key=digits.rfind)
        whole, _, rest = digits.rpartition(decimal)
        return [_plain(re.sub("[.,]", "", whole), rest)]
    if not points and not commas:
        return [_plain(digits, "")]
    mark = "." if points else ","
    first, *groups = digits.split(mark)
    thousands = len(first) <= 3 and all(len(group) == 3 for group in groups)
    if len(groups) > 1:
        return [_plain(first + "".join(groups), "")] if thousands else [digits]
    readings = [_plain(first, groups[0])] if not (thousands and mark == ",") else []
    return readings + ([_plain(first + groups[0], "")] if thousands else [])


def _plain(whole: str, fraction: str) -> str:
    """One spelling of a value, exact however long it is."""
    fraction = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "")


def _scaled(value: str, scale: int) -> str:
    if scale == 1 or len(value) > 20 or value.count(".") > 1 or "," in value:
        return value
    whole, _, fraction = format(Decimal(value) * scale, "f").partition(".")
    return _plain(whole, fraction)


def _ascii(digits: str) -> str:
    if digits.isascii():
        return digits
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in digits)


def _spelled(text: str, match: re.Match[str]) -> Number:
    said = match["words"].casefold()
    total = current = 0
    for word in re.split(r"[\s-]+", said):
        if word in _SCALE and word != "hundred":
            total, current = total + (current or 1) * _SCALE[word], 0
        elif word == "hundred":
            current = (current or 1) * 100
        elif word == "dozen":
            current = (current or 1) * 12
        else:
            current += _SMALL.get(word, _ORDINAL.get(word, 0))
    start, end = match.span()
    bound = _bound(text, start)
    return Number(
        (str(total + current),), _unit(text, match), bound, start, end, _sure(text, match)
    )


def _sure(text: str, match: re.Match[str]) -> bool:
    said = match["words"].casefold()
    if said == "one":
        return not _NOT_COUNTED.match(text, match.end())
    if said in ("first", "second"):
        return bool(_OWNED.search(text, max(0, match.start() - 8), match.start()))
    return True


def _unit(text: str, match: re.Match[str], suffix: str = "") -> str:
    before = _BEFORE.search(text, max(0, match.start() - 5), match.start())
    if before:
        return _UNIT_OF.get((before[1] or before[2]).lower(), "")
    if suffix in _UNIT_OF:
        return _UNIT_OF[suffix]
    after = _AFTER.match(text, match.end())
    if not after:
        return ""
    word = after[1].casefold()
    return "%" if word == "per cent" else _UNIT_OF.get(word, "°" if word[0] == "°" else "")


def _bound(text: str, start: int) -> int:
    match = BOUND.search(text, max(0, start - 28), start)
    return 0 if match is None else (-1 if match["upper"] else 1)
