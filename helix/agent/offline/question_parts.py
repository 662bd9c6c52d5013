"""Questions over several documents, companies or periods, split into their searches. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from helix.domain.question_analysis import parts_of
from helix.language.periods import periods
from helix.language.words import words

_SPANS = r"(?:periods?|quarters?|years?|timeframe|10-[qk]s?|filings|(?:quarterly )?reports)"
_OVER_TIME = re.compile(
    rf"\b(?:over time|(?:over|across|in|for|throughout|as per)(?: the| these| all| each| several)*"
    rf"(?: reported| reporting| historical| recent)* {_SPANS}|quarter to quarter"
    rf"|from period to period|(?:compared? to|relative to|against|versus)(?: the)?"
    rf" (?:previous|prior|past|earlier) {_SPANS}|(?:previous|prior|past) (?:ones|{_SPANS}))\b",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs\.?|between|higher|lower|larger|smaller|more|less|both|each"
    r"|than|respectively|across)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][\w&.-]*(?:['’]s)?(?: (?:&|of|and the) [A-Z][\w&.-]*| [A-Z][\w&.-]*)*")
_NO_NAME = frozenset(
    "what which how who when where why is are was were do does did has have had can could in on of"
    " for the a an if please list compare outline summarize tell show give between and both i we"
    " q1 q2 q3 q4 r&d 10-q 10-k 10-qs".split()
)
_MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
_TREND = re.compile(
    r"\bif so, what.*|\band (?:what|how) .*|\b(?:how (?:has|have|did|does|do)"
    r"|(?:has|have|are|is) there(?: been)?|can any|in what ways have|changed?|changes? in|evolved?"
    r"|fluctuated?|trended|trends?(?: be identified in)?|shifted|varied|compared?|comparing"
    r"|significant|substantial|notable|considerable|any|most recent|latest)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^(?:please )?(?:compare|contrast|tell me|list|summari[sz]e|outline) (?=(?:what|who|whom|when"
    r"|where|why|which|how)\b)",
    re.IGNORECASE,
)
"""Instructions in front of several questions, such as `compare`; they are not searched for."""
_MOST = 8


@dataclass(frozen=True)
class QuestionParts:
    """A question that needs several searches.

    ``names`` may be names of documents; ``questions`` are its parts, used where no document has one
    of the names. ``over_time``: the question is about all periods of these documents.
    """

    question: str
    names: tuple[str, ...]
    questions: tuple[str, ...]
    over_time: bool

    @property
    def document_question(self) -> str:
        """The question as it is put to one document: `What was total net sales?`."""
        if not self.over_time:
            return self.question[:500]
        bare = _TREND.sub(" ", _OVER_TIME.sub(" ", self.question)).strip(" ?.,")
        return f"What was {' '.join(bare.split())}?"[:500] if bare else self.question[:500]

    def documents_to_search(self, documents: Sequence[tuple[int, str]]) -> list[int]:
        """The listed documents of the question's periods, or all where it names no period."""
        period_keys = {key for period in periods(self.question) for key in period.keys[:1]}
        matching = [
            number
            for number, title in documents
            if period_keys & {key for period in periods(title) for key in period.keys}
        ]
        return matching if len(matching) > 1 else [number for number, _ in documents][:_MOST]


def question_parts(question: str) -> QuestionParts | None:
    """The parts of a question; None for a question that one search answers."""
    over_time = bool(_OVER_TIME.search(question))
    names = _names(question)
    parts = parts_of(question)
    if over_time and names:
        return QuestionParts(question, tuple(names[:1]), (), True)
    if len(names) > 1 and _COMPARES.search(question):
        return QuestionParts(question, tuple(names), (), False)
    if len(parts) > 1:
        questions = [_INSTRUCTION.sub("", part) for part in parts[:_MOST]]
        return QuestionParts(question, (), tuple(part[:500] for part in questions), False)
    return None


def _names(question: str) -> list[str]:
    """The runs of capitalised words that may name a document, a company or a product."""
    names = []
    for run in _NAME.finditer(question):
        name = re.sub(r"['’]s?$", "", run[0])
        bare = [word for word in name.split() if word.casefold() not in _NO_NAME | _MONTHS]
        if bare and not periods(" ".join(bare)) and words(" ".join(bare)):
            names.append(" ".join(bare))
    return list(dict.fromkeys(names))[:_MOST]
