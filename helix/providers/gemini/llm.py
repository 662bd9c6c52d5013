"""Gemini's chat, by the model's family: every answer ends in STOP or raises."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from functools import lru_cache
from typing import Any

import anyio
import httpx
from google.genai import Client
from google.genai._transformers import t_schema
from google.genai.types import FunctionDeclaration, ThinkingConfig, Tool
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms.callbacks import llm_chat_callback
from llama_index.core.tools import BaseTool
from llama_index.llms.google_genai import GoogleGenAI
from pydantic import BaseModel

from helix.providers.base import LanguageModel, collecting_responses
from helix.providers.gemini.answer import AnswerReader, contents_of, system_of, whole_answer
from helix.providers.gemini.errors import Target
from helix.providers.gemini.families import Family, cost_usd, family_of, gemini_title
from helix.providers.gemini.http import GeminiConnection, connect, upstream_errors
from helix.providers.gemini.models_list import best_model, listed_models
from helix.providers.retries import INTERACTIVE, RetryPolicy
from helix.providers.schemas import gemini_schema
from helix.settings import Settings
from helix.telemetry.usage_meter import today

AUTO = "auto"
"""The name that stands for the best current model."""
OUTPUT_TOKENS = 8192
"""Tokens that LlamaIndex reserves for an answer. Not sent: thinking counts towards the limit on the
wire, so the model's own ceiling holds there."""

BRIEF = {"least_thinking": True}
"""Options of a chat for which the model thinks as little as its family can."""

CLOSE_SECONDS = 1.0
"""Longest wait for an upstream connection to close once nobody reads its stream any more."""
_KEPT = 512
"""Declarations that are kept: each tool once for every wording of its description."""


class GeminiLLM(GoogleGenAI):
    """Chats; every answer, streamed or whole, ends in STOP or raises.

    What may be sent is the family's (families.py): temperature 0 where it takes one, and thinking
    by a level or by a budget where ``BRIEF`` asks for little of it.

    Raises UpstreamError for a failed request, a refused prompt (before the first delta), and
    an answer that was blocked, cut at its length limit, broken off or left without an end (after
    the deltas that did arrive). Each ChatResponse of a stream carries a new ``delta`` and the
    same message object, whose text grows; the last one has an empty delta and the answer's Usage.

    With tools an answer may be calls alone, or empty. Its message goes back into the next request
    exactly as it came (answer.py); a call that nobody can read raises MalformedCall. ``thoughts``
    asks for the model's thoughts then, which a stream tells as ``thinking_delta``.
    """

    _target: Target
    _thoughts: bool
    _family: Family

    def __init__(self, connection: GeminiConnection, *, thoughts: bool = False) -> None:
        family = family_of(connection.target.model)
        super(GoogleGenAI, self).__init__(
            model=connection.target.model,
            temperature=None,
            context_window=family.context_tokens,
            max_retries=0,
            file_mode="inline",
        )
        self._client = connection.sdk
        self._target = connection.target
        self._thoughts = thoughts
        self._max_tokens = OUTPUT_TOKENS
        self._family = family
        self._generation_config = {
            # The SDK would call functions and resume cut answers by requests of its own.
            "automatic_function_calling": {"disable": True},
            "automatic_continuation": False,
        }
        if family.sampling:
            self._generation_config["temperature"] = 0.0

    async def _request(
        self, messages: Sequence[ChatMessage], options: dict[str, Any]
    ) -> dict[str, Any]:
        """LlamaIndex's messages and options as arguments of the SDK's generate_content."""
        config = {**self._generation_config, **options.get("generation_config", {})}
        if system := system_of(messages):
            config["system_instruction"] = system
        thinking: dict[str, Any] = {}
        if options.get("least_thinking"):
            thinking |= self._family.least_thinking
        if tools := options.get("tools"):
            config |= {"tools": tools, "tool_config": options.get("tool_config")}
            if self._thoughts:
                thinking["include_thoughts"] = True
        if thinking:
            config["thinking_config"] = ThinkingConfig(**thinking)
        contents = await contents_of(messages, self.model, self._client)
        # a dict: the SDK copies a config, with the schema of every tool, before it sends it
        return {"model": self.model, "contents": contents, "config": config}

    def _prepare_chat_with_tools(
        self, tools: Sequence[BaseTool], *args: Any, **options: Any
    ) -> dict[str, Any]:
        """LlamaIndex's request, its tools as helix.providers.gemini.llm declares them."""
        required = options.get("tool_required") or options.get("tool_choice")
        prepared = super()._prepare_chat_with_tools(tools if required else [], *args, **options)
        return prepared | {"tools": declared(self._client, tools) or None}

    def _reader(self, options: dict[str, Any]) -> AnswerReader:
        return AnswerReader(self._tools_of(options))

    def _tools_of(self, options: dict[str, Any]) -> str:
        """The model's name where ``options`` let it call tools."""
        return self.model if options.get("tools") else ""

    def _chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        request = asyncio_run(self._request(messages, kwargs))
        with upstream_errors(self._target):
            response = self._client.models.generate_content(**request)
        return whole_answer(response, self._tools_of(kwargs))

    async def _achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        request = await self._request(messages, kwargs)
        with upstream_errors(self._target):
            response = await self._client.aio.models.generate_content(**request)
        return whole_answer(response, self._tools_of(kwargs))

    def _stream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> Generator[ChatResponse, None, None]:
        return self._deltas(asyncio_run(self._request(messages, kwargs)), self._reader(kwargs))

    async def _astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        return self._stream_deltas(await self._request(messages, kwargs), self._reader(kwargs))

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        """LlamaIndex's astream_chat, callbacks and all, whose ``aclose`` closes the upstream too.

        The stock one leaves its inner generator, and the socket, to the garbage collector.
        """
        inner = await self._astream_chat(messages, **kwargs)

        @llm_chat_callback()
        async def reported(_: GeminiLLM, __: Sequence[ChatMessage], **___: Any) -> Any:
            return inner

        return _closing(await reported(self, messages, **kwargs), inner)

    def _deltas(
        self, request: dict[str, Any], answer: AnswerReader
    ) -> Generator[ChatResponse, None, None]:
        responses: list[httpx.Response] = []
        try:
            chunks = self._client.models.generate_content_stream(**request)
            while True:
                with collecting_responses(responses), upstream_errors(self._target):
                    chunk = next(chunks, None)
                if chunk is None:
                    break
                if response := answer.take(chunk):
                    yield response
                answer.check_not_cut()
            answer.check_finished()
            yield answer.ending
        finally:
            answer.count()
            for upstream in responses:
                upstream.close()

    async def _stream_deltas(
        self, request: dict[str, Any], answer: AnswerReader
    ) -> AsyncGenerator[ChatResponse, None]:
        responses: list[httpx.Response] = []
        try:
            with upstream_errors(self._target):
                chunks = await self._client.aio.models.generate_content_stream(**request)
            while True:
                with collecting_responses(responses), upstream_errors(self._target):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    break
                if response := answer.take(chunk):
                    yield response
                answer.check_not_cut()
            answer.check_finished()
            yield answer.ending
        finally:
            answer.count()
            # Shielded: a client that leaves cancels us, and closing is what it should bring about.
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                for upstream in responses:
                    await upstream.aclose()


