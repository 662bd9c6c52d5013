"""Completion of a short turn by what its speaker left out, from the questions before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helix.domain.history import History
from helix.domain.noun_phrases import definite, early_pronoun, pointed
from helix.domain.question_analysis import STOP_WORDS, read_question
from helix.language.periods import Period, periods
from helix.language.rates import ADVERBS, RATE, RHYTHM
from helix.language.word_lists import tables, word_lists
from helix.language.words import words

FEW_WORDS = 3
"""A turn of at most as many content words says too little alone."""
_MOST_LEFT = 5
_LISTS = word_lists("followups")
POINTING = _LISTS["pointing"]
_TEXTS = tables("followups")
_CONNECTED = re.compile(
    rf"\W*(?:{'|'.join(_TEXTS['connectives'].split())}|{_TEXTS['asking']})\b", re.IGNORECASE
)
_ELLIPSIS = re.compile(
    rf"\W*+(?:{_TEXTS['opening']}\b[\s,]*+)?(?:{_TEXTS['asking']}\b\s*+)?"
    rf"(?:(?P<place>{_TEXTS['place']})\s++)?(?P<article>the\s++)?(?P<rest>\S(?:.*?\w)?)"
    r"(?:\s+(?:then|instead|too))?\W*",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"(?<=\S\s)[A-ZÀ-Þ][\w&.'’-]*(?:\s+(?:(?:of|and|the|&)\s+)?[A-ZÀ-Þ][\w&'’-]*)*")
_ARTICLE = re.compile(r"\bthe\s+\Z", re.IGNORECASE)
_AMOUNT = re.compile(r"\bhow (?:much|many)\b|\b(?:price|cost|fee|rent|salary|rate)s?\b", re.I)
_POSSESSIVE = re.compile(r"['’]s\Z")
_REPLY = re.compile(
    r"\W*+(?:i (?:mean|meant)\W++|(?:that|the one|the ones) (?=of|in|from|by))?"
    r"(?:(?:of|in|from|by|for|about)\s++)?(?P<thing>\w(?:[^?!.]*\w)?)\W*",
    re.IGNORECASE,
)


def depends(question: str) -> bool:
    """True if ``question`` points back, opens with a connective, or has few content words.

    Few are at most FEW_WORDS.
    """
    if points_back(question):
        return True
    return len({word for word in words(question) if word not in STOP_WORDS}) <= FEW_WORDS


def points_back(question: str) -> bool:
    """True where the question has a word that points back, or opens with a connective."""
    pointing = any(word in POINTING for word in words(question))
    return pointing or _CONNECTED.match(question) is not None


def in_full(question: str, asked: Sequence[str]) -> str:
    """``question`` with what its speaker left out, of the questions ``asked`` before it in order.

    `And in 2023?` takes the question before with its period changed, `What about Apple?` with its
    name changed, `And per month?` with `yearly` changed, `And for repairs?` with that behind it,
    `And standard shipping?` in place of `express shipping`. Otherwise it is unchanged: what a
    pronoun stands for is too often another name.
    """
    before = ""
    for text in (*asked, question):
        before = _completed(text, before)
    return before


def in_reply(question: str, history: History) -> str | None:
    """The question before, with the thing that ``question`` names put in for the one it left open.

    Only where that was refused: `James Dean` answers `Which actor do you mean?`.
    """
    found = _REPLY.fullmatch(question)
    if found is None or not history.turns or not history.turns[-1].abstained:
        return None
    thing, asked = found["thing"], history.turns[-1].question
    named = thing[0].isupper() or thing.split()[0].lower() in ("the", "a", "an")
    if not named or not _is_short(thing):
        return None
    if phrase := next(iter([*pointed(asked), *definite(asked)]), None):
        return f"{asked[: phrase.start]}{thing}{asked[phrase.end :]}"
    if pronoun := early_pronoun(asked):
        return _in_place_of(pronoun, thing, asked)
    return None


def _is_short(text: str) -> bool:
    """True if ``text`` is a thing's name, of few words, that says nothing about the thing."""
    found = words(text)
    return 0 < len(found) <= _MOST_LEFT and not (
        (STOP_WORDS | POINTING) - {"the", "a", "an", "of", "and", "our", "my"}
    ).intersection(found)


