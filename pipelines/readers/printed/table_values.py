"""The kind of a table's text by its look: a number, a year, a scale, a footnote mark, words."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["value", "either", "text"]
"""``either`` is a year or a range: it may be a value and may name a column; ``text`` is neither."""

_LONGEST_VALUE = 40  # characters
_MARK = r"\((?:\d{1,2}|[a-z])\)(?:,?\((?:\d{1,2}|[a-z])\)){0,9}|[*†‡§¹²³⁴⁵]{1,9}"
_CURRENCY = r"(?:(?:US|C|CA|A|AU|HK|NZ|S|R|NT)?[$€£¥₹₩]|USD|EUR|GBP|CHF|RMB|Rs\.?)"
_AMOUNT = r"(?:\d{1,3}(?:[,.'’\u202f]\d{3})+|\d+)(?:[.,]\d+)?|[.,]\d+"
_SIGN = r"[-+–—−~≈±]?"
_ONE = (
    rf"{_SIGN}{_CURRENCY}?{_SIGN}[(\[]?{_SIGN}{_CURRENCY}?{_SIGN}(?:{_AMOUNT})"
    rf"(?:%|‰|[xX×]|bps?|ppts?|pts?|pp|[kKmM]|[bB]n?|[mM]n){{0,1}}[)\]]?(?:%|[xX×]|bps?|ppts?|pts?)?"
    rf"{_CURRENCY}?"
)
_VALUE = re.compile(_ONE)
_RANGE = re.compile(rf"{_ONE}(?:-|–|—|−|to){_ONE}|[<>≤≥]{_ONE}")
_NOTHING = re.compile(
    rf"{_CURRENCY}?\(?(?:[-–—−]+|N/?[AM]|n/?[am]|n\.[am]\.|NM|nil|Nil)\)?[%xX]?\)?"
)
_DIGIT = re.compile(r"\d")
_LONGEST_NOTHING = 8  # characters of "N/A" or "— %"; what is longer and no text has a digit
_TIME_SPAN = re.compile(r"\d{1,9}\.\d{1,9}(?:years?|months?|days?)")
_YEAR = re.compile(r"(?:FY|CY|Q[1-4])?[’']?(?:19|20)\d\d[AE]?")
_OPENING = re.compile(rf"{_CURRENCY}?[(\[]?{_CURRENCY}?")
_CLOSING = re.compile(r"[)\]]?(?:%|[xX×]|bps|ppts?|pts?)?[)\]]?")
_LIST = re.compile(r"\d[,.;]\s+\d")  # "31, 2019"
_LAST_MARK = re.compile(rf"(?P<body>.*?\S)\s*(?P<mark>{_MARK})", re.DOTALL)
_LONGEST_SIGN = 6  # characters: "US$", "NT$(", "ppts)"
_LEADING = ".·•․…_"
_LEADER = re.compile(r"[.·•․…_]{2,}|[.·․…]")
_ENDING_LEADER = re.compile(r"(?<![\s.·․…_])(?:\s*+[.·․…_]){3,}$|(?<!…)…+$")
_ENUMERATOR = re.compile(r"(?:[(\[]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)\]])+|[•●▪■○◦‣·–—*†‡§-]")
_SCALE = re.compile(
    r"\(?(?:[^()]{0,60}?\b)?in\s+(?:thousands|millions|billions|hundreds)\b[^()]{0,120}\)?"
    r"|\(?(?:\S{1,12}\s)?(?:thousands|millions|billions)\s+of\s+[^()]{0,60}\)?"
    r"|\(?(?:US|U\.S\.)?\s?[$€£¥]?\s?(?:thousand|million|billion)s?\)?|\(?[$€£¥]?[’']?000s?\)?",
    re.IGNORECASE,
)
_SCALE_INSIDE = re.compile(
    r"\([^()]*\b(?:in|of)\s+(?:thousands|millions|billions)\b[^()]*(?:\([^()]*\)[^()]*)?\)",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    rf"\(?(?:{_CURRENCY}\s?(?:[’']?000s?|[kmb]n?|mn|million|billion|thousand)?s?|%|[’']000s?)\)?",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\(?(?:un)?audited\)?", re.IGNORECASE)
_UNFINISHED_TIME = re.compile(
    r"(?:\b(?:ended|ending|as\s+of|as\s+at)|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"[a-z]*\.?\s+\d{1,2}|\d{1,2}\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)"
    r"\s*[,:]?$",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:year|quarter|month|week|day|period|fiscal|ended|ending|as\s+(?:of|at)|"
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)s?\b|(?:19|20)\d\d",
    re.IGNORECASE,
)


def kind_of(text: str) -> Kind:
    """The kind of a text; spaces in it do not count."""
    if len(text) > _LONGEST_NOTHING and not _DIGIT.search(text):
        return "text"
    bare = "".join(text.split())
    if not bare or len(bare) > _LONGEST_VALUE or _LIST.search(text) or is_measure(bare):
        return "text"
    unmarked = without_mark(bare)[0]
    if _YEAR.fullmatch(bare) or _YEAR.fullmatch(unmarked) or _RANGE.fullmatch(bare):
        return "either"
    return "value" if _is_value(bare) or _is_value(unmarked) else "text"


def _is_value(bare: str) -> bool:
    return any(form.fullmatch(bare) for form in (_VALUE, _NOTHING, _TIME_SPAN))


def is_opening(text: str) -> bool:
    """True where a text stands before a number in a cell of its own: "$", "(", "$(", "-"."""
    return 0 < len(text) <= _LONGEST_SIGN and bool(_OPENING.fullmatch(text))


def is_currency(text: str) -> bool:
    """True where a text is a currency's sign, with or without a parenthesis."""
    return is_opening(text) and bool(re.search(_CURRENCY, text))


