"""Several searches of one question as one, pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helix.domain.records import Candidate, SearchResult
from helix.domain.search_space import RRF_K


def fuse(results: Sequence[SearchResult], k: int = RRF_K) -> SearchResult:
    """Fuse results by reciprocal rank (Cormack et al. 2009); a single one stays as it is.

    A chunk that several found keeps what the first of them said of it, but for the lesser distance:
    it is as near as its nearest wording. Words and BM25 scores are of the first search, the
    question's own: the gate weighs them by the question's words, not by those of other wordings.
    """
    if len(results) == 1:
        return results[0]
    fused: dict[int, float] = {}
    known: dict[int, Candidate] = {}
    for result in results:
        for rank, candidate in enumerate(result.candidates, 1):
            chunk = candidate.hit.chunk_id
            fused[chunk] = fused.get(chunk, 0.0) + 1 / (k + rank)
            if result is not results[0]:  # of another wording only the distance counts
                candidate = replace(candidate, score=None, score_rank=None, together=0)
            first = known.setdefault(chunk, candidate)
            if candidate.hit.distance < first.hit.distance:
                known[chunk] = replace(first, hit=candidate.hit)
    order = sorted(known, key=lambda chunk: (-fused[chunk], chunk))
    distances = [result.nearest for result in results if result.nearest is not None]
    return replace(
        results[0],
        candidates=[replace(known[chunk], fused=fused[chunk]) for chunk in order],
        nearest=min((d for d in distances if d == d), default=distances[0] if distances else None),
        searches=len(results),
    )
