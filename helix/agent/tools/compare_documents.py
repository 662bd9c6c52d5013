"""compare_documents: one question put to several documents, side by side."""

from __future__ import annotations

import asyncio

from pydantic import Field

from helix.agent.tool import Arguments, Tool, ToolContext, ToolOutput
from helix.agent.tools.documents import find_document, narrowed
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.retrieval import Retrieval

_EACH = 3


class CompareArguments(Arguments):
    """The question, and the documents that it is put to."""

    question: str = Field(min_length=1, max_length=500)
    document_ids: list[int] = Field(min_length=2, max_length=8)


async def compare(arguments: CompareArguments, context: ToolContext) -> ToolOutput:
    """The best passages of each document under its title; a document without any is named."""
    ids = list(dict.fromkeys(arguments.document_ids))
    rows = await asyncio.gather(*(find_document(context, one) for one in ids))
    retrievals = await asyncio.gather(
        *(
            context.retriever.search(arguments.question, narrowed(context, one), _EACH)
            for one in ids
        )
    )
    parts: list[str | Hit] = []
    for row, one in zip(rows, retrievals, strict=True):
        parts.append(f"{row['title']}:")
        parts.extend(one.hits or ("It has nothing on this.",))
    return ToolOutput(tuple(parts), decision=_nearest(retrievals))


def _nearest(retrievals: list[Retrieval]) -> GateDecision:
    """The decision of the search that came nearest: one document that answers is enough."""
    return min(
        (one.decision for one in retrievals),
        key=lambda decision: (not decision.passed, 2.0 if decision.best is None else decision.best),
    )


COMPARE_DOCUMENTS = Tool("compare_documents", CompareArguments, compare)
