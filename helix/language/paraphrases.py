"""Rough meanings of words: stems, with one for all that say the same (`net sales`, `revenue`)."""

from __future__ import annotations

import re
from functools import lru_cache

from helix.language.terms import STOP_WORDS, terms
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.word_lists import tables
from helix.language.words import words


def _groups(name: str) -> list[list[str]]:
    lines = tables("paraphrases")[name].strip().splitlines()
    return [[phrase.strip() for phrase in line.split(";")] for line in lines]


_GROUPS = _groups("groups")
_REPHRASED = {phrase: group for group in _groups("rephrased") for phrase in group}
_MAY_REPHRASE = re.compile(
    rf"\b(?:{'|'.join(sorted(map(re.escape, _REPHRASED), key=len, reverse=True))})\b",
    re.IGNORECASE,
)


def _stem(word: str) -> str:
    return next(iter(terms(word)), word)


def _key(phrase: str) -> str:
    return "_".join(map(_stem, words(phrase)))


_OF_WORD = {_stem(p): _key(group[0]) for group in _GROUPS for p in group if p.isalpha()}
_OF_PHRASE = {
    " ".join(words(phrase)): _key(group[0])
    for group in _GROUPS
    for phrase in group
    if not phrase.isalpha()
}
_PHRASE = re.compile(
    r"(?<!\w)(?:"
    + "|".join(
        re.escape(phrase).replace(r"\ ", r"\W+(?:and\W+)?")
        for phrase in sorted({p for g in _GROUPS for p in g if not p.isalpha()}, key=len)[::-1]
    )
    + r")(?!\w)",
    re.IGNORECASE,
)


def rephrasings(text: str) -> list[str]:
    """``text`` with another name for a figure that it names, one name a text; none without one."""
    found = _MAY_REPHRASE.search(text)
    if not found:
        return []
    said = found[0].lower()
    others = (phrase for phrase in _REPHRASED.get(said, ()) if phrase != said)
    return [f"{text[: found.start()]}{other}{text[found.end() :]}" for other in others]


@lru_cache(maxsize=2**16)
def meaning(word: str) -> str:
    """The stem of a word, or the one that stands for all of its group."""
    found = "find" if word == "found" else _stem(word)  # not what was founded
    return _OF_WORD.get(found, found)


@text_cache(most_bytes=32 * MEBIBYTE, bytes_a_character=8)
def meanings(text: str) -> tuple[str, ...]:
    """Meanings of the words of a text, in their order, without its function words.

    `Net sales of Macs` and `Mac revenue` have the same two. Numbers are meanings as they stand.
    """
    found: list[str] = []
    text, at = text.replace("’", "'"), 0
    for phrase in _PHRASE.finditer(text):
        found += _of_words(text[at : phrase.start()])
        found.append(_OF_PHRASE.get(" ".join(words(phrase[0])), _key(phrase[0])))
        at = phrase.end()
    return tuple(found + _of_words(text[at:]))


def _of_words(text: str) -> list[str]:
    bare = (word.removesuffix("'s") for word in words(text))
    return [meaning(word) for word in bare if word not in STOP_WORDS]
