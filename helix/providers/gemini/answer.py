"""Gemini's response chunks as one answer: its text without thoughts, and whether it finished.

LlamaIndex's own reader takes a blocked, broken or endless answer for a complete one. An answer with
calls of tools keeps the parts as they came, for they are sent back as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.genai import Client
from google.genai.types import Content, FinishReason, Part
from google.genai.types import GenerateContentResponse as Chunk
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.llms.google_genai.utils import chat_from_gemini_response, chat_message_to_gemini

from helix.domain.usage import KEY, Usage
from helix.errors import UpstreamError
from helix.providers.base import MalformedCall
from helix.providers.gemini.families import cost_usd
from helix.telemetry.usage_meter import count_call

_MALFORMED = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")


class AnswerReader:
    """Reads an answer's chunks: the text of its deltas, and how it ended.

    ``tools_of`` names the model where it may call tools: then calls and thoughts are told too, an
    answer may be empty, and the message carries the vendor's parts.
    """

    def __init__(self, tools_of: str = "") -> None:
        self._text = TextBlock(text="")
        self.message = ChatMessage(role=MessageRole.ASSISTANT, blocks=[self._text])
        self.usage = Usage("")
        self._counted = False
        self._finish = ""
        self._tools_of = tools_of
        self._parts: list[Part] = []

    def take(self, chunk: Chunk) -> ChatResponse | None:
        """The chunk's text as a delta, thoughts left out; None where it has none.

        Raises:
            UpstreamError: the prompt was refused.
        """
        self.usage = self.usage.updated(_usage(chunk))
        if chunk.prompt_feedback and (reason := chunk.prompt_feedback.block_reason):
            problem = f"Gemini refused the question or its sources ({reason.name})"
            raise UpstreamError(f"{problem}: ask in other words", transient=False)
        if not chunk.candidates:
            return None
        candidate = chunk.candidates[0]
        if candidate.finish_reason not in (None, FinishReason.FINISH_REASON_UNSPECIFIED):
            self._finish = candidate.finish_reason.name
        parts = (candidate.content.parts if candidate.content else None) or []
        delta = "".join(part.text for part in parts if part.text and not part.thought)
        self._text.text += delta
        if self._tools_of:
            return self._with_calls(parts, delta)
        return ChatResponse(message=self.message, delta=delta) if delta else None

    def _with_calls(self, parts: list[Part], delta: str) -> ChatResponse | None:
        """The response of a chunk of ``parts``, each of which is kept as it came."""
        for part in parts:
            self._parts.append(part)
            if call := part.function_call:
                self.message.blocks.append(
                    ToolCallBlock(
                        tool_call_id=call.id or local_call_id(len(self._parts)),
                        tool_name=call.name or "",
                        tool_kwargs=call.args or {},
                    )
                )
        if not parts:
            return None
        content = Content(role="model", parts=list(self._parts))
        self.message.additional_kwargs = vendor_kwargs(self._tools_of, content)
        thought = "".join(part.text for part in parts if part.text and part.thought)
        beside = {"thinking_delta": thought} if thought else {}
        return ChatResponse(message=self.message, delta=delta, additional_kwargs=beside)

    @property
    def ending(self) -> ChatResponse:
        """The response that ends a stream: the whole message, no delta, and the usage."""
        return ChatResponse(message=self.message, delta="", additional_kwargs={KEY: self.usage})

    def count(self) -> None:
        """Count the call in the metrics: once, however the answer ended."""
        if self.usage.model and not self._counted:
            self._counted = True
            count_call(self.usage.model, self.usage.tokens, cost_usd(self.usage))

    def check_not_cut(self) -> None:
        """Raise UpstreamError if the answer ended otherwise than by the model's own decision."""
        if self._finish in ("", "STOP"):
            return
        if self._finish in _MALFORMED:
            raise MalformedCall(
                f"Gemini called a tool in a way that nobody can read ({self._finish}): ask again"
            )
        if self._finish == "MAX_TOKENS":
            problem, remedy = "Gemini's answer was cut at its length limit", "ask for less at once"
        else:
            problem, remedy = "Gemini broke off its answer", "ask in other words"
        raise UpstreamError(
            f"{problem} ({self._finish}): {remedy}", transient=self._finish == "OTHER"
        )

    def check_finished(self) -> None:
        """Raise UpstreamError unless the model said something and that it had finished."""
        self.check_not_cut()
        if not self._finish:
            raise UpstreamError("Gemini's answer ended before it was finished: try again")
        if not self._text.text and not self._tools_of:
            raise UpstreamError("Gemini finished without an answer: try again")


