"""Query rewriting: search terms for a conversational question, by one cheap call of a model."""

from __future__ import annotations

from typing import Protocol

from helix.providers.base import LanguageModel
from helix.retrieval.rewriting.model import TIMEOUT, ModelRewriter

__all__ = ["TIMEOUT", "ModelRewriter", "Rewriter", "build_rewriter"]


class Rewriter(Protocol):
    """Makes search terms of a question. The terms are searched beside it, never shown."""

    async def terms(self, question: str) -> str | None:
        """One line of search terms; None: search the question alone. Raises nothing of its own."""
        ...


def build_rewriter(
    llm: LanguageModel,
    *,
    enabled: bool,
    timeout: float = TIMEOUT,
    task: str = "search_terms",
) -> ModelRewriter | None:
    """The rewriter that asks ``llm``; None where none is wanted or ``llm`` cannot rewrite.

    The offline model only quotes, and adding synonyms instead found nothing more
    (docs/decisions/0016-rewriting.md). ``task`` is the prompt that it is told; ``timeout`` is in
    seconds. Opens no connection.
    """
    if not enabled or llm.identity.partition(":")[0] == "offline":
        return None
    return ModelRewriter(llm, timeout=timeout, task=task)
