"""A question taken apart: what it is about, its proper names, its periods. Pure.

Questions about the library, or about nothing, are told by their words alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from helix.domain.input_text import judged
from helix.language.paraphrases import meanings
from helix.language.periods import Period, periods, without_periods
from helix.language.text_cache import MEBIBYTE, text_cache
from helix.language.word_lists import tables
from helix.language.words import words

_CAPITAL = re.compile(r"(?<!^)\b[^\W\d_a-z][\w'’-]+")
_DIGITS = re.compile(r"\d(?:[\d.,]*\d)?")
_NUMBER_WORDS = {
    word: value
    for value, *named in (one.split() for one in tables("numbers")["cardinals"].split(";"))
    for word in named
    if int(value) <= 12
}
_TO_WHOM = (
    r"(?:,? (?:there|helix|everyone|all|again|very much|a lot|so much|for (?:the|your) help))?"
)
_HELLO = r"(?:hi|hello|hey|hallo|good (?:morning|afternoon|evening|day)|greetings)"
_PRAISE = (
    r"(?:ok(?:ay)?|alright|all right|got it|i see|i understand|understood|great|perfect|nice|cool"
    r"|awesome|good to know|(?:that|this)(?:['’]s| is) (?:great|good|helpful|all)|very helpful)"
)
_THANKS = r"(?:many thanks|thanks|thank you|thx|cheers)"
_BYE = r"(?:bye|goodbye|good ?bye|see you(?: later)?|good night)"
_COURTESIES = tuple(
    (re.compile(rf"\W*(?:{_PRAISE}\W+)?(?:{opening}){_TO_WHOM}\W*", re.IGNORECASE), reply)
    for opening, reply in (
        (_HELLO, "Hello! Ask me something that your documents may answer."),
        (_THANKS, "You are welcome. Ask me more that your documents may answer."),
        (_BYE, "Goodbye."),
        (_PRAISE, "Good. Ask me more that your documents may answer."),
    )
)
"""Turns that ask nothing, each kind with the reply to it."""
_THINGS = r"(?:documents?|files?|sources?|papers?|reports?)"
_DOCUMENTS = re.compile(
    rf"\W*(?:please )?(?:(?:what|which) {_THINGS} (?:do you (?:have|know)|have you(?: got)?"
    r"|are there|are (?:stored|available|loaded|here|in (?:here|the library))|can i ask(?: about)?"
    r"|do i have|have i (?:added|uploaded))"
    rf"|(?:list|show)(?: me)?(?: all| the| your| my| of)* {_THINGS}(?: you have)?"
    r"|what can i ask(?: you)?(?: about)?|what is in (?:the|your|my) library)\W*",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\W*(?:please |can you |could you )*(?:summari[sz]e|sum up|(?:give|write)(?: me)? an? "
    r"(?:short |brief )?(?:summary|overview) of|(?:a |the )?summary of|what is)"
    r" (?P<topic>\S(?:.*?\w)?)(?P<about> about)?\W*",
    re.IGNORECASE,
)
_THIS = re.compile(r"(?:this|the|that|my) (?:document|file|report|paper|contract|manual)|it|this",
                   re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True)
class AskedQuestion:
    """A question as it is judged."""

    text: str

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The periods that it names."""
        return tuple(periods(self.text))

    @cached_property
    def subject(self) -> tuple[str, ...]:
        """Meanings of its words, without its periods."""
        return tuple(dict.fromkeys(meanings(without_periods(self.text))))

    @cached_property
    def named(self) -> frozenset[str]:
        """Meanings of its proper names: what has a capital where no sentence begins."""
        if self.text.isupper():
            return frozenset()
        names = " ".join(_CAPITAL.findall(self.text.lstrip()))
        return frozenset(meanings(names)).intersection(self.subject)


@text_cache(most_bytes=2 * MEBIBYTE, bytes_a_character=50)
def read_question(text: str) -> AskedQuestion:
    """Take a question apart, as it is judged."""
    return AskedQuestion(judged(text))


def numbers_in(text: str) -> set[str]:
    """Every number of a text in digits, without thousands separators; small ones in words too."""
    found = {number.replace(",", "") for number in _DIGITS.findall(text)}
    return found | {_NUMBER_WORDS[word] for word in words(text) if word in _NUMBER_WORDS}


class Intent(Enum):
    """An intent other than an answer from passages that fit the question."""

    GREETING = "greeting"
    DOCUMENTS = "documents"
    SUMMARY = "summary"


def intent_of(question: str) -> Intent | None:
    """The intent of a question; None of one that is asked of the passages, as nearly all are."""
    if courtesy(question):
        return Intent.GREETING
    if _DOCUMENTS.fullmatch(question):
        return Intent.DOCUMENTS
    return Intent.SUMMARY if summary_topic(question) is not None else None


def courtesy(question: str) -> str:
    """The reply to a greeting, to thanks, to a farewell or to praise; empty for any other text."""
    replies = (reply for pattern, reply in _COURTESIES if pattern.fullmatch(question))
    return next(replies, "")


def is_summary(question: str) -> bool:
    """True if a question asks for a summary of a document."""
    return summary_topic(question) is not None


def summary_topic(question: str) -> str | None:
    """The topic to sum up, '' for `this document`; None where no summary is asked for."""
    found = _SUMMARY.fullmatch(question)
    if not found:
        return None
    opening = question[: found.start("topic")].strip().casefold()
    if opening.endswith("what is") and not (found["about"] and _THIS.fullmatch(found["topic"])):
        return None  # `What is the lease about to replace?` is a question like any other
    return "" if _THIS.fullmatch(found["topic"]) else found["topic"]
