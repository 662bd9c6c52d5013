"""/v1/answers: the receipt of an answer, whether it holds, its proof, and people's feedback."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from helix.answering.answerers import model_name
from helix.answering.numbering import for_readers
from helix.conversations.receipts.receipt_store import MAX_NOTE_CHARS, Rating, rate, read_receipt
from helix.conversations.receipts.signed_answer import signed_answer
from helix.conversations.receipts.stored_sources import (
    prompt_json,
    rebuild_prompt,
    verify_citations,
)
from helix.errors import BadRequest
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.sse import TextJson
from helix.telemetry.usage_meter import current_meter

router = APIRouter(
    prefix="/v1/answers",
    tags=["answers"],
    route_class=ApiRoute,
    default_response_class=Response,
    responses={404: {"description": "No such answer of this tenant, or not any more"}},
)


class Feedback(BaseModel):
    """Somebody's opinion of an answer."""

    model_config = ConfigDict(extra="forbid")

    rating: Rating
    note: str = ""
    tenant_id: str | None = None


@router.get("/{answer_id}", summary="The receipt of an answer")
async def answer(caller: CurrentCaller, answer_id: str) -> Response:
    """Return the receipt. `prompt` is rebuilt; null, with `prompt_lost`, where it cannot be.

    The answer numbers its sources as its reader saw them, `index` and `prompt` as the model did.
    """
    receipt = await read_receipt(caller.library, answer_id, caller.services.settings.receipt_days)
    found = await rebuild_prompt(caller.library, receipt)
    prompts = await caller.services.prompts.at(caller.tenant, receipt.get("prompts", ()))
    prompt = None if found.lost else prompt_json(receipt, found.sources, prompts)
    receipt = for_readers(receipt, len(receipt["index"]["sources"]))
    return TextJson({**receipt, "prompt": prompt, "prompt_lost": found.lost})


@router.get("/{answer_id}/verify", summary="Does what it cites still stand?")
async def verify(caller: CurrentCaller, answer_id: str) -> Response:
    """Each citation against what is stored now: holds, source changed, source deleted."""
    receipt = await read_receipt(caller.library, answer_id, caller.services.settings.receipt_days)
    read = for_readers(receipt, len(receipt["index"]["sources"]))
    return TextJson(await verify_citations(caller.library, read))


@router.get(
    "/{answer_id}/proof",
    summary="The answer, signed, for a stranger to verify",
    responses={409: {"description": "A document that it cites was changed or deleted since"}},
)
async def proof(caller: CurrentCaller, answer_id: str) -> Response:
    """Return `proof` and its `signature`, which `helix prove` and one Python file verify offline.

    In the place of the id may be the SHA-256 of the answer's text, in hex: of the latest such.
    """
    signed = await signed_answer(caller.library, answer_id, caller.services.settings)
    return TextJson(signed)


@router.post("/{answer_id}/feedback", summary="Say what you think of an answer", status_code=201)
async def feedback(caller: CurrentCaller, answer_id: str, given: Feedback) -> Response:
    """Add a rating and a note to it; several may."""
    library = caller.for_tenant(given.tenant_id).library
    if len(given.note) > MAX_NOTE_CHARS:
        raise BadRequest(f"note has {len(given.note)} characters; the limit is {MAX_NOTE_CHARS}")
    days = caller.services.settings.receipt_days
    added = await library.change(
        partial(rate, answer_id=answer_id, rating=given.rating, note=given.note, days=days,
                tenant=library.tenant)
    )  # fmt: skip
    model, spaces = model_name(added.pop("model")), added.pop("spaces")
    if meter := current_meter():
        meter.vote(given.rating, spaces[0] if spaces and len(spaces) == 1 else None, model)
    caller.note("answer_rated")
    caller.changed("feedback")
    return TextJson(added, 201)
