"""The interface between gathering sources and answering: a gatherer ends with one Retrieval.

Without a gatherer the engine makes one search of the question. A gatherer, such as the agent, may
take several steps, with an event for each; its sources keep the order of its Retrieval.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from helix.domain.followups import FollowUp
from helix.domain.prompt import Before
from helix.domain.retrieval import Retrieval
from helix.domain.scope import Scope
from helix.errors import HelixError

Mode = Literal["answer", "agent", "write"]
"""``answer``: sources from one search; ``agent``: sources gathered by tools; ``write``: code and
drafts, from the sources of one search."""
Event = tuple[str, Any]
"""An event's name, and its payload, which is JSON."""


class NeedsModel(HelixError):
    """Code and drafts are to be written, and there is no model."""

    status = 400

    def __init__(self) -> None:
        super().__init__("mode write needs a language model: set HELIX_LLM, or choose a model")


@dataclass(frozen=True)
class Assignment:
    """The question that sources are gathered for.

    Args:
        question: the question as it is understood in its conversation.
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
    """Gathers the sources of answers; it keeps no state between two answers."""

    def gather(self, assignment: Assignment) -> AsyncGenerator[Event | Retrieval, None]:
        """Yield the events of the gathering, then the retrieval, whose ``gathered`` has the calls.

        Closing the generator ends all that is under way.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: nothing could be gathered.
        """
        ...

    def again(self, calls: Sequence[dict[str, Any]]) -> Gatherer:
        """A gatherer that only repeats ``calls``, those of a receipt."""
        ...


@dataclass(frozen=True)
class Gathering:
    """The gatherer of an answer's sources, and the asker's time zone."""

    gatherer: Gatherer
    time_zone: str = "UTC"
