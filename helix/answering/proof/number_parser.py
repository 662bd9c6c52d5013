"""Find the numbers of a text: digits or words, with unit, sign and bound; English, German."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from helix.answering.proof.numbers import (
    CARDINALS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    PARTS,
    SCALES,
    Number,
)
from helix.answering.proof.units import Unit, is_attached, unit_at, unit_of
from helix.language.terms import terms
from helix.language.word_lists import expression, tables
from helix.language.words import copy_words

_SIGNS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3"}
_COUNTING = NUMBER_WORDS | {"trillion", *PARTS, *(f"{part}s" for part in PARTS), *SCALES}
_DIGIT = re.compile(r"[\d½¼¾⅓⅔]")

_RAISED = "⁻?[⁰¹²³⁴-⁹]{1,3}"
_TYPED = r"\^[-−]?\d{1,2}(?!\d)"
_PLAIN_DIGITS = str.maketrans("⁻−⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789", "^")
_LARGEST_POWER = 99  # of which the digits are written out
_LARGEST_MARK = 3  # of a note behind 2 or 10, which may be a power as well
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = "|".join(sorted({*CARDINALS, *ORDINALS}, key=len, reverse=True))
_ONE = rf"(?:(?:{_TENS})[\s-](?:{_WORDS})|{_WORDS})(?![^\W_])"
_BIG = (
    "(?:hundred|thousand|million|billion|trillion|dozen|tausend|millionen|milliarden?)(?![^\\W_])"
)
_NUMBER = re.compile(
    r"(?<![^\W_])(?:"
    r"(?P<part>(?P<half>half|hälfte|halbe[rn]?)(?=\s(?:of|an?|the|all|der|des|liter)\b)"
    r"|(?P<count>one|two|three|an?|ein|zwei|drei)[\s-]"
    rf"(?P<name>{'|'.join(PARTS)})s?(?=\s(?:of|an?|the|all|der|des|liter)\b)"
    r"|(?P<top>\d{1,3})/(?P<below>\d{1,3})(?![\d/])|[½¼¾⅓⅔])"
    r"|(?P<hour>\d{1,2})(?::(?P<minute>\d\d))?[ \u00a0]?(?P<noon>[ap])\.?m\b"
    r"|(?P<hour2>\d{1,2}):(?P<minute2>\d\d)(?![\d:])"
    r"|(?P<date>\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4})(?!\d)"
    r"|(?P<digits>\d+(?:[.,'’\u00a0\u202f]\d+)*)"
    rf"(?:[ \u00a0]?[×·∙⋅x*][ \u00a0]?10(?P<tens>{_TYPED}|{_RAISED})"
    rf"|(?P<raised>{_RAISED}|(?:(?<=\b10)|(?<=\b2)){_TYPED}))?(?P<suffix>[^\W\d_]+)?"
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
_MINUS = re.compile(r"(?:^|[\s($€£]|(?<![\w*`])[*`]{1,3})[-−–][$€£]?\Z")
"""Behind Markdown's emphasis too, where that begins: `(**-6**)`, and not `**3**–5`."""
BOUND = re.compile(
    rf"\b(?:(?P<upper>{expression('numbers', 'upper')})"
    rf"|(?P<lower>{expression('numbers', 'lower')}))(?: (?:the|dem|den))?\s+\W?\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND = re.compile(
    r"(?:\s[^\W\d_]+){0,3}\s(?:or|oder)\s"
    r"(?:(?P<lower>more|longer|later|above|mehr)|(?P<upper>less|fewer|earlier|below|weniger))\b",
    re.IGNORECASE,
)
_THAN = "(?:more|later|longer|greater|higher|less|fewer|earlier) than"
BOUND_PHRASE = re.compile(
    rf"\bnot? {_THAN}\b|\bnot [a-z]+ {_THAN} (?=[$€£]?\d|(?:{_WORDS})\b)", re.IGNORECASE
)
"""`no more than`, `not take more than`: of what it denies nothing is left but a bound."""
_OF_A = re.compile(r"[\s-](?:of\s)?an?(?=\s)", re.IGNORECASE)
_PER = re.compile(
    r"(?:[^\S\n]+(?!per\b|pro\b|an?\b|each\b|every\b|je\b)[^\W\d_]+){0,2}[^\S\n]*"
    r"(?:(?:/|\b(?:per|pro)\b)[^\S\n]*(?:calendar|working|full|business)?[^\S\n]*([^\W\d_]+)"
    r"|\b(?:an?|each|every|je)\s+(?:full |calendar |working )?"
    r"(minute|second|hour|day|week|month|year|night|person|minute|stunde|tag|woche|monat|jahr)\b"
    r"|\b(hourly|daily|weekly|monthly|yearly|annually|täglich|wöchentlich|monatlich|jährlich)\b)",
    re.IGNORECASE,
)
_LY = {word: unit for unit, words in tables("numbers")["adverbs"].items() for word in words.split()}
_A_MONTH = re.compile(rf"\b({'|'.join(MONTHS)}|(?:{'|'.join(m[:3] for m in MONTHS)})\b)", re.I)
_MONTH_BY_START = {name[:3]: name for name in MONTHS}
_ORDER_OR_SCALE = frozenset({"st", "nd", "rd", "th", *SCALES})
_A_UNIT = re.compile(
    r"\ban? (hour|day|week|month|year|decade|century|minute|dozen|hundred)\b", re.I
)
_IN = re.compile(r"\b(?:in|im)\s\Z", re.IGNORECASE)
_OWNED = re.compile(r"\b(?:the|an?|its|his|her|their|our|your|every|each)\s+\Z", re.IGNORECASE)
_NOT_COUNTED = re.compile(
    rf"\s*(?:\Z|[^\w\s-]|(?:{expression('numbers', 'not_counted')})\b)", re.IGNORECASE
)


