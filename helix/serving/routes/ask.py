"""GET /ask: a question in, token frames and one citations frame out."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.input_text import question_of
from helix.domain.scope import Scope
from helix.errors import BadRequest
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.query_request import ANSWERS_BY, AS_OF, ModelName, read_time
from helix.serving.sse import answer_headers, plain_frames, streamed

_LARGEST_ID = 2**63 - 1

router = APIRouter(route_class=ApiRoute)

_STREAM = {"text/event-stream": {"schema": {"type": "string"}, "example": (
    'data: {"t":"Refunds are accepted within 30 days. [1]"}\n\nevent: citations\n'
    'data: [{"n":1,"chunk_id":42,"document_title":"Refund Policy","snippet":"Refunds are…"}]\n\n'
)}}  # fmt: skip


@router.get(
    "/ask",
    summary="Ask the documents",
    response_class=Response,
    responses={
        200: {"description": "Token frames, then one citations frame", "content": _STREAM},
        "default": {"description": 'Any failure: `{"error": "one line"}`'},
        400: {"description": "`q` is missing, blank or too long, or another parameter is wrong"},
        503: {"description": "Database or model failed before the first token"},
    },
)
async def ask(
    request: Request,
    caller: CurrentCaller,
    q: Annotated[str | None, Query(description="The question")] = None,
    document_id: Annotated[
        str | None, Query(description="Answer from this document only (documents.id)")
    ] = None,
    verdict: Annotated[
        bool, Query(description="Have a judge look at the answer; its verdict is one more event")
    ] = False,
    cite: Annotated[
        Literal["model", "proof"],
        Query(description="proof: statements without a marker get that of a source, if it fits"),
    ] = "model",
    model: Annotated[ModelName | None, Query(description=ANSWERS_BY)] = None,
    as_of: Annotated[str | None, Query(description=AS_OF)] = None,
) -> Response:
    """Stream a grounded answer, or the exact refusal. A stream without a citations frame is cut."""
    services = caller.services
    text = question_of(q, services.settings.max_question_chars, "q")
    ids = _document_ids(document_id)
    moment = None if as_of is None else read_time("as_of", as_of)
    scope = Scope(caller.tenant, document_ids=ids, spaces=caller.reach.spaces, as_of=moment)
    question = Question(text, scope, model=model, marks=cite == "proof")
    answering = AnswerRequest(
        services.answering, question, verdict=verdict, cites_by_proof=False, tells_closest=False,
        right=caller.right,
    )  # fmt: skip
    frames = partial(plain_frames, answering)
    return await streamed(request, answering, frames, answer_headers(question))


def _document_ids(text: str | None) -> tuple[int] | None:
    if text is None:
        return None
    digits = text.lstrip("0") or text[:1]
    # its length first: Python refuses to convert a number of thousands of digits
    known = digits.isascii() and digits.isdigit() and len(digits) < 20
    if not known or (number := int(digits)) > _LARGEST_ID:
        raise BadRequest("document_id must be a document's id, a whole number")
    return (number,)