def is_closing(text: str) -> bool:
    """True where a text stands behind a number in a cell of its own: ")", "%", ")%"."""
    return 0 < len(text) <= _LONGEST_SIGN and bool(_CLOSING.fullmatch(text))


def is_leader(text: str) -> bool:
    """True where a text is only the dots that lead from a label to its number."""
    return text[:1] in _LEADING and bool(_LEADER.fullmatch(text))


def without_leader(text: str) -> str:
    """A label without the dots that follow it."""
    return _ENDING_LEADER.sub("", text).rstrip() if text[-1:] in _LEADING else text


def is_enumerator(text: str) -> bool:
    """True where a text begins an item of a list or a footnote: "1.", "(a)", "•"."""
    return bool(_ENUMERATOR.fullmatch(text))


def without_mark(text: str) -> tuple[str, str]:
    """A text and the footnote mark at its end, '' where it has none; a lone mark is a text."""
    found = _LAST_MARK.fullmatch(text)
    return (found["body"], found["mark"]) if found else (text, "")


def is_scale(text: str) -> bool:
    """True where a text is nothing but the scale of a table: "(in millions)"."""
    is_whole = len(text) <= 160 and text.count("(") == text.count(")")
    return is_whole and bool(_SCALE.fullmatch(text.strip()))


def scale_in(text: str) -> str:
    """The scale that a sentence or a title names in parentheses, '' where it names none."""
    if is_scale(text):
        return text.strip()
    found = _SCALE_INSIDE.findall(text)
    return str(found[-1]) if found else ""


def is_aside(text: str) -> bool:
    """True where a line of a header is about the whole table: "(Unaudited)"."""
    return bool(_ASIDE.fullmatch(text))


def is_unfinished_time(text: str) -> bool:
    """True where a text needs the years beside it: "Three Months Ended September 30,", "As of"."""
    return bool(_UNFINISHED_TIME.search(text))


def is_measure(text: str) -> bool:
    """True where a header is the unit of the numbers below it: "€m", "$'000", "%"."""
    return bool(_MEASURE.fullmatch(text))


def is_period(text: str) -> bool:
    """True where a header names a time ("Year ended", "June 30,") that columns beside it share."""
    return bool(_PERIOD.search(text))
