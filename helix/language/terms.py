"""The terms of BM25: what a text is found by, the same for stored text and for questions.

English words are stemmed and its function words dropped; text that is not English keeps every word
as it is. Numbers and identifiers are terms whole (``§3``, ``404b``, ``foo_bar``, ``a.1.2``), and so
are the parts of a compound, so that either way of asking finds it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from snowballstemmer import stemmer

from helix.language.word_lists import word_lists
from helix.language.words import folded_tokens, words, words_of_folded

ENGLISH = "english"
SIMPLE = "simple"

STOP_WORDS = word_lists("words")["english_stop_words"]
"""Snowball's own list for English."""

_ENGLISH_SHARE = 0.12
"""Least share of function words in English prose, which has about a third; German has hardly any of
them. Texts in between are lists and tables, which lose little without stems."""
_SAMPLE_CHARS = 20_000

# from the beginning of a word alone: a run of a million letters would be tried from each of them
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?>(?:[-_./:#]++[^\W_]++)+)")
_LONGEST_COMPOUND = 80
_OF_IDENTIFIERS = re.compile(r"[\d_]")
_stemmer = stemmer(ENGLISH)
_stemming = threading.Lock()


def language_of(text: str) -> str:
    """``english`` or ``simple``, by the share of function words at the text's beginning.

    A text of few words, such as a list of names, counts as English, which is the default.
    """
    return _language_of(text[:_SAMPLE_CHARS])


@lru_cache(maxsize=64)  # a document is asked for where its terms are made, and where it is written
def _language_of(sample: str) -> str:
    tokens = folded_tokens(sample)
    if tokens is None:
        count, functions = _count_functions(words(sample))
    else:
        count = functions = 0
        for token, times in Counter(tokens).items():
            its_count, its_functions = _counted(token)
            count += times * its_count
            functions += times * its_functions
    if count < 30:  # too few to tell
        return ENGLISH
    return ENGLISH if functions / count >= _ENGLISH_SHARE else SIMPLE


def _count_functions(found: Sequence[str]) -> tuple[int, int]:
    """The number of words, and how many of them are function words of English."""
    return len(found), sum(word in STOP_WORDS for word in found)


@lru_cache(maxsize=2**16)
def _counted(token: str) -> tuple[int, int]:
    """``_count_functions`` of a token's words: most tokens of a text were in the texts before."""
    return _count_functions(words_of_folded(token))


def terms(text: str, language: str = ENGLISH) -> list[str]:
    """The terms of a text in ``language`` (``english`` or ``simple``), repeats included."""
    if text.isascii() and text.isalnum():  # one word, as most texts are that this is asked of
        return _forms((text.lower(),), language)
    found = _bare(words(text))
    known = set(found)
    found += _parts(found)
    found += [whole for whole in _wholes(text.casefold()) if whole not in known]
    return _forms(found, language)


def term_counts(text: str, language: str = ENGLISH) -> dict[str, int]:
    """The count of each of ``terms``, in the order in which they come first.

    Several times as quick as counting them, for what most of a text consists of is known from the
    texts before.
    """
    tokens = folded_tokens(text)
    if tokens is None:
        return Counter(terms(text, language))
    counts: dict[str, int] = {}
    named: list[tuple[_Names, int]] = []
    for token, times in Counter(tokens).items():
        forms, names = _read(token, language) if len(token) < _LONG else _look(token, language)
        for term in forms:
            counts[term] = counts.get(term, 0) + times
        if names:
            named.append((names, times))
    if named:
        _count_names(counts, named, language)
    return counts


class _Names(NamedTuple):
    """Terms that compounds add: ``words`` that may be one, their ``parts``, and each as a whole."""

    words: Sequence[str]
    parts: Sequence[str]
    wholes: Sequence[str]


def _look(token: str, language: str) -> tuple[Sequence[str], _Names | None]:
    """The terms of a token's words, and what its compounds add to them."""
    if token.isalnum() and token.isascii():  # most are, and one word
        return tuple(_forms((token,), language)), None
    found = _bare(words_of_folded(token))
    forms = tuple(_forms(found, language))
    if not _OF_IDENTIFIERS.search(token):
        return forms, None
    named = tuple(word for word in found if "-" in word or "." in word)
    # tuples, for the garbage collector goes over what is remembered, and leaves these out
    names = _Names(named, tuple(_forms(_parts(found), language)), tuple(_wholes(token)))
    return forms, names if any(names) else None


_read = lru_cache(maxsize=2**16)(_look)
_LONG = 40
"""Characters of a token that hardly comes again."""


def _count_names(
    counts: dict[str, int], named: Iterable[tuple[_Names, int]], language: str
) -> None:
    """Add the parts of compounds, and the compounds that are not words of the text already."""
    known = {word for names, _ in named for word in names.words}
    for names, times in named:
        for part in names.parts:
            counts[part] = counts.get(part, 0) + times
    for names, times in named:
        for whole in _forms([whole for whole in names.wholes if whole not in known], language):
            counts[whole] = counts.get(whole, 0) + times


def question_words(question: str) -> dict[str, int]:
    """The distinct terms that a question may match, each with the number of its word.

    A word counts as English text has it and as any other. Function words are left out.
    """
    plain = [word for word in terms(question, SIMPLE) if word not in STOP_WORDS]
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(map(_stem, plain)))}
    return stems | {word: stems[_stem(word)] for word in plain if word not in stems}


def _bare(found: list[str]) -> list[str]:
    return [word[:-2] if word.endswith("'s") else word for word in found]


def _forms(found: Iterable[str], language: str) -> list[str]:
    """The forms in which words are stored and looked up."""
    if language != ENGLISH:
        return list(found)
    return [_stem(word) for word in found if word not in STOP_WORDS]


def _parts(found: Iterable[str]) -> list[str]:
    """The parts of what ``words`` leaves whole."""
    return [part for word in found if "-" in word for part in word.split("-")]


def _wholes(folded: str) -> list[str]:
    """Compounds as wholes: those that ``words`` takes apart, and some that it does not."""
    found = (match[0] for match in _COMPOUND.finditer(folded))
    return [
        whole
        for whole in found
        if len(whole) <= _LONGEST_COMPOUND and _OF_IDENTIFIERS.search(whole)
    ]


@lru_cache(maxsize=2**17)
def _stem(word: str) -> str:
    with _stemming:  # the stemmer keeps the word that it works on
        return str(_stemmer.stemWord(word))
