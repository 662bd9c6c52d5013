"""The search for a turn of a conversation: by the rule, and by a model's rewrite beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from helix.domain.followups import FollowUp, follow_up
from helix.domain.history import History
from helix.overload.fairness import off_loop_if_long
from helix.retrieval.rewriting import Rewriter


@dataclass(frozen=True)
class Understanding:
    """Understands turns; with a ``rewriter`` those that depend are reworded.

    Its task is the prompt ``standalone_question``. A turn that it leaves as it is stands alone.
    """

    rewriter: Rewriter | None = None

    async def of(self, question: str, history: History) -> FollowUp:
        """``question`` as it follows ``history``. A rewrite that fails or is late is left out."""
        length = len(question) + sum(len(turn.question) for turn in history.turns)
        found = await off_loop_if_long(length, follow_up, question, history)
        if self.rewriter is None or not found.depends:
            return found
        asked = [text for text, _ in reversed(found.earlier)]
        lines = [" ".join(text.split()) for text in (*asked, question)]
        standalone = await self.rewriter.terms("\n".join(lines))
        if standalone is None or _letters(standalone) in map(_letters, asked):
            return found  # an earlier question again is not the newest in other words
        if _letters(standalone) == _letters(question):
            return FollowUp(question)
        return replace(found, standalone=standalone, tentative=False)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
