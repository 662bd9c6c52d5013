"""Judge by the model of evidence whether found passages probably answer."""

from __future__ import annotations

from collections.abc import Sequence

from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.records import Hit
from helix.domain.relevance import SourcePlace
from helix.evidence.model import evidence_model
from helix.language.sentences import Passage, units_of
from helix.overload.fairness import off_loop

ATTACHED = 0.45
"""The risk up to which a conversation's own documents are read alone.

Over the samples, each attached in turn: alone for 0.93 of the questions that it answers, and for
0.03 of the others. Higher than the risk of quoting, for whoever attaches a document asks about it,
and where the answerer finds nothing in it the library is searched too.
"""
BEYOND_CEILING = 0.5
"""The risk up to which passages beyond the gate's ceiling are answered from, of weak vectors.

Of 520 questions of one document each, at 0.45 127 are answered rightly and 71 wrongly, at 0.5 133
and 72, at 0.65 139 and 76.
"""
FOLLOWING = 0.5
"""The risk up to which a question of few words is searched after those before it."""


async def found_answer(question: str, hits: Sequence[Hit], risk: float) -> bool:
    """True where a unit of the first ``hits`` answers ``question``, at ``risk`` or less.

    ``risk`` is the share of wrong answers, 0 to 1, among all that are as likely or likelier.
    """
    return await off_loop(_answers, question, hits[:DEFAULT_TOP_K], risk)


def _answers(question: str, hits: Sequence[Hit], risk: float) -> bool:
    passages = [
        Passage(hit.content, SourcePlace(hit.title, hit.heading_path, hit.facts).text)
        for hit in hits
    ]
    model = evidence_model()
    probabilities = model.answers(question, passages, units_of(passages))
    return bool(probabilities.max(initial=0.0) >= model.bar(risk, by_features=True))
