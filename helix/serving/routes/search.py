"""GET /v1/search: passages for people who look for one, by the search that answers use."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from helix.domain.conditions import written_conditions
from helix.domain.input_text import bounded, is_blank
from helix.domain.retrieval import MOST_PASSAGES
from helix.errors import BadRequest
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.document_filters import KNOWN_PARAMETERS
from helix.serving.query_request import AS_OF, query_request

router = APIRouter(prefix="/v1", tags=["documents"], route_class=ApiRoute)


@router.get(
    "/search", summary="Search for passages", response_model=None, dependencies=[KNOWN_PARAMETERS]
)
async def search(
    request: Request,
    caller: CurrentCaller,
    q: Annotated[str, Query(description="What to look for, in words or as a question")],
    top_k: Annotated[int, Query(ge=1, le=MOST_PASSAGES, description="Passages at most")] = 10,
    document_id: Annotated[
        list[int] | None, Query(max_length=1000, description="Of these documents only")
    ] = None,
    tag: Annotated[list[str] | None, Query(description="Of documents with all of these")] = None,
    source_prefix: Annotated[str, Query(description="What source_uri begins with")] = "",
    company: Annotated[str, Query(description="Whose documents, by their facts")] = "",
    kind: Annotated[str, Query(description="Of which kind, by their facts: 10-Q")] = "",
    since: Annotated[str, Query(description="Stored then or later: 2026-01-31T09:00:00Z")] = "",
    until: Annotated[str, Query(description="Stored then or before")] = "",
    where: Annotated[
        list[str] | None, Query(description="Of documents whose metadata fits: year>=2024")
    ] = None,
    as_of: Annotated[str, Query(description=AS_OF)] = "",
) -> dict[str, Any] | Response:
    """The passages that fit, best first, each with a snippet and what was hit in it.

    `near_enough` is whether a question would be answered from them. No model is asked.
    """
    services = caller.services
    if is_blank(q):
        raise BadRequest("q is blank: search with /v1/search?q=your%20words")
    bounded("q", q, services.settings.max_question_chars)
    given = {
        "source_prefix": source_prefix, "tags": tag, "company": company, "kind": kind,
        "since": since, "until": until,
        "metadata": [one.to_json() for one in written_conditions(where or ())],
    }  # fmt: skip
    filters = {name: value for name, value in given.items() if value}
    asked = {
        "question": q, "document_ids": document_id or None, "filters": filters or None,
        "as_of": as_of or None,
    }  # fmt: skip
    body = json.dumps(asked).encode()  # so that filters are those of POST /v1/query to the letter
    scope = query_request(body, len(q)).scope(caller.tenant)
    scope = scope.within(caller.reach.spaces)
    work = services.passages(q, scope, top_k)
    found = await run_unless_disconnected(request, work)
    if found is None:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    return JSONResponse({"q": q, **found})
