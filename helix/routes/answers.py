"""/v1/answers: the receipt of an answer, whether it still holds, and what people say of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict

from helix.errors import BadRequest
from helix.receipts.prompts import prompt_json, rebuilt
from helix.receipts.stored import MAX_NOTE_CHARS, Rating, rate, read_receipt
from helix.receipts.verifying import verified
from helix.routes.asker import Asker
from helix.sse import json_bytes

router = APIRouter(prefix="/v1/answers", tags=["answers"])

_NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"description": "No such answer of this tenant, or not any more"}
}


class Feedback(BaseModel):
    """What somebody thinks of an answer."""

    model_config = ConfigDict(extra="forbid")

    rating: Rating
    note: str = ""
    tenant_id: str | None = None


@router.get(
    "/{answer_id}", summary="The receipt of an answer", response_class=Response,
    responses=_NOT_FOUND,
)  # fmt: skip
async def answer(asker: Asker, answer_id: str) -> Response:
    """What it was made from. `prompt` is rebuilt; null, with `prompt_lost`, where it cannot be."""
    receipt = await read_receipt(asker.library, answer_id, asker.services.settings.receipt_days)
    found = await rebuilt(asker.library, receipt)
    prompt = None if found.lost else prompt_json(receipt, found.sources)
    return _json({**receipt, "prompt": prompt, "prompt_lost": found.lost})


@router.get(
    "/{answer_id}/verify", summary="Does what it cites still stand?", response_class=Response,
    responses=_NOT_FOUND,
)  # fmt: skip
async def verify(asker: Asker, answer_id: str) -> Response:
    """Each citation against what is stored now: holds, source changed, source deleted."""
    receipt = await read_receipt(asker.library, answer_id, asker.services.settings.receipt_days)
    return _json(await verified(asker.library, receipt))


@router.post(
    "/{answer_id}/feedback", summary="Say what you think of an answer", status_code=201,
    response_class=Response, responses=_NOT_FOUND,
)  # fmt: skip
async def feedback(asker: Asker, answer_id: str, given: Feedback) -> Response:
    """Add a rating and a note to it; several may."""
    library = asker.named(given.tenant_id).library
    if len(given.note) > MAX_NOTE_CHARS:
        raise BadRequest(f"note has {len(given.note)} characters; the limit is {MAX_NOTE_CHARS}")
    days = asker.services.settings.receipt_days
    added = await library.change(
        partial(rate, answer_id=answer_id, rating=given.rating, note=given.note, days=days,
                tenant=library.tenant)
    )  # fmt: skip
    return _json(added, 201)


def _json(payload: object, status: int = 200) -> Response:
    """Lone surrogates, which a question may have, travel as escapes."""
    return Response(json_bytes(payload), status, media_type="application/json")
