"""search_library: the hybrid search within the asker's scope."""

from __future__ import annotations

from pydantic import Field

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import narrowed

TOP_K = 7


class SearchArguments(Arguments):
    """The query to search for, and the document if only one is searched."""

    query: str = Field(min_length=1, max_length=20_000, description="A question or key words.")
    document_id: int | None = Field(None, description="Search this document alone.")


async def search(arguments: SearchArguments, context: ToolContext) -> ToolOutput:
    """The seven best passages; a search below the gate says so, for the answer's gate to decide."""
    scope = context.scope
    if arguments.document_id is not None:
        scope = narrowed(context, arguments.document_id)
    follow_up = context.search_of(arguments.query)
    retrieval = await context.retriever.search(arguments.query, scope, TOP_K, follow_up=follow_up)
    if not retrieval.hits:
        return ToolOutput(("Nothing was found.",), decision=retrieval.decision)
    head = (
        ""
        if retrieval.decision.passed
        else "Nothing fits the query well; the nearest passages are:"
    )
    return ToolOutput(tuple(filter(None, (head, *retrieval.hits))), decision=retrieval.decision)


SEARCH_LIBRARY = Tool("search_library", SearchArguments, search)
