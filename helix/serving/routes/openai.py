"""OpenAI's routes, answered from the documents: /v1/models, chat, responses and embeddings."""

from __future__ import annotations

import base64
import struct
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from helix.domain.context import count_tokens
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.overload.entry import asker, place_for
from helix.providers.base import Embedder, embedding_failures
from helix.serving.authentication import CurrentCaller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.error_handlers import OpenAIRoute
from helix.serving.openai_answers import CHAT, RESPONSES, respond
from helix.serving.openai_forms import InvalidParameter
from helix.serving.openai_request import (
    EMBEDS,
    AskingRequest,
    ChatRequest,
    EmbeddingsRequest,
    ResponsesRequest,
    UnknownModel,
    model_json,
    models_of,
    openai_request,
)
from helix.serving.sse import TextJson

router = APIRouter(
    prefix="/v1", tags=["openai"], route_class=OpenAIRoute, default_response_class=Response
)

_FAILS: dict[int | str, dict[str, Any]] = {
    "default": {"description": '`{"error": {"message", "type", "param", "code"}}`'}
}


def _body(kind: type[AskingRequest | EmbeddingsRequest]) -> dict[str, Any]:
    """The description of a body: OpenAI's own documentation has its keys."""
    described = kind.model_json_schema()
    schema = {
        "type": "object",
        "required": described.get("required", []),
        "description": f"As OpenAI has it; read are {', '.join(described['properties'])}",
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


@router.get("/models", summary="Models, for OpenAI's clients", responses=_FAILS)
async def models(caller: CurrentCaller) -> Response:
    """`helix`, `helix-agent`, one for each tag of HELIX_TAG_MODELS, and `helix-embed`.

    With HELIX_MODELS those that answer are there once more for each model: `helix/NAME`.
    """
    names = [*models_of(caller.services.settings), EMBEDS]
    return TextJson({"object": "list", "data": [model_json(name) for name in names]})


@router.get("/models/{model:path}", summary="A model, for OpenAI's clients", responses=_FAILS)
async def model(caller: CurrentCaller, model: str) -> Response:
    """Return the model, or `404`."""
    if model not in (*models_of(caller.services.settings), EMBEDS):
        raise UnknownModel(f"there is no model {model[:80]!r}: GET /v1/models lists them")
    return TextJson(model_json(model))


@router.post(
    "/chat/completions", summary="Ask, for OpenAI's clients", responses=_FAILS,
    openapi_extra=_body(ChatRequest),
)  # fmt: skip
async def chat(request: Request, caller: CurrentCaller) -> Response:
    """The last message is the question, those before it its history; annotations are citations."""
    body = await openai_request(await request.body(), ChatRequest)
    return await respond(request, caller, body, CHAT)


@router.post(
    "/responses", summary="Ask, in OpenAI's newer format", responses=_FAILS,
    openapi_extra=_body(ResponsesRequest),
)  # fmt: skip
async def responses(request: Request, caller: CurrentCaller) -> Response:
    """Answer like `/v1/chat/completions`; nothing is kept."""
    body = await openai_request(await request.body(), ResponsesRequest)
    return await respond(request, caller, body, RESPONSES)


@router.post(
    "/embeddings", summary="Embed texts, for OpenAI's clients", responses=_FAILS,
    openapi_extra=_body(EmbeddingsRequest),
)  # fmt: skip
async def embeddings(request: Request, caller: CurrentCaller) -> Response:
    """Vectors of the database's embedder: 1,536 numbers of length 1."""
    body = await openai_request(await request.body(), EmbeddingsRequest)
    caller = caller.for_tenant(body.tenant_id)
    embedder = caller.services.engine.retriever.space.embedder
    if body.model not in (EMBEDS, embedder.identity):
        raise UnknownModel(f"there is no model {body.model[:80]!r} that embeds: use {EMBEDS}")
    if body.dimensions not in (None, EMBEDDING_DIMENSIONS):
        raise InvalidParameter(f"dimensions can only be {EMBEDDING_DIMENSIONS}", "dimensions")
    if not all(text.strip() for text in body.input):
        raise InvalidParameter("input holds an empty text, which has no vector", "input")
    with place_for(request) as place:
        work = place.run(lambda: _vectors(embedder, body))
        vectors = await run_unless_disconnected(request, work)
    if vectors is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    tokens = sum(count_tokens(text) for text in body.input)
    asker(request).answered(tokens)
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector, body)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return TextJson({"object": "list", "data": data, "model": body.model, "usage": usage})


async def _vectors(embedder: Embedder, body: EmbeddingsRequest) -> list[list[float]]:
    with embedding_failures():
        if body.input_type == "query":
            return [await embedder.model.aget_query_embedding(text) for text in body.input]
        return await embedder.model.aget_text_embedding_batch(body.input)


def _encoded(vector: list[float], body: EmbeddingsRequest) -> list[float] | str:
    if body.encoding_format == "base64":
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return vector
