"""The terms of BM25: what a text is found by, the same for stored text and for questions.

English words are stemmed and its function words dropped; text that is not English keeps every word
as it is. Numbers and identifiers are terms whole (``§3``, ``404b``, ``foo_bar``, ``a.1.2``), and so
are the parts of a compound, so that either way of asking finds it.
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache

from snowballstemmer import stemmer

from helix.text import words

ENGLISH = "english"
SIMPLE = "simple"

# Snowball's own list for English.
STOP_WORDS = frozenset(
    "i me my myself we our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself it its itself they them their theirs themselves what which who whom this "
    "that these those am is are was were be been being have has had having do does did doing a an "
    "the and but if or because as until while of at by for with about against between into through "
    "during before after above below to from up down in out on off over under again further then "
    "once here there when where why how all any both each few more most other some such no nor not "
    "only own same so than too very s t can will just don should now".split()
)

_ENGLISH_SHARE = 0.12
"""Least share of function words in English prose, which has about a third; German has hardly any of
them. Texts in between are lists and tables, which lose little without stems."""
_SAMPLE_CHARS = 20_000

_COMPOUND = re.compile(r"[^\W_]++(?:[-_./:#]++[^\W_]++)++")
_LONGEST_COMPOUND = 80
_OF_IDENTIFIERS = re.compile(r"[\d_]")
_stemmer = stemmer(ENGLISH)
_stemming = threading.Lock()


def language_of(text: str) -> str:
    """``english`` or ``simple``, by the share of function words at the text's beginning.

    A text of few words, such as a list of names, counts as English, which is the default.
    """
    found = words(text[:_SAMPLE_CHARS])
    if len(found) < 30:  # too few to tell
        return ENGLISH
    share = sum(word in STOP_WORDS for word in found) / len(found)
    return ENGLISH if share >= _ENGLISH_SHARE else SIMPLE


def terms(text: str, language: str = ENGLISH) -> list[str]:
    """The terms of a text in ``language`` (``english`` or ``simple``), repeats included."""
    found = words(text)
    if "'" in text or "’" in text:
        found = [_bare(word) for word in found]
    found += _compounds(text, found)
    if language != ENGLISH:
        return found
    return [_stem(word) for word in found if word not in STOP_WORDS]


def question_terms(question: str) -> list[str]:
    """The distinct terms that a question may match, as English text has them and as any other.

    Function words are left out.
    """
    return list(question_words(question))


def question_words(question: str) -> dict[str, int]:
    """``question_terms``, each with the number of the word that it is a form of."""
    plain = [word for word in terms(question, SIMPLE) if word not in STOP_WORDS]
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(map(_stem, plain)))}
    return stems | {word: stems[_stem(word)] for word in plain if word not in stems}


def _bare(word: str) -> str:
    return word[:-2] if word.endswith("'s") else word


def _compounds(text: str, found: list[str]) -> list[str]:
    """What ``words`` takes apart, whole, and the parts of what it leaves whole."""
    known = set(found)
    more = [part for word in found if "-" in word for part in word.split("-")]
    for match in _COMPOUND.finditer(text.casefold()):
        whole = match[0]
        if len(whole) <= _LONGEST_COMPOUND and _OF_IDENTIFIERS.search(whole):
            more += [whole] if whole not in known else []
    return more


@lru_cache(maxsize=2**17)
def _stem(word: str) -> str:
    with _stemming:  # the stemmer keeps the word that it works on
        return str(_stemmer.stemWord(word))
