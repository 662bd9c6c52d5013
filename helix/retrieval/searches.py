"""The searches of one question in one space: its vectors, and what they find together."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from helix.domain.contract import DEFAULT_TOP_K
from helix.domain.followups import FollowUp
from helix.domain.records import Candidate, Hit, SearchResult
from helix.domain.relevance import SourcePlace
from helix.domain.retrieval import LISTED, RRF_K, Trace
from helix.domain.scope import Scope
from helix.errors import HelixError, problem_of
from helix.evidence.model import evidence_model
from helix.language.sentences import Passage, units_of
from helix.overload.fairness import off_loop
from helix.providers.base import Embedder, embedding_failures
from helix.retrieval.named_documents import Named, preferring, scope_of
from helix.retrieval.vector_space import Space
from helix.storage.tenant_store import TenantStore
from helix.telemetry.tracing import span

ATTACHED = 0.45
"""The risk up to which a conversation's own documents are read alone.

Over the samples, each attached in turn: alone for 0.93 of the questions that it answers, and for
0.03 of the others. Higher than the risk of quoting, for whoever attaches a document asks about it,
and where the answerer finds nothing in it the library is searched too.
"""
BEYOND_CEILING = 0.5
"""The risk up to which passages beyond the gate's ceiling are answered from, of weak vectors.

