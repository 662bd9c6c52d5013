"""Analysis of a question: its terms, the kind of answer it expects, what it must not lack.

The word lists are English; a question in another language simply has no kind and no stop words,
and its terms weigh by how rare they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache

from helix.domain.input_text import judged
from helix.language.durations import without_periods
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.word_lists import tables, word_lists
from helix.language.words import words

_LISTS = word_lists("questions")
STOP_WORDS = _LISTS["stop_words"]
_SUFFIXES = ("ation", "ing", "ied", "ion", "ers", "er", "ed", "ly", "y", "e", "i")


def any_of(name: str) -> str:
    """The list ``name`` of questions.toml as the alternatives of one pattern, in its order."""
    return "|".join(tables("questions")[name].split())


class AnswerKind(Enum):
    """The kind of words that an answer must hold."""

    NUMBER = "number"
    TIME = "time"
    NAME = "name"
    OPEN = "open"


_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|far|old|large|big|tall|high|fast|soon|late|deep|wide|heavy)\b"
    r"|\b(?:what|which)(?: is| was| are| were)?(?: the| a)?(?: \w+)?"
    r" (?:number|percentage|percent|amount|size|rate|price|cost|fee|age|length|ratio|fraction"
    r"|proportion|total|limit|allowance|maximum|minimum)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^(?:(?!\b(?:how|why|who|what|which|where)\b).)*\bwhen\b"
    r"|\b(?:what|which)(?: \w+)? (?:year|date|day|month|century|decade|time)\b"
    r"|\bwhat(?: is| was)?(?: the| your| our)?(?: \w+){0,2} (?:period|window|deadline|duration)\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"^(?:(?!\b(?:how|why|what|which|when|where)\b).)*\b(?:who|whom|whose)\b", re.IGNORECASE
)
# `Don't you ship to Norway?` expects a yes: a contraction that opens the question denies nothing.
_NEGATED = re.compile(
    r"\b(?:not|never|no longer|without|cannot)\b|(?<!^)(?<=\s)\w+n['’]t\b", re.IGNORECASE
)
_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_STANDING_NUMBER = re.compile(r"(?<![\w-])\d(?:[\d.,]*\d)?(?![\w-])")
_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}
_SEVERAL = re.compile(
    r"^\W*(?:list|name (?:the|all|two|three)|which \w+s\b|what (?:are|were)\b"
    r"|what \w+s (?:are|were|do)\b|what (?:kinds|types|sorts) of)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\bhow many ((?:[\w'’-]+ ){0,3}?[\w'’-]+)"
    r"(?=\s*(?:\?|$|,| (?:is|are|was|were|did|do|does|has|have|had|can|could|may|must|should|will"
    r"|would|of|in|per|a|each|on|for|to|from|that|who|which|with|at|by|between|\w+ed)\b))",
    re.IGNORECASE,
)
_NEXT_PART = re.compile(
    r"(?:\?\s+|,?(?<!\s)\s++and\s+)(?=(?:to |from |by |at |in |for )?"
    r"(?:what|who|whom|when|where|why|which|how)\b)",
    re.IGNORECASE,
)
_LEADING_IN = re.compile(
    r"\b(?:in|for|during|as of|as at|at|on|of)\b(?: [\w-]+){0,5}? ?\Z", re.IGNORECASE
)
_POINTING = re.compile(r"\b(?:its|it|they|their|them|his|her|he|she)\b", re.IGNORECASE)
_DOCUMENT = re.compile(
    r"(?:[,;]? {0,3}\b(?:(?:as|according|stated|reported|disclosed|shown) ){0,3}"
    r"(?:in|from|of|per|by|to|for)\b *)?\b(?:(?:its|the|their|his|her|this|that|our) )?"
    r"(?:(?:latest|most recent|newest|last|current) )?(?:(?:quarterly|annual|yearly) )?"
    r"(?:(?:form )?\b10-[qk]\b(?: (?:report|filing))?|(?<=quarterly )(?:report|filing)\b"
    r"|(?<=annual )(?:report|filing)\b|(?<=latest |newest |recent )(?:report|filing)\b)",
    re.IGNORECASE,
)  # `in its latest 10-Q`: where to look, not what for
_TO_PAY = re.compile(
    r"\b(?P<before>(?:do|does|did|to|will|must|shall|should) (?:[\w.&'’-]+ ){0,4}?)"
    r"pay\b(?= (?:for|to|in|on|out|back|each|per|the|an?|its|their|any|as)\b)"
    r"|\b(?P<bare>(?:do|does|did|will|must|shall|should) (?:[\w.&'’-]+ ){1,2})pay(?=\W*$)",
    re.IGNORECASE,
)
"""`Did Acme pay for it` asks of no salary."""
_NO_SUBJECT = word_lists("tables")["of_time"] | word_lists("tables")["asking"]
_VALUE = re.compile(
    r"\b(?:what|which)(?:['’]s| is| was| were| are| did| does| has| had)\b|\bhow (?:much|many)\b"
    r"|\b(?:give|tell|show)(?: me)? the\b"
    r"|\b(?:what|which) (?:\w+ ){1,6}(?:is|was|were|are|did|had)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\bwhat (?:is|are|does)\b(?!.*\b(?:in|for|at|of|on|during|by|under) )|\bmeans?\b|\bmeaning\b"
    r"|\bdefin\w+|\bstands? for\b|\brefers? to\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class AskedQuestion:
    """A question, taken apart.

    ``names`` are the places in ``terms`` of its proper names, ``numbers`` the digits that stand
    alone in it: an answer's source must hold them all.
    """

    text: str
    terms: tuple[str, ...]
    names: tuple[int, ...]
    numbers: frozenset[str]
    kind: AnswerKind
    negated: bool
    asks_for_several: bool
    asks_for_value: bool = False
    is_definition: bool = False

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The periods that it names."""
        return tuple(periods(self.text))

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Meanings of the question's words, without those that ask or tell a period."""
        bare = without_periods(without_document(self.text))
        bare = _TO_PAY.sub(lambda found: found["before"] or found["bare"], bare)
        return tuple(word for word in dict.fromkeys(meanings(bare)) if word not in _NO_SUBJECT)

    @cached_property
    def named(self) -> frozenset[str]:
        """Meanings of the question's proper names, without months and single letters."""
        named = (self.terms[place] for place in self.names)
        found = {word for name in named if len(name) > 1 for word in meanings(name)}
        return frozenset(found).intersection(self.subject)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The thing that `how many` counts: `how many full-time employees`; empty without one."""
        found = _COUNTED.search(self.text)
        return frozenset(meanings(found[1])[-1:]) - _NO_SUBJECT if found else frozenset()


@text_cache(most_bytes=2 * MEBIBYTE, bytes_a_character=50)
def read_question(text: str) -> AskedQuestion:
    """Take a question apart, as it is judged; without a content word all words are its terms."""
    text = judged(text)
    kind = _kind(text)
    all_words = list(dict.fromkeys(words(without_document(text))))
    content = [word for word in all_words if word not in STOP_WORDS]
    if kind in (AnswerKind.NUMBER, AnswerKind.TIME):
        content = [word for word in content if word not in _LISTS["measured"]] or content
    terms = tuple(content or all_words)
    return AskedQuestion(
        text=text,
        terms=terms,
        names=tuple(_proper_names(text, terms)),
        numbers=frozenset(n.replace(",", "") for n in _STANDING_NUMBER.findall(text)),
        kind=kind,
        negated=bool(_NEGATED.search(text)),
        asks_for_several=bool(_SEVERAL.search(text)),
        asks_for_value=bool(_VALUE.search(text)),
        is_definition=bool(_DEFINITION.search(text)),
    )


def without_document(text: str) -> str:
    """A question without the words that name the report to look in; whole if it has no others."""
    bare = _DOCUMENT.sub(" ", text)
    return bare if any(word not in STOP_WORDS for word in words(bare)) else text


def parts_of(text: str) -> list[str]:
    """A question as the questions that it puts together, `When …, and how long …?` as two.

    A part without a period, or without a name, is asked of those of the whole.
    """
    text = judged(text)
    parts = [part.strip(" ,.;") for part in _NEXT_PART.split(text.strip())]
    whole = read_question(text)
    if len(parts) < 2 or not all(read_question(part).subject for part in parts):
        return [text]
    dated = [f"{_led_in(text[: one.start])}{text[one.start : one.end]}" for one in whole.periods]
    found = (word.removesuffix("'s") for word in words(text))
    names = [word for word in found if whole.named.intersection(meanings(word))]
    return [_complete(part, dated, names) for part in parts]


def _led_in(before: str) -> str:
    """The words that lead to a period, `in the quarter ended`, from the text in front of it."""
    found = _LEADING_IN.search(before)
    return found[0] if found else ""


def _complete(part: str, dated: Sequence[str], names: Sequence[str]) -> str:
    asked = read_question(part)
    more = [] if asked.periods else list(dated)
    if _POINTING.search(part) and not asked.named:
        more += [name.capitalize() for name in names]
    return " ".join([part.rstrip("? "), *more]) + "?"


def numbers_in(text: str) -> set[str]:
    """Every number of a text in digits, without thousands separators; small ones in words too."""
    found = {number.replace(",", "") for number in _DIGITS.findall(text)}
    return found | {_NUMBER_WORDS[word] for word in words(text) if word in _NUMBER_WORDS}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The word without its English ending, roughly; numbers, names and short words unchanged."""
    if len(word) < 4 or not word.isalpha():
        return word
    if word == "found":  # not what was founded
        return "find"
    word = word[:-3] + "y" if word.endswith("ies") else word
    word = word[:-1] if word.endswith("s") and not word.endswith("ss") else word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 4:
            return word[: -len(suffix)]
    return word


def _kind(text: str) -> AnswerKind:
    for pattern, kind in (
        (_TIME, AnswerKind.TIME),
        (_NUMBER, AnswerKind.NUMBER),
        (_NAME, AnswerKind.NAME),
    ):
        if pattern.search(text):
            return kind
    return AnswerKind.OPEN


def _proper_names(text: str, terms: Sequence[str]) -> list[int]:
    """Terms written with a capital where no sentence begins, unless the whole text shouts."""
    if text.isupper():
        return []
    inner = text.lstrip()[1:]
    found = set(words(" ".join(re.findall(r"\b[^\W\d_a-z][\w'’-]*", inner))))
    return [place for place, term in enumerate(terms) if term in found and term[0].isalpha()]
