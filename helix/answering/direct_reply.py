"""A client's own prompt put to the model as it is: no document is searched, nothing is recorded."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.errors import UpstreamError
from helix.providers.base import LanguageModel, model_failures

_LONGEST = 20_000  # characters of a reply


async def direct_reply(llm: LanguageModel, text: str, seconds: float) -> str:
    """The reply of ``llm`` to ``text``, at most the first 20,000 characters.

    Raises:
        UpstreamError: the model's service failed, or took longer than ``seconds``.
    """
    reply = ""
    try:
        async with asyncio.timeout(seconds):
            with model_failures(llm):
                messages = [ChatMessage(role=MessageRole.USER, content=text)]
                responses = await llm.stream(messages, **llm.brief)
                async with aclosing(responses):
                    async for response in responses:
                        reply += response.delta or ""
                        if len(reply) >= _LONGEST:
                            break
    except TimeoutError:
        raise UpstreamError(
            f"{llm.identity} took longer than {seconds:g} seconds: try again, or raise"
            " HELIX_MODEL_TIMEOUT"
        ) from None
    return reply[:_LONGEST]