Of 520 questions of one document each, at 0.45 127 are answered rightly and 71 wrongly, at 0.5 133
and 72, at 0.65 139 and 76.
"""
FOLLOWING = 0.5
"""The risk up to which a question of few words is searched after those before it."""


async def found_answer(question: str, hits: Sequence[Hit], risk: float) -> bool:
    """True where a unit of the first ``hits`` answers ``question``, at ``risk`` or less.

    ``risk`` is the share of wrong answers, 0 to 1, among all that are as likely or likelier.
    """
    return await off_loop(_answers, question, hits[:DEFAULT_TOP_K], risk)


def _answers(question: str, hits: Sequence[Hit], risk: float) -> bool:
    passages = [
        Passage(hit.content, SourcePlace(hit.title, hit.heading_path, hit.facts).text)
        for hit in hits
    ]
    model = evidence_model()
    probabilities = model.answers(question, passages, units_of(passages))
    return bool(probabilities.max(initial=0.0) >= model.bar(risk, by_features=True))


_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddedQuestion:
    """A question with its ``vector``, as ``question_vector`` makes it."""

    asked: FollowUp
    vector: list[float]


async def embed_question(
    embedder: Embedder, asked: FollowUp, terms: str | None
) -> tuple[EmbeddedQuestion, EmbeddedQuestion | None]:
    """``asked``, and the rewriter's ``terms`` as a question beside it; both at the same time.

    None for terms that could not be embedded, which costs no answer.

    Raises:
        UpstreamError: the embedding service failed.
    """
    if terms is None:
        return EmbeddedQuestion(asked, await question_vector(embedder, asked)), None
    vector, beside = await asyncio.gather(
        question_vector(embedder, asked), _embed_terms(embedder, terms)
    )
    return EmbeddedQuestion(asked, vector), beside


async def _embed_terms(embedder: Embedder, terms: str) -> EmbeddedQuestion | None:
    asked = FollowUp(terms)
    try:
        return EmbeddedQuestion(asked, await question_vector(embedder, asked))
    except HelixError as error:
        _logger.warning("search terms were not embedded: %s", problem_of(error))
        return None


async def question_vector(embedder: Embedder, asked: FollowUp) -> list[float]:
    """The vector of ``asked``, of length 1, or zeros where it has no word that is known.

    Raises:
        UpstreamError: the embedding service failed.
    """
    if not asked.earlier:
        return await _embed(embedder, asked.question)
    texts = [asked.question, *(text for text, _ in asked.earlier)]
    vectors = np.asarray(await asyncio.gather(*(_embed(embedder, text) for text in texts)))
    total = np.asarray([1.0, *(weight for _, weight in asked.earlier)]) @ vectors
    found: list[float] = (total / (np.linalg.norm(total) or 1.0)).tolist()
    return found


async def _embed(embedder: Embedder, text: str) -> list[float]:
    model = embedder.model
    # a trace of its own, or LlamaIndex's callback manager would keep an id a question
    with embedding_failures(), model.callback_manager.as_trace("query"):
        return await model.aget_query_embedding(text)


@dataclass(frozen=True)
class Searches:
    """The searches for one question: its vector is made once, for all of them.

    ``terms`` are the rewriter's, searched beside the question; None where there are none. ``trace``
    takes the times of the search of ``scope``; those beside it are under way meanwhile.
    ``precedence``: what is attached to the conversation is found alone where it answers.
    """

    space: Space
    store: TenantStore
    question: EmbeddedQuestion
    terms: EmbeddedQuestion | None
    scope: Scope
    trace: Trace
    precedence: bool = True

    async def find(self, named: Named, depth: int, *, deep: bool = False) -> SearchResult:
        """The findings of the question, and of the rewriter's terms beside it where there are any.

        The documents of its conversation are searched first, and nothing else where they answer.

        A deep search reads further candidates and uses none of them: the first ``depth`` are those
        of a search that reads no more.

        Raises:
            StoreUnavailable, EmbedderMismatch: a search failed.
        """
        theirs = await self._of_attached(depth)
        if theirs and theirs.attached_alone:
            self.trace.candidates = theirs.candidates
            return theirs
        fusion = self.space.fusion
        most = max(depth, fusion.scored if fusion else min(LISTED, self.store.ef_search))
        limit = most if deep else depth
        searches: list[Coroutine[Any, Any, SearchResult | None]] = [
            self._preferring(named, limit, most) if named.groups else self._timed(limit),
            *([self._by_terms(self.terms, limit)] if self.terms else []),
        ]
        results = [result for result in await asyncio.gather(*searches) if result]
        k = fusion.rrf_k if fusion else RRF_K
        used = fuse([result.first(depth) for result in results], k)
        if theirs:
            used = _with_attached(used, theirs, depth)
        known = {candidate.hit.chunk_id for candidate in used.candidates}
        further = fuse(results, k).candidates if deep else []
        self.trace.candidates = used.candidates + [
            candidate for candidate in further if candidate.hit.chunk_id not in known
        ]
        return used

    async def _timed(self, limit: int, scope: Scope | None = None) -> SearchResult:
        with span("search"), self.trace.stage("search"):
            return await self._search(self.question, scope or self.scope, limit)

    async def _search(self, question: EmbeddedQuestion, scope: Scope, limit: int) -> SearchResult:
        asked, vector = question.asked, question.vector
        if fusion := self.space.fusion:
            return await self.store.search_hybrid(
                asked.question, vector, limit, scope, fusion, asked.terms
            )
        hits = await self.store.search(vector, limit, scope)
        candidates = [Candidate(hit, 1 - hit.distance, rank) for rank, hit in enumerate(hits, 1)]
        return SearchResult(candidates, hits[0].distance if hits else None)

    async def _preferring(self, named: Named, limit: int, most: int) -> SearchResult:
        """The findings in all of ``scope``, with the named documents' own ahead.

        The search of the named documents brings ``most``: its own order is another, for its best
        score is, so that it brings all.
        """
        everything, theirs = await asyncio.gather(
            self._timed(limit), self._search(self.question, scope_of(named, self.scope), most)
        )
        return preferring(named, everything, theirs, self.space.fusion, limit)

    async def _of_attached(self, limit: int) -> SearchResult | None:
        """The hits in the conversation's own documents, marked as theirs; None without any."""
        if not self.scope.attached:
            return None
        found = await self._timed(limit, Scope(self.scope.attached))
        marked = [
            replace(candidate, hit=replace(candidate.hit, attached=True))
            for candidate in found.candidates
        ]
        theirs = replace(found, candidates=marked)
        if not self.precedence:
            return theirs
        alone = await found_answer(self.question.asked.question, theirs.hits, ATTACHED)
        return replace(theirs, attached_alone=alone)

    async def _by_terms(self, terms: EmbeddedQuestion, limit: int) -> SearchResult | None:
        """The findings of ``terms``; None where that fails, which costs no answer."""
        try:
            return await self._search(terms, self.scope, limit)
        except HelixError as error:
            _logger.warning("search terms were not searched: %s", problem_of(error))
            return None


def _with_attached(own: SearchResult, theirs: SearchResult, limit: int) -> SearchResult:
    """``own`` and what the conversation's documents have, at most ``limit``.

    In the order of what either search ordered by: the same sum of nearness and words.
    """
    joined = sorted([*theirs.candidates, *own.candidates], key=lambda one: -one.fused)
    distances = [each.nearest for each in (own, theirs) if each.nearest is not None]
    return replace(own, candidates=joined[:limit], nearest=min(distances, default=None))


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
