"""The interface between gathering sources and answering: a gatherer ends with one Retrieval.

Without a gatherer the engine makes one search of the question. A gatherer, such as the agent, may
take several steps, with an event for each; its sources keep the order of its Retrieval.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Protocol

from helix.answering.question import ReadQuestion
from helix.domain.retrieval import Retrieval
from helix.errors import HelixError

Event = tuple[str, Any]
"""An event's name, and its payload, which is JSON."""


class NeedsModel(HelixError):
    """Code and drafts are to be written, and there is no model."""

    status = 400

    def __init__(self) -> None:
        super().__init__("mode write needs a language model: set HELIX_LLM, or choose a model")


class Gatherer(Protocol):
    """Gathers the sources of answers; it keeps no state between two answers."""

    def gather(self, question: ReadQuestion) -> AsyncGenerator[Event | Retrieval, None]:
        """Yield the events of the gathering, then the retrieval, whose ``gathered`` has the calls.

        Closing the generator ends all that is under way.

        Raises:
            UpstreamError, StoreUnavailable, EmbedderMismatch: nothing could be gathered.
        """
        ...

    def again(self, calls: Sequence[dict[str, Any]]) -> Gatherer:
        """A gatherer that only repeats ``calls``, those of a receipt."""
        ...
