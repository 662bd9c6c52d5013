"""Items of a model whose replies are scripted: good objects among spoilt ones, the last one cut."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.custom import CustomLLM

from helix.domain.context import Source
from helix.providers.base import LanguageModel
from helix.study.items import Card, Choice, Item, Kind
from helix.study.maker import OfflineMaker, Order, Part
from helix.study.model_maker import ModelMaker
from helix.study.offline.questions import IsFalse

_SPARE = 2
_SECONDS = 60
_INVENTED = "The council of Atlantis approved ____ in the second year of the flood."


class _Script(CustomLLM):
    """Replies ``reply``, whatever it is asked."""

    reply: str

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=self.reply))

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text=self.reply)

    def stream_complete(
        self, prompt: str, formatted: bool = False, **_: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


class ScriptedMaker:
    """ModelMaker over replies that are written of a passage's items by rule.

    Before each good object stands a spoilt one: with a wrong key, with an invented statement, or
    without a field. The reply ends within its last object. Quizzes are of the difficulty
    "advanced", which asks for no statements.
    """

    identity = "scripted:items"

    async def items(
        self, order: Order, passage: Source, limit: int, is_false: IsFalse
    ) -> AsyncIterator[Item | None]:
        """Yield items as Maker does."""
        objects: list[dict[str, Any]] = []
        async for item in OfflineMaker().items(order, passage, limit, is_false):
            assert item is not None, "a rule reads no reply"
            good = _object(item)
            objects += [_spoilt(good, len(objects) // 2), good]
            if len(objects) >= 2 * (limit + _SPARE):
                break
        reply = json.dumps({"items": [*objects, *objects[:1]]}, ensure_ascii=False)[:-4]
        llm = LanguageModel(_Script(reply=reply), self.identity)
        async for candidate in ModelMaker(llm, timeout=_SECONDS).items(
            order, passage, limit, is_false
        ):
            yield candidate

    async def outline(
        self, kind: Kind, passages: Sequence[Source], limit: int
    ) -> list[Part | None] | None:
        """None: this maker has no outline."""
        return None


def _object(item: Item) -> dict[str, Any]:
    if isinstance(item, Card):
        return {"front": item.front, "back": item.back}
    assert isinstance(item, Choice)
    return {
        "question": item.question, "statement": item.statement, "options": [*item.options],
        "answer": item.key, "explanation": item.explanation,
    }  # fmt: skip


def _spoilt(good: dict[str, Any], number: int) -> dict[str, Any]:
    if number % 3 == 2:
        return dict(list(good.items())[1:])
    if "back" in good:
        return good | {"back": _INVENTED.replace("____", good["front"][:40])}
    if number % 3 == 1:
        return good | {"statement": _INVENTED}
    return good | {"answer": (good["answer"] + 1) % len(good["options"])}
