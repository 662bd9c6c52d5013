"""Answers under way in the database: stored event by event, ended once, or marked as interrupted.

The answering process renews its lease with each event, and each second between two. After
LEASE_SECONDS of silence any process may mark the answer as interrupted. From then on the answering
process can add nothing to it, because its statements need its name and the status ``answering``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helix.conversations.names import no_message
from helix.domain.input_text import storable, storable_json
from helix.library.access import Library, Row
from helix.storage.statements import message_events as sql

LEASE_SECONDS = 6.0
"""The silence of a process, in seconds, after which its answer counts as interrupted."""
INTERRUPTED = "the server stopped while it was answering: ask again"
LATE: Row = {"lease": LEASE_SECONDS, "interrupted": INTERRUPTED}
"""The values of ``INTERRUPT_LATE`` and ``INTERRUPT_ALL_LATE`` besides the conversation."""


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """One event of an answer: its number from 1, its name, and its data, JSON on one line."""

    n: int
    name: str
    data: str


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of an answer: its ``status``, its error, and the response that is kept."""

    status: str
    response: dict[str, Any]
    error: str = ""
    documents: Sequence[int] = ()
    cited: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message in the database, for the process ``owner`` that answers it, or for any reader."""

    library: Library
    conversation_id: str
    message_id: int
    owner: str = ""

    def _at(self) -> Row:
        return {"id": self.conversation_id, "message": self.message_id, "owner": self.owner}

    async def append(self, events: Sequence[MessageEvent], documents: Sequence[int]) -> bool | None:
        """Store ``events``, which may be none, and renew the lease.

        Returns whether the answer is to be stopped; None where it is not this process's any more:
        then nothing was stored.
        """
        values = self._at() | _event_columns(events) | {"documents": list(documents)}
        found = await self.library.data(sql.APPEND, values)
        return None if found is None else bool(found["stop_asked"])

    async def finish(self, ending: Ending, events: Sequence[MessageEvent]) -> bool:
        """End the answer with its last ``events``; False where it had ended before."""
        values = self._at() | _event_columns(events) | {
            "status": ending.status, "error": storable(ending.error),
            "response": storable_json(ending.response), "documents": list(ending.documents),
            "cited": list(ending.cited),
        }  # fmt: skip
        return await self.library.data(sql.FINISH, values) is not None

    async def read_events(self, after: int) -> tuple[str, list[MessageEvent]]:
        """The status, and the events after number ``after``; a silent answer is interrupted first.

        Raises:
            NotFound: there is no such message.
        """
        values = self._at() | {"after": after, "lease": LEASE_SECONDS}
        row = await self.library.data(sql.EVENTS, values)
        if row is not None and row["status"] == "answering" and row["is_late"]:
            await self.library.all_data(sql.INTERRUPT_LATE, self._at() | LATE)
            row = await self.library.data(sql.EVENTS, values)
        if row is None:
            raise no_message(self.message_id)
        return row["status"], [MessageEvent(*event) for event in row["events"]]

    async def ask_to_stop(self) -> bool:
        """Ask the answering process to stop; False where the answer has ended."""
        return await self.library.data(sql.ASK_TO_STOP, self._at()) is not None

    async def keep_summary(self, summary: str, summarised: int) -> None:
        """Keep the summary of the path's first ``summarised`` turns with this message."""
        values = self._at() | {"summary": storable(summary), "summarised": summarised}
        await self.library.data(sql.KEEP_SUMMARY, values)


def _event_columns(events: Sequence[MessageEvent]) -> Row:
    return {
        "first": events[0].n if events else 1,
        "events": [event.name for event in events],
        "data": [event.data for event in events],
    }
