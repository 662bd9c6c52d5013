"""How a turn of a conversation is searched: by the rule, and by a model's rewrite beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helix.domain.followups import FollowUp, follow_up
from helix.domain.history import History
from helix.retrieval.rewriting import Rewriter


@dataclass(frozen=True)
class Understanding:
    """Understands turns; with a ``rewriter`` those that depend are reworded.

    Its task is the prompt ``standalone_question``.
    """

    rewriter: Rewriter | None = None

    async def of(self, question: str, history: History) -> FollowUp:
        """``question`` as it follows ``history``. A rewrite that fails or is late is left out."""
        found = follow_up(question, history)
        if self.rewriter is None or not found.depends:
            return found
        asked = [text for text, _ in reversed(found.earlier)]
        lines = [" ".join(text.split()) for text in (*asked, question)]
        return replace(found, standalone=await self.rewriter.terms("\n".join(lines)))
