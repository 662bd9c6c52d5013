"""The judges of an answer: a model, or the deterministic judge that looks for the spans.

Both give the same things, so that their agreement can be told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from llama_index.core.llms.llm import LLM

from evals.metrics.alce import CitationScores, Cited, citation_scores, entails_by_span
from evals.metrics.yes_no import strict_faithfulness, strict_relevancy, without_nltk
from helix.answering.judging import Judge, JudgeFailed, build_judge
from helix.answering.proof import prove
from helix.domain.citations import MARKER
from helix.domain.context import Source
from helix.domain.contract import Verdict
from helix.errors import SettingsError
from helix.providers.base import LanguageModel
from helix.providers.factories import build_llm
from helix.settings import Settings

OFFLINE = "offline"

_MARKER = re.compile(rf"\s*{MARKER.pattern}")


@dataclass(frozen=True)
class Judgement:
    """A judge's findings on one answer. ``verdict`` is None where the judge could not be read.

    ``unreadable`` counts its replies that could not be read, the verdict among them.
    """

    faithful: bool
    relevant: bool
    citations: CitationScores
    verdict: Verdict | None
    unreadable: int = 0


class AnswerJudge(Protocol):
    """Judges what was answered; refusals are not asked about."""

    name: str

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Judgement:
        """Of one answer over its numbered sources; raises UpstreamError as its model does."""
        ...


def statements_of(answer: str, sources: Sequence[Source]) -> list[Cited]:
    """The statements of an answer as helix.answering.proof divides it."""
    return [
        Cited(_parts(answer[one.start : one.end]), one.numbers)
        for one in prove(answer, sources).statements
    ]


def _parts(statement: str) -> tuple[str, ...]:
    """The texts between markers that have a letter or a digit."""
    parts = [part.strip() for part in _MARKER.split(statement)[::2]]
    return tuple(part for part in parts if any(c.isalnum() for c in part))


class OfflineJudge:
    """Span support: deterministic, and right only of answers that quote or nearly do."""

    def __init__(self, verdicts: Judge) -> None:
        self.name = OFFLINE
        self._verdicts = verdicts

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Judgement:
        verdict = await self._verdicts.judge(question, answer, sources)
        statements = statements_of(answer, sources)
        scores = await citation_scores(statements, sources, entails_by_span)
        faithful = bool(statements) and all(
            [await entails_by_span(one, sources) for one in statements]
        )
        return Judgement(faithful, verdict.relevant, scores, verdict)


class ModelJudge:
    """A model: LlamaIndex's evaluators, the same for entailment, and the Verdict."""

    def __init__(self, llm: LanguageModel, verdicts: Judge) -> None:
        if not isinstance(llm.model, LLM):
            raise SettingsError(f"{llm.identity} cannot judge: set HELIX_JUDGE to another model")
        self.name = llm.identity
        self._verdicts = verdicts
        without_nltk()
        self._faithful = strict_faithfulness(llm.model)
        self._relevant = strict_relevancy(llm.model)

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Judgement:
        said = _MARKER.sub("", answer)
        contexts = [source.content for source in sources]
        replies = [await self._faithful.evaluate(question, said, contexts)]
        replies.append(await self._relevant.evaluate(question, said, contexts))

        async def entails(statement: Cited, cited: Sequence[Source]) -> bool:
            contents = [source.content for source in cited]
            replies.append(await self._faithful.evaluate(None, statement.text, contents))
            return bool(replies[-1].passing)

        scores = await citation_scores(statements_of(answer, sources), sources, entails)
        try:
            verdict = await self._verdicts.judge(question, answer, sources)
        except JudgeFailed:
            verdict = None
        unreadable = sum(reply.invalid_result for reply in replies) + (verdict is None)
        return Judgement(
            bool(replies[0].passing), bool(replies[1].passing), scores, verdict, unreadable
        )


def judge_name(settings: Settings, asked: str | None) -> str:
    """The judge's name, as HELIX_LLM names models: a model where one can be had, else ``offline``.

    Raises:
        SettingsError: ``asked`` is ``model`` and there is none.
    """
    models = [settings.judge, settings.llm, "gemini" if settings.gemini_api_key else None]
    model = next((name for name in models if name and name.partition(":")[0] != OFFLINE), None)
    if asked == "model" and model is None:
        raise SettingsError("no model can judge: set GEMINI_API_KEY, or HELIX_JUDGE to a model")
    return OFFLINE if asked == OFFLINE or model is None else model


def offline_judge(settings: Settings) -> AnswerJudge:
    """The deterministic judge."""
    named = settings.model_copy(update={"judge": OFFLINE, "llm": OFFLINE})
    return OfflineJudge(build_judge(named, build_llm(named)))


def model_judge(settings: Settings, name: str) -> tuple[AnswerJudge, LanguageModel]:
    """The judge that is the model ``name``, and the model, for its caller to close.

    Raises:
        SettingsError: as build_llm does.
    """
    named = settings.model_copy(update={"judge": name, "llm": name})
    llm = build_llm(named)
    return ModelJudge(llm, build_judge(named, llm)), llm