def counts(suffix: str) -> bool:
    """True if digits with these letters directly behind them are a number, and no identifier."""
    return suffix.casefold() in _ORDER_OR_SCALE or suffix == "M" or is_attached(suffix)


def numbers_of(text: str) -> list[Number]:
    """The numbers of a text in order; `a year` is none (see implied_ones)."""
    return list(_found(text)) if _may_count(text) else []


def implied_ones(text: str) -> list[Number]:
    """`a year` as one year: what a text implies, but need not be found for."""
    found = [Number(("1",), unit_of(m[1]), 0, m.start(), m.end()) for m in _A_UNIT.finditer(text)]
    for m in _A_MONTH.finditer(text):
        month = _MONTH_BY_START[m[1][:3].lower()]
        found.append(Number((month,), None, 0, m.start(), m.end()))
    return found


def _may_count(text: str) -> bool:
    """True if a text has a digit or a number's word: ten times as fast as a search for places."""
    if not text.isascii() or _DIGIT.search(text):
        return True
    return not _COUNTING.isdisjoint(copy_words(text))


def _found(text: str) -> Iterator[Number]:
    for match in _NUMBER.finditer(text):
        if match["part"]:
            yield from _part(text, match)
        elif match["date"]:
            yield from _date(match)
        elif match["noon"] or match["hour2"]:
            yield Number((_clock(match),), None, 0, *match.span(), until=match.end())
        elif match["digits"]:
            yield from _digits(text, match)
        else:
            yield _spelled(text, match)


def _part(text: str, match: re.Match[str]) -> Iterator[Number]:
    """`half of`, `two thirds of`, `1/2`; a half that is `second half` or `half time` is none."""
    if match["half"]:
        part = Fraction(1, 2)
    elif match["name"]:
        count = {"two": 2, "zwei": 2, "three": 3, "drei": 3}.get(match["count"].lower(), 1)
        part = Fraction(count, PARTS[match["name"].lower()])
    else:
        top, _, below = _SIGNS.get(match[0], match[0]).partition("/")
        if int(below) == 0:
            return
        part = Fraction(int(top), int(below))
    unit, until, _ = _unit(text, match)
    value = format(Decimal(part.numerator) / Decimal(part.denominator), "f")[:12]
    # `half of the staff` is 50 percent of it, and `half a litre` 0.5 litres
    yield Number((value,), unit or Unit("share", Decimal(1)),
                 _bound(text, *match.span()), *match.span(), until=until)  # fmt: skip


def _date(match: re.Match[str]) -> Iterator[Number]:
    parts = re.findall(r"\d+", match[0])
    for place, part in enumerate(parts):
        value = _plain(part, "")
        month = MONTHS[int(value) - 1 : int(value)] if int(value) and len(part) < 3 else []
        if match[0][4] == "-" and place != 1:
            month = []
        yield Number((value, *month), None, 0, *match.span(), until=match.end())


def _clock(match: re.Match[str]) -> str:
    if not match["noon"]:
        return f"{int(match['hour2'])}:{match['minute2']}"
    hour = int(match["hour"]) % 12 + 12 * (match["noon"].lower() == "p")
    return f"{hour}:{match['minute'] or '00'}"


