"""Words that deny, words that say the opposite of one another, and words that say the same."""

from __future__ import annotations

import re
from functools import lru_cache

from helix.language.terms import terms
from helix.language.word_lists import expression, tables, word_lists

EXCEPTIONS = word_lists("words")["exceptions"]
NEGATIONS = word_lists("words")["negations"] | EXCEPTIONS

DENYING = re.compile(f"(?:{expression('opposites', 'denying')})")
"""Words that deny as `not` does, for texts that say the same in other words."""

STRONG_DENIAL = re.compile(rf"(?:{expression('opposites', 'strong_denial')})\Z")
"""Words that deny what stands next to them: a statement that leaves them out says the opposite."""

DENYING_PARTICIPLE = re.compile(rf"(?:{expression('opposites', 'denying_participle')})\Z")
"""Of these the ones that may stand behind what they deny."""

_OPPOSITES: list[list[str]] = tables("opposites")["opposites"]
OPPOSITE: dict[str, frozenset[str]] = {}
for _pair in _OPPOSITES:
    for _side, _other in (_pair, _pair[::-1]):
        for _word in _side.split():
            OPPOSITE[_word] = OPPOSITE.get(_word, frozenset()) | frozenset(_other.split())

CONTRAST = {word: kind for kind in tables("opposites")["contrasts"] for word in kind.split()}
"""Words of one kind, of which each rules the others out where one stands in another's place."""

SYNONYM: dict[str, str] = {}
"""A stem that stands for all stems of its group, such as `increas` for `rise` and `grow`."""
for _group in tables("opposites")["synonyms"]:
    _stems = list(dict.fromkeys(stem for word in _group.split() for stem in terms(word)))
    SYNONYM |= {stem: SYNONYM.get(_stems[0], _stems[0]) for stem in _stems if stem not in SYNONYM}

_PREFIXED = re.compile(
    r"(?:un(?=[a-z]{5})(?!der|til|cle|ited|ion|iver|ique)|non(?=[a-z]{5})"
    r"|(?:in|im|ir|il|dis)(?=[a-z]{2,}(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z))([a-z]+)"
)
_ADJECTIVE = re.compile(r"[a-z]+(?:ive|ible|able|ent|ete|ect|al|ate|ar)\Z")


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
