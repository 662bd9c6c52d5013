"""The wall before the answering path: whatever gathers passages hands over one Retrieval.

One search of the question is the engine's own way of gathering. A gatherer, such as the agent, may
take several steps and tell of them; its sources are numbered in the order that it hands over.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from helix.domain.followups import FollowUp
from helix.domain.prompt import Before
from helix.domain.retrieval import Retrieval
from helix.domain.scope import Scope

Mode = Literal["answer", "agent"]
"""``answer``: from one search; ``agent``: from what tools gathered."""
Event = tuple[str, Any]
"""An event's name, and its payload, which is JSON."""


@dataclass(frozen=True)
class Assignment:
    """What sources are wanted for.

    Args:
        question: as it is understood in its conversation.
        written: the user's own words of this turn.
        scope: the tenant, and the documents that may be answered from.
        time_zone: the asker's, an IANA name.
        follow_up: how the question itself is searched, after those before it.
        before: the conversation so far, as a prompt has it; None where there is none.
    """

    question: str
    written: str
    scope: Scope
    time_zone: str
    follow_up: FollowUp
    before: Before | None = None


class Gatherer(Protocol):
    """Gathers the sources of one answer after another; holds nothing of any of them."""

    def gather(self, assignment: Assignment) -> AsyncGenerator[Event | Retrieval, None]:
        """What happens, as events; last the retrieval, whose ``gathered`` says how it came about.

        Closing it ends whatever it has under way.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: nothing could be gathered.
        """
        ...

    def again(self, calls: Sequence[dict[str, Any]]) -> Gatherer:
        """One that makes ``calls`` again, which a receipt has kept, and chooses none itself."""
        ...


@dataclass(frozen=True)
class Gathering:
    """Who gathers the sources of an answer, and in which time zone the asker is."""

    gatherer: Gatherer
    time_zone: str = "UTC"
