"""A tool's interface: its name, arguments, context and output.

A tool's description for the model is the prompt ``tool_<name>``, or the tool's own (a plugin's).
The limits of a tool (tenant, scope, time zone, permission to fetch) are in its context, which is
fixed before the first call: never in its arguments, which a model writes after it has read
documents of strangers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from helix.agent.ledger import Ledger
from helix.domain.aggregates import Computed
from helix.domain.followups import FollowUp
from helix.domain.gate import GateDecision
from helix.domain.records import Hit
from helix.domain.scope import Scope
from helix.domain.tool_results import ToolResult
from helix.errors import HelixError
from helix.library.access import Library
from helix.retrieval.gated_retriever import GatedRetriever
from helix.settings import Settings
from helix.settings.prompts import prompt


class Arguments(BaseModel):
    """The validated arguments of a tool; a model whose arguments are invalid is told so once."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ToolFailure(HelixError):
    """The tool cannot do the call. The message, one plain sentence, goes to the model.

    For any other error the model is told only that the tool failed.
    """

    status = 400


@dataclass(frozen=True)
class ToolContext:
    """The context of all tools of one answer; made once, before the first call.

    Args:
        question: the question as it is understood in its conversation.
        user_text: the words that the user wrote in this turn, and no others. Permissions and
            addresses are read from here, never from documents, results or earlier turns.
        scope: the asker's tenant, and the documents that may be answered from.
        retriever: searches; every search takes ``scope``.
        library: the rows of the asker's tenant.
        ledger: the sources found so far; tools read it, only the gathering writes it.
        settings: as the process has them.
        time_zone: the asker's, an IANA name.
        follow_up: how ``question`` itself is searched, with its conversation's earlier questions.
        now: the current time, aware.
        may_fetch: whether the administrator allows pages of the web to be fetched.
    """

    question: str
    user_text: str
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
        """The search for ``query``, with the conversation's additions if it is the question."""
        return self.follow_up if query == self.question else FollowUp(query)


@dataclass(frozen=True)
class ToolOutput:
    """The result of a tool.

    Args:
        parts: text and passages, in the order in which the model reads them. A Gathering puts each
            passage into the ledger and shows the model its number and text. Where the output is
            too long, text is cut and whole passages are left out.
        calculations: for the ledger.
        decision: the gate's, where the tool searched; None: the distance of the passages to the
            question is measured afterwards (helix.agent.agent).

    A ToolResult among the parts becomes a source of its own: no gate measures it.
    """

    parts: tuple[str | Hit | ToolResult, ...] = ()
    calculations: tuple[Computed, ...] = ()
    decision: GateDecision | None = None

    @property
    def passages(self) -> list[Hit]:
        """The passages among the parts, in order."""
        return [part for part in self.parts if isinstance(part, Hit)]

    @property
    def results(self) -> list[ToolResult]:
        """The results among the parts, in order."""
        return [part for part in self.parts if isinstance(part, ToolResult)]


_Arguments = TypeVar("_Arguments", bound=Arguments)


def _always(_: ToolContext) -> bool:
    return True


@dataclass(frozen=True)
class Tool(Generic[_Arguments]):
    """One tool: ``run`` is called with validated arguments, and raises ToolFailure for the model.

    ``is_offered`` says whether the tool may be called for this answer. ``description`` stands in
    place of a prompt; a plugin's tool needs one.
    """

    name: str
    arguments: type[_Arguments]
    run: Callable[[_Arguments, ToolContext], Awaitable[ToolOutput]]
    is_offered: Callable[[ToolContext], bool] = field(default=_always)
    description: str = ""

    def about(self) -> str:
        """The description for a model."""
        return self.description or prompt(f"tool_{self.name}")


AnyTool = Tool[Any]
