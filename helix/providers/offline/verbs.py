"""Whether a sentence has the verb that a question asks with, and what the question's money buys.

`Who sued Acme?` wants a sentence about suing, `how much was spent on freight?` one about freight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from helix.domain.asked import STOP_WORDS, AnswerKind, AskedQuestion, any_of
from helix.domain.source_place import SourcePlace
from helix.language.paraphrases import meanings
from helix.language.word_lists import word_lists
from helix.providers.offline.evidence import Evidence
from helix.providers.offline.explanations import explanation_asked
from helix.providers.offline.measures import points_back

_AGENT = re.compile(r"\bwho ((?:[a-z'’]+ ?)+)", re.IGNORECASE)
_COUNTED_VERB = re.compile(
    r"\bhow many\b.*?\b(?:do|does|did|has|have|had)\b(?: (?!been\b)[\w.&'’-]+){1,3}"
    r" (?P<verb>[a-z]+)\W*$",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\bwho (?:is|are|was|were) (?:the |an? )(?:[a-z-]+ ){0,2}?"
    r"(?!ahead|instead|front|one|first|last|only)(?P<role>[a-z-]+) (?:of|to|for|behind)\b",
    re.IGNORECASE,
)
_LIGHT = word_lists("questions")["light_verbs"]
_BEFORE_SUBJECT = frozenset("is are was were am do does did".split())
_BOUGHT = re.compile(
    rf"\b(?:{any_of('paid')})(?: \w+)? (?:on|for) (?P<object>[^?]+)", re.IGNORECASE
)
_MET = 0.3  # a coverage that another verb does not reach


def tells_verb(question: AskedQuestion, evidence: Evidence, place: int) -> bool:
    """Whether a sentence, or the one before it, has the verb of `who sued?` or one like it."""
    verb = _verb_of(question)
    if verb is None:
        return True
    at = question.terms.index(verb)
    source = evidence.sentences[place].source
    back = points_back(evidence.sentences[place].text)
    beside = (place, place - 1) if back or question.kind is not AnswerKind.NAME else (place,)
    near = [n for n in beside if n >= 0 and evidence.sentences[n].source == source]
    return any(evidence.coverage[n][at] >= _MET for n in near)


def _verb_of(question: AskedQuestion) -> str | None:
    """The verb of `who sued …?` and `how many does it own?`; None where it says little."""
    if counted := _COUNTED_VERB.search(question.text):
        asked = counted["verb"].lower()
        return asked if asked in question.terms and asked not in _LIGHT else None
    found = _AGENT.search(question.text) if question.kind is AnswerKind.NAME else None
    if found and (role := _ROLE.search(question.text)):
        asked = role["role"].lower()
        return asked if asked in question.terms else None
    words = found[1].lower().split() if found else []
    if not words or words[0] in _BEFORE_SUBJECT:
        return None
    verb = next((word for word in words if word not in STOP_WORDS), None)
    return verb if verb in question.terms and verb not in _LIGHT else None


def names_object(question: AskedQuestion, stated: Iterable[str], place: SourcePlace) -> bool:
    """Whether a sentence names what money was spent on, where that is asked.

    `How much is spent on fulfillment?` is not answered by what was spent on something else.

    Args:
        stated: the sentence, and the one before it where it points back.
    """
    found = _BOUGHT.search(question.text)
    if not found or explanation_asked(question.text):
        return True
    asked = frozenset(meanings(found["object"])).intersection(question.subject) - place.company
    named = place.about.union(*(meanings(text) for text in stated))
    return not asked or not asked.isdisjoint(named)
