"""Gemini's response chunks as one answer: its text without thoughts, and whether it finished.

LlamaIndex's own reader takes a blocked, broken or endless answer for a complete one.
"""

from __future__ import annotations

from google.genai.types import FinishReason
from google.genai.types import GenerateContentResponse as Chunk
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, TextBlock
from llama_index.llms.google_genai.utils import chat_from_gemini_response

from helix.errors import UpstreamError


class AnswerReader:
    """Reads an answer's chunks: the text of its deltas, and how it ended."""

    def __init__(self) -> None:
        self._text = TextBlock(text="")
        self._message = ChatMessage(role=MessageRole.ASSISTANT, blocks=[self._text])
        self._finish = ""

    def take(self, chunk: Chunk) -> ChatResponse | None:
        """The chunk's text as a delta, thoughts left out; None where it has none.

        Raises:
            UpstreamError: the prompt was refused.
        """
        if chunk.prompt_feedback and (reason := chunk.prompt_feedback.block_reason):
            problem = f"Gemini refused the question or its sources ({reason.name})"
            raise UpstreamError(f"{problem}: ask in other words", transient=False)
        if not chunk.candidates:
            return None
        candidate = chunk.candidates[0]
        if candidate.finish_reason not in (None, FinishReason.FINISH_REASON_UNSPECIFIED):
            self._finish = candidate.finish_reason.name
        parts = candidate.content.parts if candidate.content else None
        delta = "".join(part.text for part in parts or () if part.text and not part.thought)
        if not delta:
            return None
        self._text.text += delta
        return ChatResponse(message=self._message, delta=delta)

    def check_not_cut(self) -> None:
        """Raise UpstreamError if the answer ended otherwise than by the model's own decision."""
        if self._finish in ("", "STOP"):
            return
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
        if not self._text.text:
            raise UpstreamError("Gemini finished without an answer: try again")


def whole_answer(response: Chunk) -> ChatResponse:
    """An answer that came in one piece, tool calls and thoughts included, held to the same end."""
    answer = AnswerReader()
    answer.take(response)
    if response.function_calls:
        answer.check_not_cut()
    else:
        answer.check_finished()
    return chat_from_gemini_response(response, [])
