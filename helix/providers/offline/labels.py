"""The label of a table's row beside a question: whether the row is of what is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from helix.language.durations import without_periods
from helix.language.paraphrases import meaning, meanings
from helix.language.rows import TableRow
from helix.language.word_lists import word_lists
from helix.language.words import words

_LISTS = word_lists("tables")
_GENERIC = _LISTS["generic"]
_OF_TIME = _LISTS["of_time"]
_PARENTHESES = re.compile(r"\([^()]{0,40}\)")
_OR_LOSS = re.compile(
    r"\b(income|earnings|profit|gains?|surplus|increase) \((loss(?:es)?|deficit|decrease)\)",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(r"(?:total )?other\b", re.IGNORECASE)
"""Beginning of a label whose row is the rest of its group, and nothing that the group names."""
_OTHER = re.compile(r"\bother\b", re.IGNORECASE)
_NET_OF = re.compile(
    r"(?:,|\s\(|\s[-–—])?\s{0,9}\b(?:net of|excluding|exclusive of)\b.*", re.IGNORECASE
)
"""`Receivables, net of allowances` is of receivables, not of allowances."""
_ASKS_PAID = re.compile(r"\b(?:pay|paid|spend|spent)\b", re.IGNORECASE)
_PAID_FOR = re.compile(
    r"\W*(?:payments?|purchases?|cash paid) (?:for|of) (?:the )?"
    r"(?:(?:acquisitions?|purchases?) of )?",
    re.IGNORECASE,
)
"""`Payments for acquisition of plants` is what was spent on plants; `Plants` is what they are."""
_PAID = 0.1  # what a label gains that says so
_LEAVES_OUT = re.compile(r"\b(?:before|excluding|without)\b(.*)", re.IGNORECASE)
"""`Profit before tax` asks for no tax."""
_PART_OF = re.compile(r"(?:includ|exclud)(?:es|ing|ed)\b|of which\b", re.IGNORECASE)
"""Beginning of a group whose rows are parts of others: `Includes stock-based compensation of`."""
_ENOUGH = 0.65
"""Share of a row's label that the question has to have: `Mac` is not asked for by `iPhone`."""
_UNLABELLED = 0.5  # the score of a row without a label, or of generic words alone
_VERBATIM = 0.03  # for each word of a label that stands in the question as it is


@dataclass(frozen=True)
class LabelMatch:
    """A row's label that may be what a question asks for.

    ``meanings`` are those of its words; ``score`` is from 0.5 to about 1.3. ``is_loss`` is whether
    only a negative value is asked for, as by `net loss` of `Net income (loss)`.
    """

    meanings: frozenset[str]
    score: float
    is_loss: bool


def label_match(
    asked: str, subject: Sequence[str], company: frozenset[str] | set[str], row: TableRow
) -> LabelMatch | None:
    """The match of a row's label with the question ``asked``; None: the row is of something else.

    Args:
        subject: what the words of the question mean.
        company: the words of the name of the company whose document it is.
    """
    read, is_loss = _reading(without_periods(row.label), subject)
    if not _NET_OF.search(asked):
        read = _NET_OF.sub(" ", read)
    paid = _PAID_FOR.match(read) if _ASKS_PAID.search(asked) else None
    bare = _PARENTHESES.sub(" ", read[paid.end() :] if paid else read)
    label = [word for word in meanings(bare) if word not in _OF_TIME | company]
    if _is_of_another(asked, label, row):
        return None
    first_item = frozenset(meanings(bare.partition(",")[0])) if "," in bare else None
    share = _share(label, subject, first_item) if label else _UNLABELLED
    if share is None or (label and share < _ENOUGH):
        return None
    share += _verbatim(asked, row.label) + (_PAID if paid else 0)
    return LabelMatch(frozenset(label), share, is_loss)


def _is_of_another(asked: str, label: Sequence[str], row: TableRow) -> bool:
    """True if a row is the rest or a part of what is asked for, or what the question leaves out."""
    if _LEFT_OVER.match(row.label) and not _OTHER.search(asked):
        return True
    if any(map(_PART_OF.match, row.path[:-1])) and not _PART_OF.search(asked):
        return True
    without = _LEAVES_OUT.search(asked)
    left_out = frozenset(meanings(without[1]) if without else ())
    return bool(label) and left_out.issuperset(label) and not _LEAVES_OUT.search(row.label)


def _reading(label: str, subject: Sequence[str]) -> tuple[str, bool]:
    """`Net loss` of `Net income (loss)` where a loss is asked for, and whether it is read so."""
    for found in _OR_LOSS.finditer(label):
        if meaning(found[2].lower()) in subject and meaning(found[1].lower()) not in subject:
            return f"{label[: found.start()]}{found[2]}{label[found.end() :]}", True
    return label, False


def _share(
    label: Sequence[str], subject: Sequence[str], first_item: frozenset[str] | None
) -> float | None:
    """The share of a label's words that the question has, generic ones aside; None: none of them.

    The first item of a list, such as `Wearables, Home and Accessories`, may stand for all, where
    the question names no other of them.
    """
    own = list(dict.fromkeys(word for word in label if word not in _GENERIC))
    if not own:  # `Total`: its group or its caption says of what
        return 1.0
    met = [word for word in own if word in subject]
    if first_item and met and first_item.issuperset(met) and first_item.issubset(subject):
        return max(len(met) / len(own), _ENOUGH)
    return len(met) / len(own) if met else None


def _verbatim(asked: str, label: str) -> float:
    """The gain in share of a label whose words stand in the question as they are."""
    own = words(label)
    return _VERBATIM * len(own) * (f" {' '.join(own)} " in f" {' '.join(words(asked))} ")