async def _closing(
    outer: AsyncGenerator[ChatResponse, None], inner: AsyncGenerator[ChatResponse, None]
) -> AsyncGenerator[ChatResponse, None]:
    """Yield what ``outer`` does, and close the generator it reads as soon as it is closed."""
    try:
        async for response in outer:
            yield response
    finally:
        await outer.aclose()
        await inner.aclose()


def declared(client: Client, tools: Sequence[BaseTool]) -> list[Tool]:
    """The tools with their whole descriptions, as one ``Tool`` of the SDK; none without tools.

    LlamaIndex (0.11.3) leaves out the first line of a description that has several, and makes the
    schema of every tool anew for each turn.
    """
    found = [
        _declaration(client, metadata.name or "", metadata.description, metadata.fn_schema)
        for metadata in (tool.metadata for tool in tools)
        if metadata.fn_schema
    ]
    return [Tool(function_declarations=found)] if found else []


@lru_cache(maxsize=_KEPT)
def _declaration(
    client: Client, name: str, description: str, schema: type[BaseModel]
) -> FunctionDeclaration:
    parameters = t_schema(client._api_client, schema)
    return FunctionDeclaration(name=name, description=description, parameters=parameters)


def gemini_llm(
    settings: Settings, model: str = "", *, policy: RetryPolicy = INTERACTIVE
) -> LanguageModel:
    """Chat with ``model``, or ``GEMINI_MODEL`` where it is empty.

    Reads the list of models, for a few seconds at most, where none of today is kept: ``auto``
    stands for the best of it, and a model that is not on it has gone. Opens no other connection.

    Raises:
        SettingsError: ``GEMINI_API_KEY`` is missing or malformed.
    """
    variable = "HELIX_LLM" if model else "GEMINI_MODEL"
    name, listed = model or settings.gemini_model, listed_models(settings)
    if name.lower() == AUTO:
        name = best_model(listed or (), today())
    gone = listed is not None and name.rpartition("/")[2] not in listed
    connection = connect(settings, Target(name, variable), policy)
    return LanguageModel(
        model=GeminiLLM(connection),
        identity=f"gemini:{connection.target.model}",
        hears=True,
        thinking=GeminiLLM(connection, thoughts=True),
        title=gemini_title(connection.target.model),
        title_of=gemini_title,
        brief=BRIEF,
        cost=cost_usd,
        lifetime=family_of(name).lifetime(name, variable, gone=gone),
        schema_options=gemini_schema,
        aclose=connection.aclose,
    )
