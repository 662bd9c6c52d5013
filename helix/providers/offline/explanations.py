"""What a question for an explanation needs of a sentence: a cause, the parts, the way, a meaning.

A number from a table answers none of these: `What does working capital consist of?`
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from helix.domain.asked import AnswerKind, AskedQuestion, any_of
from helix.language.paraphrases import meanings
from helix.language.rows import BESIDE
from helix.providers.offline.figures import asks_for_change, measures_of


class Explanation(Enum):
    """What a question wants explained."""

    CAUSE = "cause"
    CONTENTS = "contents"
    EXCLUDED = "excluded"
    METHOD = "method"
    MEANING = "meaning"
    RELATION = "relation"


_CAUSE = re.compile(
    rf"^\W*why\b|\bwhat (?:is|are|was|were) the (?:\w+ ){{0,3}}(?:{any_of('reasons')})\b"
    rf"|\bwhat (?:{any_of('causes')})\b|\bwhat\b.*\b(?:{any_of('caused_by')})\W*$",
    re.IGNORECASE,
)
_CONTENTS = re.compile(
    rf"\bwhat (?:\w+ )?(?:do|does|did|is|are|was|were)\b.*\b(?:{any_of('contains')})\b"
    r"|^\W*what \w+s (?:are|were) (?:in|part of|within|under|covered by)\b",
    re.IGNORECASE,
)
_EXCLUDED = re.compile(
    rf"\bwhat (?:\w+ )?(?:do|does|did|is|are|was|were)\b.*\b(?:{any_of('excludes')})\b",
    re.IGNORECASE,
)
_RELATION = re.compile(
    rf"\bwhat (?:do|does|did)\b.*\b(?:{any_of('relies')})\b"
    rf"|\bwhat (?:is|are|was|were)\b.*\b(?:{any_of('relates')})\W*$",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"\bhow (?:is|are|was|were|do|does|did|has|have)\b(?:(?!\b(?:until|when|after|that|which)\b).)*"
    rf"\b(?:{any_of('works_out')})\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"^\W*what (?:is|are)(?: an?)? (?!(?:the|an?|your|our|my)\b)(?P<what>[^\W\d][^?,:]{1,60})\W*$",
    re.IGNORECASE,
)
_MEANING = re.compile(
    r"\bwhat (?:do|does|did)\b.*\b(?:represent|refer to|mean|stand for|indicate)s?\W*$"
    r"|\bwhat is (?:represented by|meant by|the (?:definition|meaning) of)\b"
    r"|\bhow (?:do|does|did|is|are|was|were)\b.*\bdefined?\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\bhow (?!is\b|are\b|was\b|were\b|do\b|does\b|did\b|has\b|have\b|come\b|will\b)\w+\b"
    r"|\b(?:what|which)(?: is| was| are| were)?(?: the| a)? (?:number|percentage|percent|amount"
    r"|rate|proportion|portion|share|fraction|value)\b",
    re.IGNORECASE,
)
_IN_PLACE = re.compile(r"\b(?:in|for|at|of|on|during|by|under|to|from|with|as|than)\b|['’]s\b")
_CHANGED = re.compile(rf"(?<!\bto )(?<!\bon )\b(?:{any_of('changes')})\b", re.IGNORECASE)
_RISES = re.compile(rf"\b(?:{any_of('rises')})\b", re.IGNORECASE)
_FALLS = re.compile(rf"\b(?:{any_of('falls')})\b", re.IGNORECASE)
_TELLS_CAUSE = re.compile(rf"\b(?:{any_of('tells_cause')})\b", re.IGNORECASE)
_STRONG_CAUSE = re.compile(rf"\b(?:{any_of('strong_causes')})\b", re.IGNORECASE)
_TELLS_CONTENTS = re.compile(rf"\b(?:{any_of('tells_contents')})\b", re.IGNORECASE)
_TELLS_EXCLUDED = re.compile(rf"\b(?:{any_of('tells_excluded')})\b", re.IGNORECASE)
_TELLS_METHOD = re.compile(rf"\b(?:{any_of('tells_method')})\b", re.IGNORECASE)
_DEFINES = re.compile(rf"\b(?:{any_of('tells_meaning')})\b", re.IGNORECASE)
_ANNOUNCES = re.compile(
    r"\b(?:following|below|accompanying) (?:table|schedule|chart|summary)\b"
    r"|\b(?:table|schedule|chart|summary)s? (?:below|that follows?)\b"
    r"|\bas follows\W*(?:\([^()]{0,60}\)\W*)?$",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    rf"(?:the|this|these|such) (?:(?!of\b)\w+ ){{0,2}}(?:{any_of('changes')})\b"
    r"|(?:this|these|it|they) ",
    re.IGNORECASE,
)
_WITHOUT_SUBJECT = re.compile(
    r"\W*(?:\(?\w{1,3}[.)]\s*)?(?:also )?(?:(?:in|ex)clud(?:es?|ing)\b|consist|compris|represent)",
    re.IGNORECASE,
)
_DEFINED = re.compile(r"\bhow (?:do|does|did|is|are|was|were)\b.*\bdefined?\b", re.IGNORECASE)
_SAYS_WHAT = (
    r"[”\"®™)]*(?:,? (?:an?|the|our|its|which|that|who)\b|,? \w*ly\b| \(|:"
    r"| (?:provide|offer|enable|allow|help|cover|relate|serve)s?\b"
    rf"| (?:{any_of('tells_meaning')})\b)"
)
"""What stands behind a name where it is said what it is."""
_IS_CALLED = r"\b[a-z]{3,} \((?:\w+ )?"
"""What stands before it: `the filter (part HX-2210)`."""
_EXTREME = re.compile(rf"\b(?:{any_of('greatest')}|{any_of('least')})\b", re.IGNORECASE)
_SINCE_THEN = re.compile(r"\bsince (?:the|its|their|then|\d{4})\b", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b[A-Z]{2,5}\b")
_PARENTHESES = re.compile(r"\([^()]{0,80}\)")
_POSSESSED = re.compile(r"\w['’]s? \w[\w -]*$")
_OF_MEANING = frozenset(meanings("represent refer mean stand indicate define definition term"))
_FEWEST_WORDS = 5  # of a sentence that explains
_SUBJECT_WITHIN = 14  # words of a sentence before which it has named what it defines


@lru_cache(maxsize=1024)
def explanation_asked(text: str) -> Explanation | None:
    """What the question ``text`` wants explained; None where it wants no explanation."""
    if _CAUSE.search(text):
        return Explanation.CAUSE
    if _METHOD.search(text) and not re.search(r"\bdefined?\b", text, re.IGNORECASE):
        return Explanation.METHOD
    if _EXCLUDED.search(text):
        return Explanation.EXCLUDED
    bare = _BARE.search(text)
    if _MEANING.search(text) or (bare and not _IN_PLACE.search(bare["what"])):
        return Explanation.MEANING
    if _CONTENTS.search(text):
        return Explanation.CONTENTS
    return Explanation.RELATION if _RELATION.search(text) else None


def wanted(question: AskedQuestion) -> Explanation | None:
    """What a question wants explained; None where it wants a number, a time or a name."""
    if question.kind in (AnswerKind.TIME, AnswerKind.NAME) or _AMOUNT.search(question.text):
        return None
    return explanation_asked(question.text)


def explains(question: AskedQuestion, text: str, before: str) -> bool:
    """Whether a sentence may explain what the question wants explained; True where it wants none.

    A row of a table explains nothing, nor does a sentence that announces a table. Why a figure
    changed needs a cause in the sentence; of other causes English often says nothing. A sentence
    without a subject (`(1) Includes freight.`) is about what the one ``before`` it names, if any.
    """
    asked = wanted(question)
    if asked is None:
        return True
    if BESIDE in text or announces_table(text) or len(text.split()) < _FEWEST_WORDS:
        return False
    match asked:
        case Explanation.CAUSE:
            if _EXTREME.search(question.text) and not _EXTREME.search(_effect(text)):
                return False
            if not _CHANGED.search(question.text):
                return not _is_other_way(question.text, _effect(text))
            return bool(_TELLS_CAUSE.search(text)) and _is_of_change(question, text, before)
        case Explanation.CONTENTS:
            return bool(_TELLS_CONTENTS.search(text)) and _has_subject(question, text, before)
        case Explanation.EXCLUDED:
            return bool(_TELLS_EXCLUDED.search(text)) and _has_subject(question, text, before)
        case Explanation.METHOD:
            return bool(_TELLS_METHOD.search(text))
        case Explanation.MEANING:
            return _tells_meaning(question, text)
    return True


def _tells_meaning(question: AskedQuestion, text: str) -> bool:
    if _DEFINED.search(question.text) and not defines(question, text):
        return False
    return _says_what(question.text, text)


def _says_what(asked: str, text: str) -> bool:
    """Whether a text says what a thing with a name is, where that is asked, or may say it.

    `The agreement is for the 18A process` only names it; `18A, our newest process,` says it, and
    so does `the process (18A)`.
    """
    bare = _BARE.search(asked)
    name = bare["what"].strip() if bare else ""
    if not any(char.isupper() or char.isdigit() for char in name):
        return True
    named = re.escape(name)
    says = rf"{named}{_SAYS_WHAT}|{_IS_CALLED}{named}\)"
    return bool(re.search(says, text)) or not re.search(rf"\b{named}\b", text)


def causes_of(question: AskedQuestion, text: str, following: str) -> bool:
    """Whether ``following`` tells why what ``text`` names changed: `The increase was due to …`."""
    return (
        wanted(question) is Explanation.CAUSE
        and not _is_slowing(question.text)
        and asks_for_change(text)
        and bool(_POINTS_BACK.match(following))
        and bool(_TELLS_CAUSE.search(_SINCE_THEN.sub(" ", following)))
        and measures_of(question) <= frozenset(meanings(f"{text} {following}"))
        and not _is_other_way(question.text, text)
        and not _is_other_way(question.text, _effect(following))
    )


def gives_cause(text: str) -> bool:
    """Whether a text has a word behind which a cause stands."""
    return _STRONG_CAUSE.search(text) is not None


def _is_of_change(question: AskedQuestion, text: str, before: str) -> bool:
    """Whether what a sentence gives a cause of is the change that is asked about.

    It is what stands before the cause: `Operating income fell due to lower sales` is of income.
    """
    head = _effect(text)
    if _is_slowing(question.text):
        return bool(_RISES.search(head) and _FALLS.search(head))
    if not meanings(head):
        return not _is_other_way(question.text, text)
    around = f"{before} {head}" if _POINTS_BACK.match(head) else head
    stated = frozenset(meanings(around))
    if _names_in_cause_only(question, stated, head, text[len(head) :]):
        return False
    return measures_of(question) <= stated and _is_same_way(question.text, around, head)


def _names_in_cause_only(
    question: AskedQuestion, stated: frozenset[str], head: str, cause: str
) -> bool:
    """Whether the cause names what the question is about, and what it causes does not.

    `Windows revenue fell, driven by Windows OEM` tells why the former fell, not the latter.
    """
    changed = frozenset(meanings(" ".join(_CHANGED.findall(question.text))))
    missing = frozenset(question.subject) - stated - changed
    missing -= abbreviated(question, head)
    return not missing.isdisjoint(meanings(cause))


def abbreviated(question: AskedQuestion, text: str) -> frozenset[str]:
    """What the subject's words mean that an abbreviation in a text begins with: `DCAI revenue`."""
    found = set[str]()
    for first, second in pairwise(question.subject):
        initials = f"{first[:1]}{second[:1]}".upper()
        if any(word.startswith(initials) for word in _ABBREVIATION.findall(text)):
            found |= {first, second}
    return frozenset(found)


