"""What rewriting is to those who search: a question in, search terms out, or nothing."""

from __future__ import annotations

from typing import Protocol


class Rewriter(Protocol):
    """Makes search terms of a question. The terms are searched beside it, never shown."""

    async def terms(self, question: str) -> str | None:
        """One line of search terms; None: search the question alone. Raises nothing of its own."""
        ...