def whole_answer(response: Chunk, tools_of: str = "") -> ChatResponse:
    """An answer that came in one piece, tool calls and thoughts included, held to the same end."""
    answer = AnswerReader(tools_of)
    answer.take(response)
    answer.count()
    if tools_of:
        answer.check_finished()
        return answer.ending
    if response.function_calls:
        answer.check_not_cut()
    else:
        answer.check_finished()
    read = chat_from_gemini_response(response, [])
    read.additional_kwargs[KEY] = answer.usage
    return read


def _usage(chunk: Chunk) -> Usage:
    """A chunk's usage, which counts from the beginning of the answer."""
    counts = chunk.usage_metadata
    if counts is None:
        return Usage(chunk.model_version or "")
    return Usage(
        chunk.model_version or "",
        counts.prompt_token_count,
        counts.candidates_token_count,
        counts.cached_content_token_count,
        counts.thoughts_token_count,
    )


_CONTENT, _MODEL = "gemini_content", "gemini_model"
_LOCAL = "helix-call-"
"""Begins the ids of calls that came without one (Vertex AI): the vendor is never sent them."""
_TAKEN_OUT = ("thought_signatures", _CONTENT, _MODEL)


def local_call_id(place: int) -> str:
    """The id of a call that came without one, the ``place``-th part of its turn."""
    return f"{_LOCAL}{place}"


def vendor_kwargs(model: str, content: Content) -> dict[str, Any]:
    """The ``additional_kwargs`` of a message that ``model`` has said in these words."""
    return {_CONTENT: content, _MODEL: model}


def system_of(messages: Sequence[ChatMessage]) -> str:
    """All system messages as one text, which goes into Gemini's own channel for it."""
    found = (message.content or "" for message in messages if message.role == MessageRole.SYSTEM)
    return "\n\n".join(found)


async def contents_of(messages: Sequence[ChatMessage], model: str, client: Client) -> list[Content]:
    """``messages`` but the system's, for ``model``; neither they nor their lists are changed."""
    names = {
        block.tool_call_id: block.tool_name
        for message in messages
        for block in message.blocks
        if isinstance(block, ToolCallBlock) and block.tool_call_id
    }
    contents: list[Content] = []
    for message in messages:
        if message.role == MessageRole.SYSTEM:
            continue
        content = _said_by(message, model)
        if content is None:
            content, _ = await chat_message_to_gemini(_plain(message), "inline", client, names)
        if parts := [_without_local_id(part) for part in content.parts or []]:
            _append(contents, content.role or "user", parts)
    return contents


def _said_by(message: ChatMessage, model: str) -> Content | None:
    """The content that ``model`` sent, as it came; None of a message that is anybody else's."""
    if message.additional_kwargs.get(_MODEL) != model:
        return None
    content: Content = message.additional_kwargs[_CONTENT]
    return content


def _plain(message: ChatMessage) -> ChatMessage:
    """A copy without signatures, and without empty texts, which would repeat the part before."""
    blocks = [b for b in message.blocks if not isinstance(b, TextBlock) or b.text]
    kwargs = {k: v for k, v in message.additional_kwargs.items() if k not in _TAKEN_OUT}
    return ChatMessage(role=message.role, blocks=blocks, additional_kwargs=kwargs)


def _without_local_id(part: Part) -> Part:
    response = part.function_response
    if response is None or not (response.id or "").startswith(_LOCAL):
        return part
    return part.model_copy(update={"function_response": response.model_copy(update={"id": None})})


def _append(contents: list[Content], role: str, parts: list[Part]) -> None:
    """Add ``parts`` as a turn, or to the last turn of the same role.

    The results of calls stay a turn of their own: Gemini counts them against the calls before.
    """
    last = contents[-1] if contents else None
    if last and last.role == role and _are_results(last.parts or []) == _are_results(parts):
        contents[-1] = Content(role=role, parts=[*(last.parts or []), *parts])
    else:
        contents.append(Content(role=role, parts=parts))


def _are_results(parts: Sequence[Part]) -> bool:
    return any(part.function_response is not None for part in parts)
