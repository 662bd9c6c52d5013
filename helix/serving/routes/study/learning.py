"""/v1/study: answering quizzes, reviewing cards."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.library.access import Row
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.query_request import checked_request, json_body
from helix.serving.sse import TextJson
from helix.study.attempts import (
    answer_question,
    finish_attempt,
    get_attempt,
    list_attempts,
    open_attempt,
)
from helix.study.repetition import Rating, due_cards, review, undo_review
from helix.study.sets import get_set

PASSED = 0.7
"""The share of right answers with which a quiz is passed."""

router = APIRouter(prefix="/v1", tags=["study"], route_class=ApiRoute)


class GivenAnswer(BaseModel):
    """An answer to one question: an option's number from 0, or true or false."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    item_id: int = Field(ge=1, le=2**63 - 1)
    answer: int | bool


class CardReview(BaseModel):
    """The rating of how well a card was known."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    rating: Rating


@router.post(
    "/study/{set_id}/attempts", summary="Begin a quiz, or go on with it", response_class=Response
)
async def attempt(caller: CurrentCaller, set_id: int) -> Response:
    """The learner's unfinished attempt; a new one where there is none."""
    library, learner = caller.library, caller.learner
    return TextJson(await library.change(
        partial(open_attempt, tenant=library.tenant, set_id=set_id, learner=learner)
    ))  # fmt: skip


@router.get("/study/{set_id}/attempts", summary="List attempts", response_class=Response)
async def attempts(caller: CurrentCaller, set_id: int) -> Response:
    """The learner's attempts with their scores, newest first."""
    return TextJson({"attempts": await list_attempts(caller.library, set_id, caller.learner)})


@router.get("/study/attempts/{attempt_id}", summary="Read an attempt", response_class=Response)
async def one_attempt(caller: CurrentCaller, attempt_id: int) -> Response:
    """The attempt, with the review of its answered questions."""
    return TextJson(await _of_attempt(caller, get_attempt, attempt_id=attempt_id))


@router.post(
    "/study/attempts/{attempt_id}/answers", summary="Answer a question", response_class=Response,
    openapi_extra=json_body(GivenAnswer),
)  # fmt: skip
async def answer(request: Request, caller: CurrentCaller, attempt_id: int) -> Response:
    """Store the answer; the response has whether it is right, key, explanation and sources."""
    given = checked_request(await request.body(), 0, GivenAnswer)
    reply = await _of_attempt(
        caller, answer_question, attempt_id=attempt_id, item_id=given.item_id, answer=given.answer
    )
    if reply["right"]:
        caller.note("quiz_question_right")
    return TextJson(reply)


@router.post(
    "/study/attempts/{attempt_id}/finish", summary="Finish a quiz", response_class=Response
)
async def finish(caller: CurrentCaller, attempt_id: int) -> Response:
    """The score, and each question with its key, its sources and the given answer."""
    scored = await _of_attempt(caller, finish_attempt, attempt_id=attempt_id)
    await _note_finished(caller, scored)
    return TextJson(scored)


async def _note_finished(caller: Caller, scored: Row) -> None:
    caller.note("quiz_taken")
    found = await get_set(caller.library, scored["set_id"])
    if found["kind"] != "quiz" or not scored["of"]:
        return
    if scored["right"] == scored["of"]:
        caller.note("quiz_perfect")
    if found["difficulty"] == "advanced" and scored["right"] >= PASSED * scored["of"]:
        caller.note("quiz_advanced_passed")


async def _of_attempt(caller: CurrentCaller, action: Any, **values: Any) -> Any:
    library, learner = caller.library, caller.learner
    return await library.change(partial(action, tenant=library.tenant, learner=learner, **values))


@router.get("/study/due", summary="List the cards that are due", response_class=Response)
async def due(
    caller: CurrentCaller,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    set_id: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Of one deck")] = None,
) -> Response:
    """Due cards first, then new ones; each with the seconds until it would be due, by rating."""
    retention = caller.services.settings.study_retention
    return TextJson(await due_cards(caller.library, caller.learner, retention, limit, set_id))


@router.post(
    "/study/cards/{item_id}/review", summary="Review a card", response_class=Response,
    openapi_extra=json_body(CardReview),
)  # fmt: skip
async def review_card(request: Request, caller: CurrentCaller, item_id: int) -> Response:
    """Store how well the card was known (again, hard, good, easy); returns when it is due next."""
    given = checked_request(await request.body(), 0, CardReview)
    library, retention = caller.library, caller.services.settings.study_retention
    reply = await library.change(partial(
        review, tenant=library.tenant, item_id=item_id, rating=given.rating,
        learner=caller.learner, retention=retention,
    ))  # fmt: skip
    caller.note("card_reviewed")
    if reply["deck_mastered"]:
        caller.note("deck_mastered")
    return TextJson(reply)


@router.post("/study/cards/undo", summary="Undo the last review", response_class=Response)
async def undo(caller: CurrentCaller) -> Response:
    """Undo the learner's last review: its card has its earlier state again."""
    library = caller.library
    return TextJson(await library.change(
        partial(undo_review, tenant=library.tenant, learner=caller.learner)
    ))  # fmt: skip
