"""Judging: whether an answer rests on its sources, by span support or by a model.

In a model's reply nothing counts but one JSON object of the contract's shape, so no stray "yes"
does. What can be checked without a model is not asked of it: which chunks are cited, and whether
each marker names a source.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, Protocol

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import ValidationError

from helix.answering.proof import Proof, prove
from helix.domain.citations import is_refusal, marker_numbers
from helix.domain.context import Source
from helix.domain.contract import Verdict
from helix.domain.prompt import user_turn
from helix.errors import HelixError, UpstreamError
from helix.language.terms import terms
from helix.providers.base import LanguageModel
from helix.settings import Settings
from helix.settings.prompts import prompt

ENOUGH = 1 / 3
"""Share of the question's terms that an answer, or what it cites, has to have to be about it."""


class OfflineJudge:
    """Needs no model: deterministic, and as strict as ``helix.answering.proof`` is.

    ``cited_ids`` are the chunk ids that markers name, in order of first use. Citations are correct
    where each marker names a source and supports a statement of its own. A refusal is grounded and
    relevant: whether it was right to refuse is not for this judge, who sees the sources only.
    """

    identity = "offline"

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Verdict:
        """The verdict; a few milliseconds, and raises nothing."""
        if is_refusal(answer):
            return Verdict(
                grounded=True, unsupported_claims=[], cited_ids=[],
                citations_correct=True, relevant=True,
            )  # fmt: skip
        proof = prove(answer, sources)
        unsupported = [answer[s.start : s.end] for s in proof.statements if s.problem is not None]
        numbers = marker_numbers(answer)
        cited = [sources[n - 1] for n in numbers if 1 <= n <= len(sources)]
        return Verdict(
            grounded=bool(proof.statements) and not unsupported,
            unsupported_claims=unsupported,
            cited_ids=[source.chunk_id for source in cited],
            citations_correct=_all_support(proof, numbers),
            relevant=_is_about(question, answer, cited),
        )


def _all_support(proof: Proof, numbers: Sequence[int]) -> bool:
    """True if there are citations, and each of them supports every statement that it marks."""
    for statement in proof.statements:
        supporting = {support.n for support in statement.supports}
        if not set(statement.numbers) <= supporting:
            return False
    return bool(numbers)


def _is_about(question: str, answer: str, cited: Sequence[Source]) -> bool:
    """True if the answer and its cited sources have a third of the question's terms."""
    asked = set(terms(question))
    said = set(terms(answer)).union(*(terms(f"{s.title} {s.content}") for s in cited))
    return len(asked & said) >= ENOUGH * len(asked)


ANSWER_PREFIX = "Answer to judge, as a JSON string: "
"""In front of the answer, on the last line: as JSON it has no line break to leave it by."""

_TRIES = 2
_FENCED = re.compile(r"\s*+```(?:json)?[ \t]*+\n(.*)\n```\s*", re.DOTALL | re.IGNORECASE)


class JudgeFailed(UpstreamError):
    """The model that judges gave no verdict that could be read, or none in time."""


class ModelJudge:
    """Judges by one call of ``llm``, or two where the first reply is no verdict.

    Gemini's replies are constrained by the API's ``response_schema``. LlamaIndex's
    ``astructured_predict`` sends that too, but lets the vendor's errors and cut replies through
    (llama-index-llms-google-genai 0.11.3), so the chat of helix.providers is used. Other vendors'
    replies are only parsed.

    Args:
        llm: its owner closes it.
        timeout: seconds that one verdict may take, both calls together.
    """

    def __init__(self, llm: LanguageModel, *, timeout: float) -> None:
        self.identity = llm.identity
        self._llm = llm
        self._timeout = timeout
        constrained = {"response_mime_type": "application/json", "response_schema": Verdict}
        is_gemini = llm.identity.partition(":")[0] == "gemini"
        self._options: dict[str, Any] = {**llm.brief}
        if is_gemini:
            self._options["generation_config"] = constrained

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Verdict:
        """The verdict on ``answer``, as Judge has it; raises UpstreamError, JudgeFailed."""
        messages = judge_messages(question, answer, sources)
        try:
            async with asyncio.timeout(self._timeout):
                verdict = await self._verdict(messages)
        except TimeoutError:
            raise JudgeFailed(
                f"the judge {self.identity} took longer than {self._timeout:g} seconds:"
                " try again, or raise HELIX_MODEL_TIMEOUT"
            ) from None
        return checked(verdict, answer, sources)

    async def _verdict(self, messages: list[ChatMessage]) -> Verdict:
        for _ in range(_TRIES):
            try:
                return parse(await self._reply(messages))
            except ValidationError:  # it holds the reply, which may quote documents
                continue
        raise JudgeFailed(
            f"the judge {self.identity} gave no verdict in JSON, twice:"
            " try again, or set HELIX_JUDGE to another model"
        )

    async def _reply(self, messages: list[ChatMessage]) -> str:
        try:
            response = await self._llm.reply(messages, **self._options)
        except (HelixError, TimeoutError):
            raise
        except Exception as error:
            kind = type(error).__name__
            raise UpstreamError(f"the judge's service failed ({kind}); try again") from error
        return response.message.content or ""


def judge_messages(question: str, answer: str, sources: Sequence[Source]) -> list[ChatMessage]:
    """The two messages of a judgement: rules, then sources, question and answer as data."""
    user = f"{user_turn(question, sources)}\n{ANSWER_PREFIX}{json.dumps(answer)}"
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt("judge")),
        ChatMessage(role=MessageRole.USER, content=user),
    ]


def parse(reply: str) -> Verdict:
    """The verdict that ``reply`` is: one JSON object, a code fence around it at most.

    Raises:
        pydantic.ValidationError: it is anything else; ``"yes"`` and ``1`` are no booleans.
    """
    fenced = _FENCED.fullmatch(reply)
    return Verdict.model_validate_json(fenced[1] if fenced else reply, strict=True)


def checked(verdict: Verdict, answer: str, sources: Sequence[Source]) -> Verdict:
    """``verdict`` with what is known for certain in place of what the model says of it."""
    numbers = marker_numbers(answer)
    known = [n for n in numbers if 1 <= n <= len(sources)]
    return verdict.model_copy(
        update={
            "grounded": verdict.grounded and not verdict.unsupported_claims,
            "cited_ids": [sources[n - 1].chunk_id for n in known],
            "citations_correct": verdict.citations_correct and known == numbers,
        }
    )


__all__ = ["Judge", "JudgeFailed", "ModelJudge", "OfflineJudge", "build_judge"]


class Judge(Protocol):
    """Judges one whole answer. ``identity`` names it as models are named: ``gemini:…``."""

    @property
    def identity(self) -> str: ...

    async def judge(self, question: str, answer: str, sources: Sequence[Source]) -> Verdict:
        """The verdict on ``answer``, whose markers number ``sources`` from 1.

        Raises:
            UpstreamError: the model's service failed, or (JudgeFailed) gave no usable verdict.
        """
        ...


def build_judge(settings: Settings, llm: LanguageModel) -> Judge:
    """The judge for answers; opens no connection.

    ``llm`` is the model of HELIX_JUDGE, or where that is not set the one that answers; its owner
    closes it. The offline model only quotes: in its place answers are judged by span support.
    """
    if llm.identity.partition(":")[0] == "offline":
        return OfflineJudge()
    return ModelJudge(llm, timeout=settings.model_timeout)
