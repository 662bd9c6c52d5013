"""Gemini's response chunks as one answer: its text without thoughts, and whether it finished.

LlamaIndex's own reader takes a blocked, broken or endless answer for a complete one. An answer with
calls of tools keeps the parts as they came, for they are sent back as they were (contents.py).
"""

from __future__ import annotations

from datetime import UTC, datetime

from google.genai.types import Content, FinishReason, Part
from google.genai.types import GenerateContentResponse as Chunk
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.llms.google_genai.utils import chat_from_gemini_response

from helix.domain.usage import KEY, Usage
from helix.errors import UpstreamError
from helix.providers.base import MalformedCall
from helix.providers.gemini.contents import local_call_id, vendor_kwargs
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
            cost = cost_usd(self.usage, datetime.now(UTC).date())
            count_call(self.usage.model, self.usage.tokens, cost)

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
