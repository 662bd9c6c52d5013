"""Whether a sentence tells of the measure that a question asks for: revenue, a margin, a cost."""

from __future__ import annotations

import re
from collections.abc import Iterator

from helix.domain.asked import STOP_WORDS, AskedQuestion, any_of
from helix.language.paraphrases import meaning, meanings
from helix.language.rows import BESIDE
from helix.language.word_lists import word_lists
from helix.providers.offline.explanations import Explanation, wanted
from helix.providers.offline.figures import measures_of, tells_money

_LISTS = word_lists("questions")
_WHOLE = _LISTS["whole"]
_TOLD_BARE = _LISTS["stated_bare"]
_QUALIFYING = word_lists("tables")["qualifying"]
_WORD = re.compile(r"[A-Za-z][\w&’'-]*")
_ASPECT = re.compile(
    rf"\b({any_of('aspects')}) (?:on|of|in|to)"
    r" (?:(?:our|the|its|their|total|net|gross|issued) )*\Z",
    re.IGNORECASE,
)
_POINTING = re.compile(r"(?:it|this|that|these|those|they|of (?:this|that|these))\b", re.IGNORECASE)
_PASSED = frozenset(("total", "net", "gross"))
"""`Cloud gross margin` is narrower than the gross margin: the word before these narrows."""
_PASSED_ONLY = re.compile(r" (?:(?:total|net|gross) )*", re.IGNORECASE)
_OF_OTHERS = re.compile(
    r"\b(?:income|loss|earnings|profit)\W+(?:\(loss\) )?attributable to (?:the )?"
    r"(?:non-?controlling|minority)",
    re.IGNORECASE,
)
_REACH = 60  # characters in front of a measure in which its aspect is named


def tells_measure(question: AskedQuestion, text: str, before: str, company: frozenset[str]) -> bool:
    """Whether a sentence, or else the one ``before`` it, tells of the measure that is asked for.

    True where none is asked for. `Services revenue` is narrower than revenue, and `the effect on
    revenue` is something else.

    Args:
        company: what the words of the document's company mean: its name makes nothing narrower.
    """
    measures = measures_of(question)
    if wanted(question) is not Explanation.CAUSE:
        is_stated_bare = BESIDE not in text or tells_money(text)  # other rows name their measure
        bare = _TOLD_BARE if is_stated_bare else frozenset[str]()
        measures = measures - bare if question.asks_for_value else frozenset()
    if not measures:
        return True
    if _OF_OTHERS.search(text) and not _OF_OTHERS.search(question.text):
        return False
    if measures.isdisjoint(meanings(text)):
        return points_back(text) and not measures.isdisjoint(meanings(before))
    allowed = company | frozenset(meanings(question.text)) | _WHOLE
    others = list(_others(text, measures, allowed))
    return not others or not all(others)


def points_back(text: str) -> bool:
    """Whether a sentence begins with a word that stands for what the one before it names."""
    return bool(_POINTING.match(text))


def _others(text: str, measures: frozenset[str], allowed: frozenset[str]) -> Iterator[bool]:
    """For each time that a text names a measure in one word, whether it is another measure."""
    previous: re.Match[str] | None = None
    for word in _WORD.finditer(text):
        if meaning(word[0].lower()) in measures:
            aspect = _ASPECT.search(text[max(0, word.start() - _REACH) : word.start()])
            is_aspect = aspect is not None and meaning(aspect[1].lower()) not in allowed
            yield _narrows(text, previous, word, allowed) or is_aspect
        if meaning(word[0].lower()) not in _PASSED or not _are_beside(text, previous, word):
            previous = word


def _are_beside(text: str, one: re.Match[str] | None, other: re.Match[str]) -> bool:
    return one is not None and text[one.end() : other.start()] == " "


def _narrows(
    text: str, previous: re.Match[str] | None, word: re.Match[str], allowed: frozenset[str]
) -> bool:
    """Whether the word in front of a measure, with a capital as names have, narrows it."""
    if previous is None or not _PASSED_ONLY.fullmatch(text[previous.end() : word.start()]):
        return False
    bare = previous[0].lower().removesuffix("'s").removesuffix("’s")
    is_name = any(map(str.isupper, previous[0]))
    is_first = not text[: previous.start()].strip()
    if (bare in STOP_WORDS and (is_first or not is_name)) or meaning(bare) in allowed:
        return False
    return is_name or meaning(bare) in _QUALIFYING
