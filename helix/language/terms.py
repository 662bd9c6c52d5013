"""The terms of BM25: what a text is found by, the same for stored text and for questions.

Words are stemmed by the Snowball stemmer of their text's language, and its function words dropped;
text of a language without a stemmer keeps every word as it is. Numbers and identifiers are terms
whole (``§3``, ``404b``, ``foo_bar``, ``a.1.2``), and so are the parts of a compound, so that either
way of asking finds it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from snowballstemmer import stemmer

from helix.language.identification import ENGLISH, OTHERS, SIMPLE, told_language
from helix.language.word_lists import word_lists
from helix.language.words import folded_tokens, words, words_of_folded

STOP_WORDS = word_lists("words")["english_stop_words"]
"""Snowball's own list for English."""
_OTHER_STOP_WORDS = word_lists("stop_words")
"""Its lists for other languages, by the name of the stemmer."""

_ENGLISH_SHARE = 0.12
"""Least share of function words in English prose, which has about a third; German has hardly any of
them. Texts in between are lists and tables, which lose little without stems."""
_SURELY_ENGLISH = 0.25
"""From this share on nothing else is asked; Portuguese and Dutch share a tenth of the words."""
_SURELY_ASKED = 0.4
"""The same of a question or another short text."""
_FEW = 30
"""Words of a text that are too few to count its function words."""
_FEWEST = 5
"""Words of a text that are too few to tell its language by anything: a name, a title."""
_SAMPLE_CHARS = 20_000

# from the beginning of a word alone: a run of a million letters would be tried from each of them
_COMPOUND = re.compile(r"(?<![^\W_])[^\W_]++(?>(?:[-_./:#]++[^\W_]++)+)")
_LONGEST_COMPOUND = 80
_OF_IDENTIFIERS = re.compile(r"[\d_]")
_stemming = threading.Lock()


def language_of(text: str) -> str:
    """The language whose stemmer is a text's, by Snowball's name, or ``simple`` for none.

    English is told by the share of function words at the text's beginning, any other language by
    ``told_language``. A text of few words, such as a list of names, counts as English where that
    is not sure.
    """
    return _language_of(text[:_SAMPLE_CHARS])


@lru_cache(maxsize=64)  # a document and a question are asked for in several places
def _language_of(sample: str) -> str:
    count, functions = _functions_in(sample)
    share = functions / max(count, 1)
    if count < _FEWEST or share >= (_SURELY_ENGLISH if count >= _FEW else _SURELY_ASKED):
        return ENGLISH
    told = told_language(sample)
    if told and told != ENGLISH:
        return told
    return ENGLISH if count < _FEW or share >= _ENGLISH_SHARE else SIMPLE


def _functions_in(sample: str) -> tuple[int, int]:
    tokens = folded_tokens(sample)
    if tokens is None:
        return _count_functions(words(sample))
    count = functions = 0
    for token, times in Counter(tokens).items():
        its_count, its_functions = _counted(token)
        count += times * its_count
        functions += times * its_functions
    return count, functions


def _count_functions(found: Sequence[str]) -> tuple[int, int]:
    """The number of words, and how many of them are function words of English."""
    return len(found), sum(word in STOP_WORDS for word in found)


@lru_cache(maxsize=2**16)
def _counted(token: str) -> tuple[int, int]:
    """``_count_functions`` of a token's words: most tokens of a text were in the texts before."""
    return _count_functions(words_of_folded(token))


def terms(text: str, language: str = ENGLISH) -> list[str]:
    """The terms of a text in ``language``, as ``language_of`` names it, repeats included."""
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

    A word counts as English text has it and as it stands. Function words are left out: those of
    English, and of the language that the question is told to be in.
    """
    plain = _plain_words(question)
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(map(_stem, plain)))}
    return stems | {word: stems[_stem(word)] for word in plain if word not in stems}


def forms_elsewhere(question: str) -> Iterator[tuple[str, int, str]]:
    """Further terms that the question may match, each with its word's number and its language.

    The numbers are those of ``question_words``, whose terms are left out. Two languages may have
    the same term, which has one number.
    """
    own = question_words(question)
    numbers: dict[str, int] = {}
    for word in filter(_has_stem, dict.fromkeys(_plain_words(question))):
        for language, term in zip(OTHERS, _stems_elsewhere(word), strict=True):
            if not term or term in own:
                continue
            if numbers.setdefault(term, own[word]) == own[word]:
                yield term, own[word], language


def _plain_words(question: str) -> list[str]:
    found = terms(question, SIMPLE)
    others = _OTHER_STOP_WORDS.get(language_of(question), frozenset())
    # `When did Otto von Bismarck die?` is told to be German
    if sum(word in others for word in found) <= sum(word in STOP_WORDS for word in found):
        others = frozenset()
    return [word for word in found if word not in STOP_WORDS and word not in others]


def _bare(found: list[str]) -> list[str]:
    return [word[:-2] if word.endswith("'s") else word for word in found]


def _forms(found: Iterable[str], language: str) -> list[str]:
    """The forms in which words are stored and looked up."""
    if language == ENGLISH:
        return [_stem(word) for word in found if word not in STOP_WORDS]
    if language not in OTHERS:
        return list(found)
    functions = _OTHER_STOP_WORDS.get(language, frozenset())
    return [
        _stem(word, language) if _has_stem(word) else word
        for word in found
        if word not in functions
    ]


def _has_stem(word: str) -> bool:
    """True of what a stemmer of another language may change: no number, no pair of ideographs."""
    return word[:1].isalpha() and word < "\u0e00"


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


@lru_cache(maxsize=2**12)
def _stems_elsewhere(word: str) -> tuple[str | None, ...]:
    """The word's stem in each of ``OTHERS``, None where it is a function word.

    Languages that agree share the string: this is kept of every question's words.
    """
    stems = {word: word}
    return tuple(
        None
        if word in _OTHER_STOP_WORDS.get(language, ())
        else stems.setdefault(term := _look_up_stem(word, language), term)
        for language in OTHERS
    )


@lru_cache(maxsize=2**17)
def _stem(word: str, language: str = ENGLISH) -> str:
    return _look_up_stem(word, language)


def _look_up_stem(word: str, language: str) -> str:
    with _stemming:  # a stemmer keeps the word that it works on
        return str(_stemmer(language).stemWord(word)) or word


@cache
def _stemmer(language: str) -> Any:
    """Snowball's stemmer, without its own memory of 10,000 words: ``_stem`` has one."""
    found = stemmer(language)
    if hasattr(found, "maxCacheSize"):  # the C one; Snowball's Python has none
        found.maxCacheSize = 0
    return found
