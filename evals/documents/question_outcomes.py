"""Questions asked of stored documents, through the pipeline that serves, and judged by rule."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evals.documents.values import Expected
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.scope import Scope
from helix.services import Services

Outcome = Literal["right", "wrong page", "block", "refused", "wrong", "wrong yet supported"]
"""``wrong page`` has the value, and cites no page that states it; ``block`` has it somewhere in a
block or a table's row, and answers nothing."""

FIRST = 5
"""Sources among which a page that answers should be."""

Place = tuple[str, int]
"""File name and page, which counts from 1."""

_DOCUMENTS = """
SELECT row_to_json(x) FROM (
    SELECT id, source_uri FROM documents WHERE tenant_id = %(tenant)s ORDER BY id) x
"""


@dataclass(frozen=True)
class Asked:
    """A question to ask: what its answer must say, where that stands, and which file is in scope.

    Without ``places`` the page does not count. ``expected`` is None for one to be refused.
    """

    id: str
    question: str
    expected: Expected | None
    places: Collection[Place] = ()
    within: str | None = None


@dataclass(frozen=True)
class Judged:
    """The outcome of a question. ``page_found``: a place is among the first sources found.

    It is None where no place is known.
    """

    asked: Asked
    outcome: Outcome
    answer: str
    cited: tuple[Place, ...]
    found: tuple[Place, ...]

    @property
    def page_found(self) -> bool | None:
        """True where one of the first sources is on a page that answers."""
        places = self.asked.places
        return any(one in places for one in self.found) if places else None


@dataclass(frozen=True)
class Shelf:
    """The documents of a tenant that questions are asked of; ``ids`` by file name."""

    services: Services
    tenant: str
    ids: Mapping[str, int]

    @classmethod
    async def of(cls, services: Services, tenant: str) -> Shelf:
        """All that the tenant has stored; raises StoreUnavailable."""
        rows = await services.library.of(tenant).rows(_DOCUMENTS, {})
        ids = {row["source_uri"].rpartition("/")[2]: row["id"] for row in rows}
        return cls(services, tenant, ids)

    async def judged(self, questions: Iterable[Asked]) -> AsyncIterator[Judged]:
        """Each question asked and judged, in order; raises HelixError as AnswerRequest does."""
        for asked in questions:
            ids = None if asked.within is None else (self.ids[asked.within],)
            question = Question(asked.question, Scope(self.tenant, ids))
            request = AnswerRequest(self.services.answering, question, recorded=False)
            yield self._judge(asked, await request.run())

    def _judge(self, asked: Asked, answer: Answer) -> Judged:
        names = {number: name for name, number in self.ids.items()}
        cited = tuple(
            (names[one["document_id"]], one["page"] or 0)
            for one in answer.citations
            if one["document_id"] is not None
        )
        hits = answer.retrieval.hits[:FIRST]
        found = tuple((names[hit.document_id], hit.page or 0) for hit in hits)
        return Judged(asked, outcome_of(asked, answer, cited), answer.text, cited, found)


def outcome_of(asked: Asked, answer: Answer, cited: Collection[Place]) -> Outcome:
    """The outcome of an answer, one of six."""
    if answer.abstained:
        return "refused"
    proved = answer.proof.statements
    said = [answer.text[one.start : one.end] for one in proved]
    supported = all(one.problem is None and one.irrelevance is None for one in proved)
    return outcome_of_statements(asked, said, supported, cited)


def outcome_of_statements(
    asked: Asked, said: Sequence[str], supported: bool, cited: Collection[Place]
) -> Outcome:
    """The outcome, one of six, of an answer with the statements ``said``.

    Supported is an answer whose every statement is proved and, by its own account, relevant.
    """
    if asked.expected is not None and asked.expected.said_in(said):
        right = not asked.places or any(place in asked.places for place in cited)
        return "right" if right else "wrong page"
    if asked.expected is not None and asked.expected.printed_in(said):
        return "block"
    return "wrong yet supported" if supported else "wrong"
