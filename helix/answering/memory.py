"""The rolling summary of a conversation: one short call after each turn, or the questions alone."""

from __future__ import annotations

import asyncio
import logging

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.domain.citations import MARKER
from helix.domain.history import History, defused
from helix.errors import problem_of
from helix.providers.base import LanguageModel
from helix.settings.prompts import prompt

LONGEST = 2000
"""Characters of a summary at most."""
SUMMARY_SECONDS = 20.0
"""Longest that a model may take for one."""
_ANSWER = 4000  # characters of an answer that are read
_SENTENCE = 160  # of an answer that a summary without a model keeps

_logger = logging.getLogger(__name__)


async def next_summary(
    llm: LanguageModel, history: History, question: str, answer: str, *, asks: bool = True
) -> str:
    """The summary of ``history`` and of the turn after it, of at most LONGEST characters.

    ``history.summary`` is that of all turns before. Where the model is not to be asked (``asks``),
    is offline, fails or takes longer than SUMMARY_SECONDS it is the questions, each with the
    beginning of its answer. Raises nothing of its own.
    """
    answer = MARKER.sub("", answer).strip()
    plain = _cut(f"{history.summary}\n- {_line(question)}: {_line(answer)}".strip())
    if not asks or llm.identity.partition(":")[0] == "offline":
        return plain
    try:
        async with asyncio.timeout(SUMMARY_SECONDS):
            summary_text = await _model_summary(llm, history.summary, question, answer)
    except Exception as error:  # noqa: BLE001 - whatever it was, the turn is summed up without it
        _logger.warning("summing up by %s failed: %s", llm.identity, problem_of(error))
        return plain
    return summary_text[:LONGEST].strip() or plain


def _line(text: str) -> str:
    return " ".join(text.split())[:_SENTENCE]


def _cut(summary: str) -> str:
    """The last lines of ``summary`` that have at most LONGEST characters together."""
    if len(summary) <= LONGEST:
        return summary
    return summary[-LONGEST:].partition("\n")[2]


async def _model_summary(llm: LanguageModel, summary: str, question: str, answer: str) -> str:
    said = "\n".join(
        f"{name}: {defused(text)}"
        for name, text in (
            ("Summary so far", summary or "none"),
            ("User asked", question),
            ("Answer given", answer[:_ANSWER]),
        )
    )
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt("conversation_summary")),
        ChatMessage(role=MessageRole.USER, content=said),
    ]
    return await llm.beginning(messages, LONGEST, **llm.brief)
