"""/v1/suggestions: questions that the documents answer, for whoever does not know what to ask."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from helix.domain.scope import checked_tags
from helix.library.suggestions import list_suggestions
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.query_request import DocumentId

router = APIRouter(prefix="/v1", tags=["answers"], route_class=ApiRoute)


@router.get("/suggestions", summary="Suggested questions")
async def suggestions(
    caller: CurrentCaller,
    document_id: Annotated[
        list[DocumentId] | None,
        Query(max_length=1000, description="Only what these documents suggest"),
    ] = None,
    tag: Annotated[
        list[str] | None, Query(description="Only of documents with all of these")
    ] = None,
) -> dict[str, Any]:
    """At most six questions that the documents suggest, each answered once with strong evidence.

    New ones are made a while after documents changed (`HELIX_SUGGESTIONS`).
    """
    tags = checked_tags(tag) if tag else None
    return {"questions": await list_suggestions(caller.library, document_id, tags)}