def _in_place_of(pronoun: str, thing: str, asked: str) -> str:
    owned = "'s" if pronoun in ("its", "their") else ""
    return re.sub(rf"\b{pronoun}\b", lambda _: f"{thing}{owned}", asked, count=1)


def _completed(question: str, before: str) -> str:
    if not before or not depends(question):
        return question
    return _moved(question, before) or question


def _moved(question: str, before: str) -> str | None:
    """The question before, of another period, rate, name or thing; None where none is asked."""
    left = _ELLIPSIS.fullmatch(question)
    if left is None or left["rest"] == question.strip(" ?!."):
        return None
    rest, asked, known = left["rest"], periods(left["rest"]), periods(before)
    if len(asked) == 1 and known and _is_all(asked[0], rest):
        head, tail = before[: known[-1].start], before[known[-1].end :]
        head = _ARTICLE.sub("", head) if rest[0].isdigit() or left["article"] else head
        return f"{head}{left['article'] or ''}{rest}{tail}"
    if RATE.fullmatch(rest) or RHYTHM.fullmatch(rest):
        return _of_rate(rest, before)
    if asked:
        return None
    if _NAME.fullmatch(f"a {rest}", 2) and (named := _of_name(rest, before)):
        return named
    return _of_thing(left, before)


def _of_rate(rest: str, before: str) -> str | None:
    """`per year` in place of `monthly` or `per month`, or behind a question of an amount."""
    rate = RATE.fullmatch(rest)
    if RATE.search(before) and rate:
        return RATE.sub(rest, before, count=1)
    if RHYTHM.search(before):
        adverb = ADVERBS[rate["unit"].lower()] if rate else rest.lower()
        return RHYTHM.sub(adverb, before, count=1)
    return _behind(before, rest) if _AMOUNT.search(before) else None


def _of_name(rest: str, before: str) -> str | None:
    names = list(_NAME.finditer(before))
    if names:
        last = names[-1]
        owned = _POSSESSIVE.search(last[0])
        return f"{before[: last.start()]}{rest}{owned[0] if owned else ''}{before[last.end() :]}"
    pronoun = early_pronoun(before)
    return _in_place_of(pronoun, rest, before) if pronoun in ("it", "its") else None


def _of_thing(left: re.Match[str], before: str) -> str | None:
    """Replace or add a thing: `for repairs` for `for …`; `standard shipping` for `express …`."""
    rest, place = left["rest"], left["place"]
    if not _is_short(rest):
        return None
    said = f"{left['article'] or ''}{rest}"
    if place:
        few_words = r"(?P<thing>[\w'’-]++(?:\s++[\w'’-]++){0,3})"
        same = re.search(rf"\b{place}\s+{few_words}\W*\Z", before, re.IGNORECASE)
        if same and _is_short(same["thing"]):
            return _behind(before[: same.start()], f"{place} {said}")
        return _behind(before, f"{place} {said}") if place.lower() != "of" else None
    *modifiers, head = rest.split()
    other = re.search(rf"(?<![\w-])(?P<kind>[\w-]++)\s+{re.escape(head)}\b", before, re.IGNORECASE)
    if modifiers and other and other["kind"].lower() not in STOP_WORDS:
        return f"{before[: other.start()]}{rest}{before[other.end() :]}"
    return None


def _behind(before: str, more: str) -> str:
    return f"{before.rstrip(' ?!.')} {more}?"


def _is_all(period: Period, text: str) -> bool:
    """True if ``text`` asks for nothing beside the period."""
    return not read_question(text[: period.start] + text[period.end :]).subject
