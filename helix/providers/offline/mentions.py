"""Whether a sentence, or what stands above it, names what a question's value is of.

`Compute & Networking revenue` is not told by a sentence about customers, and a period of notice for
tenants is not one for landlords.
"""

from __future__ import annotations

import re

from helix.domain.asked import STOP_WORDS, AnswerKind, AskedQuestion, any_of
from helix.domain.source_place import SourcePlace
from helix.language.durations import without_periods
from helix.language.paraphrases import meaning, meanings
from helix.language.rows import BESIDE
from helix.language.word_lists import word_lists
from helix.language.words import words
from helix.providers.offline.evidence import Evidence
from helix.providers.offline.explanations import Explanation, abbreviated, explanation_asked
from helix.providers.offline.figures import asks_for_amount, measures_of
from helix.providers.offline.focus import asks_for_one
from helix.providers.offline.measures import points_back
from helix.providers.offline.roles import DENIED

_LISTS = word_lists("questions")
_GENERIC = (
    word_lists("tables")["generic"]
    | _LISTS["whole"]
    | _LISTS["light_verbs"]
    | _LISTS["of_measures"]
)
_WHOM = (
    re.compile(
        r"\bfor (?P<whom>(?:(?:an?|the|our|my|other|all) )?(?:[\w-]+ )?[\w-]+)\W*\Z", re.IGNORECASE
    ),
    re.compile(
        r"\bhow (?:much|many|long|often)\b.*?\b(?:do|does|can|may|must|should) (?:the |our |an? )?"
        r"(?P<whom>[a-z-]+) (?:have|get|receive|take|need|work|pay|earn|serve)\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\bwhat (?:is|are) (?:the|our|my) (?P<whom>[a-z-]+) (?:period|deadline|limit|fee)\b",
        re.IGNORECASE,
    ),
)
"""For whom, of whom, or of what kind a value is asked."""
_ASKING = re.compile(
    rf"\b(?:{any_of('reasons')}|{any_of('causes')}|{any_of('changes')}"
    rf"|{any_of('greatest')}|{any_of('least')}|{any_of('above')}|{any_of('below')}|primary|main|key|why)\b",
    re.IGNORECASE,
)
"""What a question for a cause has that no thing is."""
_MET = 0.4  # a coverage that a word of another thing does not reach
_SAME = 0.7  # nor one of another of its kind: interns and employees


def names_thing(
    question: AskedQuestion, evidence: Evidence, place: int, source: SourcePlace
) -> bool:
    """Whether the sentence at ``place`` names something of what a measure is asked of.

    True where no measure is asked for, or of nothing beside the company.
    """
    measures = measures_of(question)
    text = evidence.sentences[place].text
    if measures and asks_for_one(question) and measures.isdisjoint(meanings(text)):
        return False
    explanation = explanation_asked(question.text)
    if not measures or not (explanation is Explanation.CAUSE or _wants_value(question)):
        return True
    bare = _ASKING.sub(" ", DENIED.sub(" ", question.text))
    things = frozenset(question.subject).intersection(meanings(bare))
    things -= measures | source.company | _GENERIC
    told = _told(question, evidence, place, before=True, least=_MET) | source.about
    if BESIDE in text:  # what a table is of stands around it
        told |= _told_by_source(evidence, place)
    met = len(things & (told | abbreviated(question, text)))
    if not things or 2 * met > len(things):
        return True
    return (met > 2 and 2 * met == len(things)) or (met > 0 and " and " in bare)


def _told_by_source(evidence: Evidence, place: int) -> frozenset[str]:
    source = evidence.sentences[place].source
    own = (each.text for each in evidence.sentences if each.source == source)
    return frozenset(meanings("\n".join(own)))


def _wants_value(question: AskedQuestion) -> bool:
    return question.asks_for_value and explanation_asked(question.text) is None


def names_whom(
    question: AskedQuestion, evidence: Evidence, place: int, source: SourcePlace
) -> bool:
    """Whether it names for whom or of what kind a value is asked: `And for contractors?`."""
    is_open = question.kind is AnswerKind.OPEN and not asks_for_amount(question.text)
    if is_open or explanation_asked(question.text):
        return True
    back = points_back(evidence.sentences[place].text)
    told = _told(question, evidence, place, before=back, least=_SAME) | source.company
    bare = without_periods(question.text)
    for pattern in _WHOM:
        if asked := pattern.search(bare):
            whom = frozenset(meaning(w) for w in words(asked["whom"]) if w not in STOP_WORDS)
            if whom and whom.isdisjoint(told):
                return False
    return True


def _told(
    question: AskedQuestion, evidence: Evidence, place: int, *, before: bool, least: float
) -> frozenset[str]:
    """What a sentence and its heading mean, and of the question's words what they have alike."""
    met = evidence.told(place, before) >= least
    like = (meanings(term) for term, is_met in zip(question.terms, met, strict=True) if is_met)
    return frozenset(meanings(evidence.sentences[place].text)).union(*like)
