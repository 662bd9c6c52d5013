"""Questions put to one answerer through the pipeline that serves; answers kept, and judged."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evals.real.answers import Answers, KeptAnswer, Key
from evals.real.judged_answer import JudgedAnswer
from evals.real.llama import LlamaServer
from evals.real.questions import RealQuestion
from helix.answering.answer import answer_of
from helix.answering.form.schema import FORM_RULES, answer_schema
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.answering.stream import AnswerStream
from helix.domain.contract import GROUNDING_RULES
from helix.errors import HelixError
from helix.providers.llama_grammar import llama_schema
from helix.services import Services, open_services
from helix.settings import load_settings
from helix.settings.prompts import Prompts

OFFLINE = "offline"
TEXT, SCHEMA = "text", "schema"
_TIMEOUT = 600.0
"""Seconds until the first token: on a loaded machine a prompt is read for minutes."""
ANSWER_TOKENS = 400
"""The longest answer; a small model that repeats itself would go on for minutes."""


@dataclass(frozen=True)
class Answerer:
    """Open services that answer in one form; ``name`` and ``form`` are as in Key."""

    name: str
    form: str
    top_k: int
    services: Services

    def key(self, question: RealQuestion) -> Key:
        """Of its answer to ``question``."""
        told = [str(self.top_k)]
        if self.name != OFFLINE:
            told += [GROUNDING_RULES, Prompts().text("answering_style", {})]
        if self.form == SCHEMA:
            told += [FORM_RULES, json.dumps(llama_schema(answer_schema(self.top_k)))]
        fingerprint = hashlib.sha256("\0".join(told).encode()).hexdigest()[:12]
        return Key(self.name, self.form, question.suite, question.id, fingerprint)

    async def answer(self, question: RealQuestion, *, beside: bool = False) -> KeptAnswer:
        """Its answer to ``question``, or the failure that it ended in."""
        asked = Question(question.case.question, question.scope)
        request = AnswerRequest(self.services.answering, asked, recorded=False)
        began = time.perf_counter()
        text, error, first, usage = "", None, None, None
        try:
            async with aclosing(await request.start()) as stream:
                first = time.perf_counter() - began
                async for _ in stream:
                    continue
            text, usage = stream.answer, stream.usage
        except HelixError as failure:
            error = str(failure)
        whole = time.perf_counter() - began
        return KeptAnswer(
            self.key(question), text, error, whole if first is None else first, whole, beside,
            usage.model if usage else None, usage.tokens if usage else None,
        )  # fmt: skip

    async def judged(self, question: RealQuestion, kept: KeptAnswer) -> JudgedAnswer:
        """A kept answer as it is counted, proved anew by the present rules.

        Its sources are searched again, which finds the same ones.
        """
        if kept.error:
            return JudgedAnswer(question, kept, None)
        retrieval = await self.services.engine.retriever.search(
            question.case.question, question.scope, self.top_k
        )
        stream = AnswerStream(_said(kept.text), retrieval)
        await stream.prime()
        async for _ in stream:
            continue
        asked = Question(question.case.question, question.scope)
        return JudgedAnswer(question, kept, answer_of(stream, asked, [], 0.0, by_proof=True))


async def _said(text: str) -> AsyncGenerator[str, None]:
    yield text


@asynccontextmanager
async def open_answerer(
    name: str, form: str, top_k: int, database: Path, server: LlamaServer | None = None
) -> AsyncIterator[Answerer]:
    """An answerer over what is stored in the embedded ``database``.

    Without ``server`` it is the offline one.
    """
    at: dict[str, object] = {"llm": OFFLINE}
    if server:
        at = {
            "llm": f"server:{name}", "model_server": server.api, "model_server_key": server.key,
            "model_timeout": _TIMEOUT, "answer_form": form, "answer_tokens": ANSWER_TOKENS,
        }  # fmt: skip
    settings = load_settings(
        database_url=f"embedded:{database}", embedder=OFFLINE, retrieval_top_k=top_k,
        receipt_days=0, **at,
    )  # fmt: skip
    async with open_services(settings) as services:
        yield Answerer(name, form, top_k, services)


async def ask_missing(
    question: RealQuestion, answerers: list[Answerer], answers: Answers
) -> list[KeptAnswer]:
    """Ask those of ``answerers`` whose answer is not kept yet; what was asked now."""
    missing = [one for one in answerers if one.key(question) not in answers]
    asked = []
    for answerer in missing:
        asked.append(await answerer.answer(question, beside=len(missing) > 1))
        answers.keep(asked[-1])
    return asked