def _effect(text: str) -> str:
    """What stands in front of the cause; all of a sentence that has no word of a cause."""
    found = _STRONG_CAUSE.search(text)
    return text[: found.start()] if found else text


def _is_slowing(asked: str) -> bool:
    """Whether it is asked of a growth that slowed, or a fall that grew less."""
    return bool(_RISES.search(asked) and _FALLS.search(asked))


def _is_same_way(asked: str, stated: str, head: str) -> bool:
    """Whether what is stated changed as it is asked: it rose, or it fell, or it only changed."""
    directed = _RISES.search(asked) or _FALLS.search(asked)
    moves = asks_for_change(stated) or _RISES.search(head) or _FALLS.search(head)
    return not _is_other_way(asked, head) and bool(moves or not directed)


def _is_other_way(asked: str, text: str) -> bool:
    """Whether a text only tells of a rise where a fall is asked about, or the reverse."""
    for way, other in ((_RISES, _FALLS), (_FALLS, _RISES)):
        if way.search(asked) and not other.search(asked):
            return bool(other.search(text)) and not way.search(text)
    return False


def _has_subject(question: AskedQuestion, text: str, before: str) -> bool:
    """Whether a sentence has a subject, or else the one before it names what is asked about."""
    stated = meanings(f"{before} {text}")
    return not _WITHOUT_SUBJECT.match(text) or set(question.subject).issubset(stated)


def defines(question: AskedQuestion, text: str) -> bool:
    """Whether a sentence names what the question wants defined, and then says what it is."""
    found = _DEFINES.search(text)
    if not found or BESIDE in text or announces_table(text):
        return False
    before = _PARENTHESES.sub(" ", text[: found.start()])
    named = meanings(before)
    subject = frozenset(question.subject) - _OF_MEANING
    is_near = not subject.isdisjoint(named[-2:]) and len(before.split()) <= _SUBJECT_WITHIN
    return is_near and subject.issubset(named) and not _POSSESSED.search(before)


def announces_table(text: str) -> bool:
    """Whether a sentence only says that a table follows."""
    return bool(_ANNOUNCES.search(text))
