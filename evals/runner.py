"""Asking the cases through the engine that serves, and what is known of each answer then."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from evals.cases import Case, CaseError, Span, chosen, located
from evals.database import Stored
from evals.judges import AnswerJudge, Judgement
from evals.metrics.retrieval import expected_ids, retrieval_scores
from evals.metrics.wording import forbidden_said, hallucinated_markers, has_gold, keyword_coverage
from evals.suites import Suite
from helix.answering.question import Question
from helix.answering.stream import AnswerStream
from helix.domain.records import Hit
from helix.domain.retrieval import Reason
from helix.language.sentences import sentences
from helix.services import Services


@dataclass(frozen=True)
class Outcome:
    """One case answered.

    ``found`` are the retrieval metrics, empty for a case that must be refused. ``distance`` is the
    nearest chunk's. ``cited`` are the source_uris cited; ``right_source`` is whether one of the
    chunks cited shares characters with an expected passage. ``baseline`` is whether the first
    sentence of the best chunk has a gold span. ``judgements`` are by the judge's name, the one that
    decides first, none of a refusal. ``seconds`` runs to the end of the answer.
    """

    case: Case
    answer: str
    reason: Reason | None
    distance: float | None
    found: Mapping[str, float]
    cited: tuple[str, ...]
    right_source: bool
    markers: tuple[int, ...]
    baseline: bool | None
    seconds: float
    judgements: Mapping[str, Judgement] = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """True where nothing was answered."""
        return self.reason is not None

    @property
    def gated(self) -> bool:
        """True where it was refused before a model was asked."""
        return self.reason is not None and self.reason != "model_refused"

    @property
    def keywords(self) -> float | None:
        """The share of the keywords that the answer has; a refusal has none of them."""
        return keyword_coverage("" if self.refused else self.answer, self.case.keywords)

    @property
    def gold(self) -> bool | None:
        """True where the answer has a gold span; false of a refusal; None of a case without."""
        return has_gold("" if self.refused else self.answer, self.case.golds)

    @property
    def deciding(self) -> Judgement | None:
        """The judgement of the first judge; the others are there to compare with."""
        return next(iter(self.judgements.values()), None)

    @property
    def faults(self) -> list[str]:
        """The faults of it, each in a word or two; none for a case that went well."""
        said = forbidden_said(self.answer, self.case.forbidden)
        always = [("forbidden", bool(said)), ("false marker", bool(self.markers))]
        if self.case.refusal:
            wrong = [("answered", not self.refused), *always]
        elif self.refused:
            wrong = [("refused", True), *always]
        else:
            wrong = [
                *always,
                ("keywords", (self.keywords or 0) < 1 if self.case.keywords else False),
                ("gold", self.gold is False),
                ("wrong source", not self.right_source),
                ("unfaithful", self.deciding is not None and not self.deciding.faithful),
            ]
        return [name for name, is_so in wrong if is_so]


@dataclass(frozen=True)
class SuiteRunner:
    """Asks a suite's cases of open services whose documents are stored."""

    services: Services
    suite: Suite
    stored: Stored
    judges: Sequence[AnswerJudge]

    async def outcomes(self, tags: Sequence[str]) -> AsyncIterator[Outcome]:
        """The suite's cases with one of ``tags``, in order.

        Raises:
            CaseError: a case cannot be used, or none has a tag; before any is asked.
            HelixError: as the engine and the judges do.
        """
        cases = chosen(self.suite.cases, tags)
        spans = located(cases, self.stored.texts)
        expected = {case.id: expected_of(case, spans[case.id], self.stored) for case in cases}
        for case in cases:
            yield await self._outcome(case, spans[case.id], expected[case.id])

    async def _outcome(self, case: Case, spans: Sequence[Span], expected: Sequence[str]) -> Outcome:
        scope, began = case.scope.of(self.suite.tenant), time.perf_counter()
        stream = await self.services.engine.ask(Question(case.question, scope))
        async with aclosing(stream):
            async for _ in stream:
                continue
        seconds = time.perf_counter() - began
        found: Mapping[str, float] = {}
        if spans:
            found = await retrieval_scores(
                self.services.engine.retriever, scope, case.question, expected,
                by_document=case.by_document,
            )  # fmt: skip
        retrieval = stream.retrieval
        hits = [stream.cited[citation["n"] - 1] for citation in stream.citations]
        return Outcome(
            case, stream.answer, stream.reason, retrieval.decision.best, found,
            cited=tuple(dict.fromkeys(hit.source_uri for hit in hits)),
            right_source=any(_within(hit, span) for hit in hits for span in spans),
            markers=tuple(hallucinated_markers(stream.answer, len(retrieval.sources))),
            baseline=_baseline(case, stream),
            seconds=seconds,
            judgements=await self._judged(case, stream),
        )  # fmt: skip

    async def _judged(self, case: Case, stream: AnswerStream) -> dict[str, Judgement]:
        if stream.reason:
            return {}
        sources = stream.retrieval.sources
        return {
            judge.name: await judge.judge(case.question, stream.answer, sources)
            for judge in self.judges
        }


def expected_of(case: Case, spans: Sequence[Span], stored: Stored) -> list[str]:
    """The ids of what answers the case; raises CaseError where nothing that is stored does."""
    ids = expected_ids(spans, stored.chunks, by_document=case.by_document)
    if spans and not ids:
        raise CaseError(f"case {case.id}: no stored chunk has its passage; ingest again")
    return ids


def _within(hit: Hit, span: Span) -> bool:
    return hit.source_uri == span.source and span.overlaps(hit.start_char or 0, hit.end_char or 0)


def _baseline(case: Case, stream: AnswerStream) -> bool | None:
    hits = stream.retrieval.hits
    first = sentences(hits[0].content)[:1] if hits else []
    return has_gold(first[0] if first else "", case.golds)
