"""Suggested questions: made when documents changed, asked once, kept where the answer is proven.

Nobody waits for it: one question at a time, with a pause after each, and none while files are
being ingested.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence

from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.contract import OPEN_RUN
from helix.domain.scope import Scope
from helix.domain.suggestions import Suggestion, candidates
from helix.errors import HelixError
from helix.evidence.model import evidence_model
from helix.library.suggestions import changed_libraries, read_materials, store_suggestions
from helix.services import Services
from helix.telemetry.logs import where

_LOOK_SECONDS = 15.0
_PAUSE_SECONDS = 0.5
_MOST_KEPT, _MOST_ASKED = 6, 24
_MOST_ASKED_OF_A_SERVICE = 6  # its answers cost money
_MOST_MADE = 96  # some documents have several, of which the first may fail
_RISK = 0.2
"""The share of wrong answers, by the model of evidence, up to which a question is suggested."""
_RISK_UNDER_HEADING = 0.3
"""The same where the answer stands under the very heading that is asked about."""

_logger = logging.getLogger(__name__)


async def suggest(services: Services) -> None:
    """Look now and then whether a tenant's documents changed, and renew its suggestions."""
    if not _is_wanted(services):
        return
    given_up: dict[str, str] = {}  # what failed, or suggested nothing, is not tried again
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        try:
            for tenant, library in await asyncio.to_thread(_changed, services):
                if given_up.get(tenant) != library:
                    given_up[tenant] = library
                    await renew(services, tenant, library)
        except HelixError as error:
            _logger.warning("no questions were suggested: %s", error)
        except Exception as error:  # noqa: BLE001  the next round tries again
            _logger.warning("no questions were suggested: %s", where(error))


def _is_wanted(services: Services) -> bool:
    settings = services.settings
    if settings.suggestions == "auto":
        return settings.llm == settings.embedder == "offline"
    return settings.suggestions == "on"


def _changed(services: Services) -> list[tuple[str, str]]:
    with services.store.connection() as connection:
        return changed_libraries(connection, OPEN_RUN)


async def renew(
    services: Services, tenant: str, library: str, pause: float = _PAUSE_SECONDS
) -> None:
    """Ask what the tenant's documents suggest, and store what came of it.

    ``library`` is what ``changed_libraries`` told of them. ``pause``: seconds after each question.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    documents = services.library.of(tenant)
    is_free = services.settings.llm == "offline"
    most = _MOST_ASKED if is_free else _MOST_ASKED_OF_A_SERVICE
    made = candidates(await read_materials(documents), _MOST_MADE)
    asked: list[tuple[Suggestion, bool]] = []
    kept: set[int] = set()
    while made and len(asked) < most and sum(good for _, good in asked) < _MOST_KEPT:
        candidate = next_of(made, kept)
        made.remove(candidate)
        good = await _is_answered(services, tenant, candidate)
        asked.append((candidate, good))
        kept |= {candidate.document_id} if good else set()
        await asyncio.sleep(pause)
    await store_suggestions(documents, asked, library)


def next_of(made: Sequence[Suggestion], kept: Collection[int]) -> Suggestion:
    """The first of ``made`` whose document has no question among those ``kept``; else the first."""
    return next((one for one in made if one.document_id not in kept), made[0])


async def _is_answered(services: Services, tenant: str, suggestion: Suggestion) -> bool:
    asked = Question(suggestion.question, Scope(tenant))
    request = AnswerRequest(services.answering, asked, recorded=False, tells_closest=False)
    try:
        answer = await request.run()
    except HelixError:
        return False
    return is_proven(answer) and is_strong(answer, suggestion)


def is_strong(answer: Answer, suggestion: Suggestion) -> bool:
    """True where an answer cites the suggesting document, and very probably answers.

    That is the number that is known to be right, or by the model of evidence, which need be less
    sure where the answer stands under the heading that is asked about.
    """
    if suggestion.document_id not in answer.cited_documents:
        return False
    if suggestion.value:
        return suggestion.is_met_by(answer.text)
    risk = _RISK_UNDER_HEADING if _is_under_heading(answer, suggestion) else _RISK
    return (answer.proof.answers or 0.0) >= evidence_model().bar(risk)


def _is_under_heading(answer: Answer, suggestion: Suggestion) -> bool:
    return bool(suggestion.heading) and any(
        citation["document_id"] == suggestion.document_id
        and suggestion.heading in citation["heading_path"]
        for citation in answer.citations
    )


def is_proven(answer: Answer) -> bool:
    """True if every statement of an answer is supported, and none is beside the question."""
    statements = answer.proof.statements
    return bool(statements) and all(
        statement.problem is None and statement.irrelevance is None for statement in statements
    )
