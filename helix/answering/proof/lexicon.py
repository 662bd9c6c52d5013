"""Words that deny, words that say the opposite of one another, and words that say how much."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from helix.language.word_lists import tables, word_lists

EXCEPTIONS = word_lists("words")["exceptions"]
NEGATIONS = word_lists("words")["negations"] | EXCEPTIONS
DENYING = NEGATIONS | word_lists("opposites")["denials"]
"""Negations, and verbs that deny what stands behind them."""

OPPOSITE: dict[str, frozenset[str]] = {}
for _pair in tables("opposites")["opposites"].split(";"):
    _left, _right = _pair.split("|")
    for _side, _other in ((_left, _right), (_right, _left)):
        for _word in _side.split():
            OPPOSITE[_word] = OPPOSITE.get(_word, frozenset()) | frozenset(_other.split())

_PREFIXED = re.compile(
    r"(?:un(?=[a-z]{5})(?!der|til|cle|ited|ion|iver|ique)|non(?=[a-z]{5})"
    r"|(?:in|im|ir|il|dis)(?=[a-z]{2,}(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z))([a-z]+)"
)
_ADJECTIVE = re.compile(r"[a-z]+(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z")

_QUANTITIES, _DUTIES = (
    {word: rank for rank, words in enumerate(tables("opposites")[key]) for word in words.split()}
    for key in ("quantities", "duties")
)
_ONLY, _LIMITING = (word_lists("opposites")[key] for key in ("only", "limiting"))
CONDITIONS = word_lists("opposites")["conditions"]


@lru_cache(maxsize=2**14)
def opposites(word: str) -> frozenset[str]:
    """Words that say the opposite of a word: those listed, and `unstable` of `stable`."""
    found = OPPOSITE.get(word, frozenset())
    if len(word) < 5:
        return found
    prefixed = _PREFIXED.match(word)
    more = [f"un{word}", f"non{word}"]
    if _ADJECTIVE.match(word):
        more += [f"{prefix}{word}" for prefix in ("in", "im", "ir", "il", "dis")]
    return found.union(more, (prefixed[1],) if prefixed else ())


def changes_claim(theirs: Sequence[str], ours: Sequence[str], claim: Sequence[str]) -> bool:
    """True if ``ours`` in the place of ``theirs`` makes a claim of more, or of another duty.

    ``claim`` are all words around ``ours``.
    """
    if not _ONLY.isdisjoint(theirs) and _LIMITING.isdisjoint(claim):
        return True
    if not _ONLY.isdisjoint(ours) and _LIMITING.isdisjoint(theirs):
        return True
    many, said = _ranks(ours, _QUANTITIES), _ranks(theirs, _QUANTITIES)
    duty, told = _ranks(ours, _DUTIES), _ranks(theirs, _DUTIES)
    if many and said and (max(many) > max(said) or (0 in many and 0 not in said)):
        return True
    if duty and told:
        return max(duty) != max(told)
    return bool(told) and max(told) == 0 and _DUTIES.keys().isdisjoint(claim)


def _ranks(words: Sequence[str], ranks: Mapping[str, int]) -> list[int]:
    return [ranks[word] for word in words if word in ranks]