def _digits(text: str, match: re.Match[str]) -> Iterator[Number]:
    suffix = (match["suffix"] or "").casefold()
    if suffix and not counts(match["suffix"]):
        return  # an identifier, or a decade: a name
    if _part_of_identifier(text, match.start()):
        return
    money = _BEFORE.search(text, max(0, match.start() - 5), match.start())
    millions = bool(suffix == "m" and money)
    scale = 10**6 if millions else SCALES.get((match["scale"] or suffix).lower(), 1)
    tens = _power(match["tens"] or "0")
    if abs(tens) > _LARGEST_POWER:
        return
    read = _powers(match["digits"], match["raised"]) or _readings(_ascii(match["digits"]))
    values = tuple(_scaled(value, scale * Decimal(10) ** tens) for value in read)
    if _MINUS.search(text, max(0, match.start() - 5), match.start()):
        values = tuple(f"-{value}" for value in values)
    yield _number(text, match, values, suffix=match["suffix"] or "")


def _powers(digits: str, raised: str | None) -> list[str]:
    """`10⁶`, `10^6`, `2⁸` by value; nothing of other digits, whose raised ones are a note's mark.

    `10²` may be either, as `1.000` may.
    """
    if digits not in ("2", "10") or not raised:
        return []
    power = _power(raised)
    if abs(power) > _LARGEST_POWER:
        return [f"{digits}{raised}"]
    value = str(int(digits) ** power) if power >= 0 else _scaled("1", Decimal(digits) ** power)
    is_mark = 0 < power <= _LARGEST_MARK and not raised.isascii()
    return list(dict.fromkeys([value, digits])) if is_mark else [value]


def _power(written: str) -> int:
    """The power that `⁻³` or `^-3` writes."""
    return int(written.translate(_PLAIN_DIGITS))


def _number(
    text: str, match: re.Match[str], values: tuple[str, ...], *, suffix: str = "", sure: bool = True
) -> Number:
    start, end = match.span()
    unit, until, per = _unit(text, match, suffix)
    within = (
        unit is None and len(values[0]) == 4 and bool(_IN.search(text, max(0, start - 4), start))
    )
    return Number(values, unit, _bound(text, start, end), start, end, sure, until, per, within)


def _part_of_identifier(text: str, start: int) -> bool:
    """`COVID-19`: a number behind letters and a hyphen is part of a name."""
    return start >= 2 and text[start - 1] in "-_‐‑" and text[start - 2].isalpha()


def canonical(digits: str) -> str:
    """One spelling of digits with separators, as they compare word by word."""
    return _readings(_ascii(digits))[0]


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


def _scaled(value: str, scale: int | Decimal) -> str:
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
        if word in SCALES and word != "hundred":
            total, current = total + (current or 1) * SCALES[word], 0
        elif word == "hundred":
            current = (current or 1) * 100
        elif word == "dozen":
            current = (current or 1) * 12
        else:
            current += CARDINALS.get(word, ORDINALS.get(word, 0))
    return _number(text, match, (str(total + current),), sure=_sure(text, match))


def _sure(text: str, match: re.Match[str]) -> bool:
    said = match["words"].casefold()
    if said in ("one", "elf"):
        return not _NOT_COUNTED.match(text, match.end())
    if said in ("first", "second"):
        return bool(_OWNED.search(text, max(0, match.start() - 8), match.start()))
    return True


def _unit(
    text: str, match: re.Match[str], suffix: str = ""
) -> tuple[Unit | None, int, frozenset[str]]:
    """The unit, where it ends, and what it is counted by."""
    end = match.end()
    unit = None
    before = _BEFORE.search(text, max(0, match.start() - 5), match.start())
    if before:
        unit = unit_of(before[1] or before[2])
    elif suffix and unit_of(suffix):
        unit = unit_of(suffix)
    else:
        whole = _OF_A.match(text, end) if match["part"] else None
        after = _AFTER.match(text, whole.end() if whole else end)
        if after and after[1].casefold() == "per cent":
            unit, end = unit_of("%"), after.end()
        elif after:
            word = re.sub(r"\s", "", after[1])
            unit, until = unit_at(text, word, after.end())
            end = until if unit else end
    return unit, end, _per(text, end)


def _per(text: str, end: int) -> frozenset[str]:
    """Units a number is counted by, time by its English name: `5 euros per month per user`."""
    found = set()
    while match := _PER.match(text, end, end + 60):
        word = (match[1] or match[2] or match[3]).casefold()
        if word == "cent":
            break
        unit = unit_of(_LY.get(word, word))
        time = unit and unit.dimension in ("time", "months")
        found.add(str(unit) if time else "".join(terms(word)[:1]) or word)
        end = match.end()
    return frozenset(found)


def _bound(text: str, start: int, end: int) -> int:
    match = BOUND.search(text, max(0, start - 40), start)
    if match is None:
        match = _BOUND_BEHIND.match(text, end, end + 60)
    return 0 if match is None else (-1 if match["upper"] else 1)
