"""Items and outlines by a language model: one call each, whose reply has to fit a JSON schema.

Nothing in the reply is trusted: each item is examined like one that was made by rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from pydantic import BaseModel

from helix.domain.context import Source
from helix.domain.prompt import user_turn
from helix.errors import HelixError, UpstreamError
from helix.providers.base import LanguageModel
from helix.settings import Settings
from helix.settings.prompts import prompt
from helix.study.items import Item, Kind
from helix.study.maker import Maker, OfflineMaker, Order, Part
from helix.study.offline.questions import IsFalse, number_of
from helix.study.replies import (
    CardObject,
    Cards,
    ChoiceObject,
    Choices,
    LessonObject,
    Lessons,
    NodeObject,
    Nodes,
    StatementObject,
    Statements,
    items_in,
    parts_in,
)

_SPARE = 1
"""Items asked for beyond those wanted, because some have no proof."""
_STATEMENTS_EVERY = 4  # passages of which one is asked for true and false


class ModelMaker:
    """Makes items by calls of ``llm``, which its owner closes.

    Gemini's replies are constrained by the API's ``response_schema``, as the judge's are
    (helix.answering.judging says why not by LlamaIndex's ``astructured_predict``); other
    vendors' are only read.

    Args:
        timeout: seconds that one call may take.
    """

    def __init__(self, llm: LanguageModel, *, timeout: float) -> None:
        self.identity = llm.identity
        self._llm = llm
        self._timeout = timeout
        self._is_gemini = llm.identity.partition(":")[0] == "gemini"

    async def items(
        self, order: Order, passage: Source, limit: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """See Maker."""
        count = limit + _SPARE
        if order.kind == "cards":
            reply = await self._reply(prompt("study_cards", count=count), Cards, [passage])
            objects = items_in(reply, CardObject)
        elif _asks_for_statements(order, passage):
            reply = await self._reply(
                prompt("study_statements", count=count), Statements, [passage]
            )
            objects = items_in(reply, StatementObject)
        else:
            rules = prompt("study_questions", count=count, difficulty=order.difficulty)
            reply = await self._reply(rules, Choices, [passage])
            objects = items_in(reply, ChoiceObject)
        for item in objects:
            yield item

    async def outline(
        self, kind: Kind, passages: Sequence[Source], limit: int
    ) -> list[Part | None] | None:
        """See Maker."""
        if kind == "workshop":
            reply = await self._reply(prompt("study_lessons", count=limit), Lessons, passages)
            return parts_in(reply, LessonObject)
        reply = await self._reply(prompt("study_nodes", count=limit), Nodes, passages)
        return parts_in(reply, NodeObject)

    async def _reply(self, rules: str, shape: type[BaseModel], passages: Sequence[Source]) -> str:
        request = "Write the items of [1]." if len(passages) == 1 else "Write the outline."
        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=rules),
            ChatMessage(role=MessageRole.USER, content=user_turn(request, passages)),
        ]
        constrained = {"response_mime_type": "application/json", "response_schema": shape}
        options: dict[str, Any] = {"generation_config": constrained} if self._is_gemini else {}
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._llm.reply(messages, **options)
        except HelixError:
            raise
        except TimeoutError:
            raise UpstreamError(
                f"{self.identity} took longer than {self._timeout:g} seconds over a study set:"
                " try again, or raise HELIX_MODEL_TIMEOUT"
            ) from None
        except Exception as error:
            kind = type(error).__name__
            raise UpstreamError(f"the service of {self.identity} failed ({kind})") from error
        return response.message.content or ""


def _asks_for_statements(order: Order, passage: Source) -> bool:
    every = 0 if order.difficulty == "advanced" else _STATEMENTS_EVERY
    return every > 0 and number_of(passage.content) % every == 0


def build_maker(settings: Settings, llm: LanguageModel) -> Maker:
    """The maker of items for ``llm``, which its owner closes; by rule where it only quotes."""
    if llm.identity.partition(":")[0] == "offline":
        return OfflineMaker()
    return ModelMaker(llm, timeout=settings.model_timeout)
