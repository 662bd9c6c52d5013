"""Distances of given chunks to a question, for passages that no search has brought."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helix.domain.followups import FollowUp
from helix.domain.scope import Scope
from helix.retrieval.gated_retriever import GatedRetriever
from helix.retrieval.searches import question_vector
from helix.storage.chunk_distances import nearest_of


async def nearest_distance(
    retriever: GatedRetriever, question: str, chunk_ids: Sequence[int], scope: Scope
) -> float | None:
    """The least cosine distance, 0 to 2, of ``question`` from chunks of the tenant of ``scope``.

    None where none is stored, or none has a known distance.

    Raises:
        UpstreamError: the embedding service failed.
        StoreUnavailable: the database did not answer.
    """
    vector = await question_vector(retriever.space.embedder, FollowUp(question))
    rows = await retriever.store.within(scope).fetch(*nearest_of(vector, chunk_ids, scope))
    distance: float | None = rows[0]["distance"]
    return None if distance is None or math.isnan(distance) else distance
