"""What a tool is: its name, its arguments, what it runs with, and what it returns.

A tool's description for the model is the prompt ``tool_<name>``. What limits a tool (tenant, scope,
time zone, leave to fetch) is in its context, which is fixed before the first call: never in its
arguments, which a model writes after it has read documents of strangers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from helix.agent.ledger import Ledger
from helix.domain.calculations import Calculation
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.errors import HelixError
from helix.library.access import Library
from helix.retrieval.gated_retriever import GatedRetriever
from helix.settings import Settings


class Arguments(BaseModel):
    """The arguments of a tool, validated; a model is told once what is wrong with its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolFailure(HelixError):
    """A tool cannot do what it was called for. Its text, one plain sentence, goes to the model.

    Of any other error the model is told only that the tool failed.
    """

    status = 400


@dataclass(frozen=True)
class ToolContext:
    """What every tool of one answer runs with; made once, outside the loop.

    Args:
        question: what is asked, as it is understood in its conversation.
        written: the words that the user wrote in this turn, and no others: what a user allows or
            addresses is read from here, never from documents, results or earlier turns.
        scope: the asker's tenant, and the documents that may be answered from.
        retriever: searches; every search takes ``scope``.
        library: the rows of the asker's tenant.
        ledger: what was gathered so far; tools read it, the loop alone writes.
        settings: as the process has them.
        time_zone: the asker's, an IANA name.
        follow_up: how ``question`` itself is searched, after those before it in its conversation.
        now: the current time, aware.
        may_fetch: whether the administrator allows pages of the web to be fetched.
    """

    question: str
    written: str
    scope: Scope
    retriever: GatedRetriever
    library: Library
    ledger: Ledger
    settings: Settings
    time_zone: str = "UTC"
    follow_up: FollowUp = field(default_factory=lambda: FollowUp(""))
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    may_fetch: bool = False

    def search_of(self, query: str) -> FollowUp:
        """How ``query`` is searched: the question itself with what its conversation adds."""
        return self.follow_up if query == self.question else FollowUp(query)


@dataclass(frozen=True)
class ToolOutput:
    """What a tool returns.

    Args:
        parts: in the order that the model reads them: text, and passages. The loop puts each
            passage into the ledger and shows the model its number and its text; text is cut where
            all of it is too long, passages are left out whole.
        calculations: for the ledger.
        decision: the gate's, where the tool searched; None: the loop measures how far the passages
            are from the question.
    """

    parts: tuple[str | Hit, ...] = ()
    calculations: tuple[Calculation, ...] = ()
    decision: GateDecision | None = None

    @property
    def passages(self) -> list[Hit]:
        """The passages among the parts, in order."""
        return [part for part in self.parts if isinstance(part, Hit)]


_Arguments = TypeVar("_Arguments", bound=Arguments)


def _always(_: ToolContext) -> bool:
    return True


@dataclass(frozen=True)
class Tool(Generic[_Arguments]):
    """One tool: ``run`` is called with validated arguments and raises ToolFailure for the model.

    ``is_offered`` says whether the model is told of the tool for this answer.
    """

    name: str
    arguments: type[_Arguments]
    run: Callable[[_Arguments, ToolContext], Awaitable[ToolOutput]]
    is_offered: Callable[[ToolContext], bool] = field(default=_always)


AnyTool = Tool[Any]
