"""Whether a sentence, or what stands above it, names what a question's value is of.

`Compute & Networking revenue` is not answered by a sentence about customers, and a period of
notice for tenants is not one for landlords.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

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
_KIND = re.compile(
    r"\b(?i:what|which)(?: other)? (?:[A-Z][\w-]*\s)+(?=[a-z])"
    r"|\b(?i:what|which)(?: [a-z]+){1,2} (?:[A-Z][\w-]*\s)+(?=[a-z])"
)
_OF_COMPANIES = word_lists("tables")["of_companies"]
_AND = re.compile(r"\b[A-Z][\w'’-]* and (?:(?:in|of|for|at|by|to) )?(?:the )?[A-Z]")
_COMPASS = frozenset(meanings("north south east west northern southern eastern western"))
_COUNTRIES = dict(pair.split("/") for pair in any_of("peoples").split("|"))
_YES_OR_NO = re.compile(
    r"\W*(?:do|does|did|is|are|was|were|has|have|had|can|may|must|should|will)\b", re.IGNORECASE
)
_LAST_MET = 0.2
_NAME_MET = 0.55  # one that another name of its kind does not reach
_START = 4  # letters that a name has in common with what is made of it
_BACK = 3  # sentences before one that say what it is about
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
    stated = _stated(question, evidence, place, before=True, least=_MET) | source.about
    if BESIDE in text:  # what a table is of stands around it
        stated |= _stated_by_source(evidence, place)
    met = len(things & (stated | abbreviated(question, text)))
    if not things or 2 * met > len(things):
        return True
    return (met > 2 and 2 * met == len(things)) or (met > 0 and " and " in bare)


def _stated_by_source(evidence: Evidence, place: int) -> frozenset[str]:
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
    stated = _stated(question, evidence, place, before=back, least=_SAME) | source.company
    bare = without_periods(question.text)
    for pattern in _WHOM:
        if asked := pattern.search(bare):
            whom = frozenset(meaning(w) for w in words(asked["whom"]) if w not in STOP_WORDS)
            if whom and whom.isdisjoint(stated):
                return False
    return True


def names_end(question: AskedQuestion, evidence: Evidence, place: int) -> bool:
    """Whether it has the last word of a question for yes or no: `Is it insured against theft?`."""
    if question.kind is not AnswerKind.OPEN or not _YES_OR_NO.match(question.text):
        return True
    if re.search(r"\bor\b", question.text):
        return True
    bare = words(without_periods(question.text))
    at = max((n for n, term in enumerate(question.terms) if term in bare), default=None)
    return at is None or float(evidence.stated(place, before=True)[at]) >= _LAST_MET


def unnamed(
    question: AskedQuestion, evidence: Evidence, place: int, source: SourcePlace
) -> frozenset[str]:
    """The names of a question that neither a sentence, its heading nor one shortly before it has.

    `In Berlin they built two quarters` tells nothing of Hamburg, though its source names Hamburg
    elsewhere. Of a row the whole source counts. A name may be inflected (`Canadian`), and one that
    only tells the kind of the answer (`which American company`) need not be stated.
    """
    own = evidence.sentences[place]
    if BESIDE in own.text:
        return frozenset()
    near = [
        at for at in range(max(0, place - _BACK), place + 1)
        if evidence.sentences[at].source == own.source
    ]  # fmt: skip
    if own.text.endswith(" v."):  # `Doe v. Roe` is cut there
        near.append(min(place + 1, len(evidence.sentences) - 1))
    starts = _starts(" ".join(evidence.sentences[at].text for at in near))
    covered = evidence.headings[place].copy()
    for at in near:
        covered = np.maximum(covered, evidence.coverage[at])
    bare = without_periods(_KIND.sub(" ", question.text))
    apart = source.about | source.company | _GENERIC | _OF_COMPANIES | _COMPASS
    apart |= abbreviated(question, " ".join(evidence.sentences[at].text for at in near))
    asked = {word.removesuffix("'s") for word in words(bare)}
    missing, met = set[str](), 0
    for at in question.names:
        name = question.terms[at].removesuffix("'s")
        is_name = len(name) >= _START and name.isalpha() and name in asked
        if not is_name:
            continue
        is_about = apart.issuperset(meanings(name))
        if not is_about and covered[at] < _NAME_MET and starts.isdisjoint(_starts(name)):
            missing.add(name)
        else:
            met += 1
    one_of_several = met and _AND.search(question.text)  # `in France and in Switzerland`
    return frozenset() if one_of_several else frozenset(missing)


def _starts(text: str) -> frozenset[str]:
    """The first letters of words, without accents; the country's of its people's name."""
    plain = unicodedata.normalize("NFD", text).encode("ascii", "ignore").decode()
    found = {word[:_START] for word in words(plain)}
    return frozenset(_COUNTRIES.get(start, start) for start in found)


def _stated(
    question: AskedQuestion, evidence: Evidence, place: int, *, before: bool, least: float
) -> frozenset[str]:
    """What a sentence and its heading mean, and of the question's words what they have alike."""
    met = evidence.stated(place, before) >= least
    like = (meanings(term) for term, is_met in zip(question.terms, met, strict=True) if is_met)
    return frozenset(meanings(evidence.sentences[place].text)).union(*like)
