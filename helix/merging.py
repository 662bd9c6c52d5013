"""Several searches of one question as one, pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from helix.hybrid_sql import RRF_K
from helix.records import Candidate, Found


def merged(founds: Sequence[Found]) -> Found:
    """By reciprocal rank fusion (Cormack et al. 2009, k 60) of their orders; one stays as it is.

    A chunk that several found keeps what the first of them said of it, but for the lesser distance:
    it is as near as its nearest wording. Words and BM25 scores are of the first search, the
    question's own: the gate weighs them by the question's words, not by those of other wordings.
    """
    if len(founds) == 1:
        return founds[0]
    fused: dict[int, float] = {}
    known: dict[int, Candidate] = {}
    for found in founds:
        for rank, candidate in enumerate(found.candidates, 1):
            chunk = candidate.hit.chunk_id
            fused[chunk] = fused.get(chunk, 0.0) + 1 / (RRF_K + rank)
            own = candidate if found is founds[0] else _worded_otherwise(candidate)
            known[chunk] = _nearer(known.get(chunk, own), candidate)
    order = sorted(known, key=lambda chunk: (-fused[chunk], chunk))
    distances = [found.nearest for found in founds if found.nearest is not None]
    return Found(
        [replace(known[chunk], fused=fused[chunk]) for chunk in order],
        min((d for d in distances if d == d), default=distances[0] if distances else None),
        founds[0].words,
        founds[0].identifiers,
        len(founds),
        founds[0].frequencies,
        founds[0].chunks,
    )


def _worded_otherwise(candidate: Candidate) -> Candidate:
    return replace(candidate, score=None, score_rank=None, together=0)


def _nearer(first: Candidate, other: Candidate) -> Candidate:
    if other.hit.distance < first.hit.distance:
        return replace(first, hit=other.hit)
    return first
