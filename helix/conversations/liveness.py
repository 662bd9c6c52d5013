"""Answers under way in the database: stored event by event, ended once, or marked as interrupted.

The answering process renews its lease with each event, and each second between two. After
LEASE_SECONDS of silence any process may mark the answer as interrupted. From then on the answering
process can add nothing to it, because its statements need its name and the status ``answering``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helix.conversations.errors import no_message
from helix.library.access import Library, Row, compose
from helix.storage.storable_text import storable, storable_json

LEASE_SECONDS = 6.0
"""The silence of a process, in seconds, after which its answer counts as interrupted."""
INTERRUPTED = "the server stopped while it was answering: ask again"

# No wait for the disk: an answer that a crash of the database takes was not yet reported as whole.
_SOON = "soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"
_THIS = "m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s AND m.id = %(message)s"
_OWN = f"{_THIS} AND m.owner = %(owner)s AND m.status = 'answering'"
_TELL = """
told AS (
    INSERT INTO message_events (tenant_id, conversation_id, message_id, n, event, data)
    SELECT %(tenant)s, %(id)s, %(message)s, %(first)s + x.n - 1, x.event, x.data
    FROM mine, unnest(%(events)s::text[], %(data)s::text[]) WITH ORDINALITY AS x (event, data, n)
    ON CONFLICT DO NOTHING)
"""
# The store tries it twice where a connection breaks: the second attempt changes nothing.
_APPEND = compose(
    """
WITH {soon},
mine AS (
    UPDATE messages m SET seen_at = now(), document_ids = %(documents)s
    FROM soon WHERE {own} RETURNING m.stop_asked),
{tell}
SELECT stop_asked FROM mine
""",
    soon=_SOON, own=_OWN, tell=_TELL,
)  # fmt: skip
_FINISH = compose(
    """
WITH mine AS (
    UPDATE messages m SET status = %(status)s, error = %(error)s, response = %(response)s::jsonb,
        document_ids = %(documents)s, finished_at = now(), seen_at = now(),
        cited = (SELECT coalesce(jsonb_object_agg(d.id, d.content_hash), '{{}}') FROM documents d
                 WHERE d.tenant_id = %(tenant)s AND d.id = ANY(%(cited)s))
    WHERE {own} RETURNING m.id),
{tell},
touched AS (
    UPDATE conversations c SET updated_at = now() FROM mine
    WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s)
SELECT id FROM mine
""",
    own=_OWN, tell=_TELL,
)  # fmt: skip
_INTERRUPT = """
WITH late AS (
    UPDATE messages m SET status = 'interrupted', error = '{error}', finished_at = now()
    WHERE {which} AND m.status = 'answering'
        AND m.seen_at < now() - make_interval(secs => {lease})
    RETURNING m.tenant_id, m.conversation_id, m.id)
INSERT INTO message_events (tenant_id, conversation_id, message_id, n, event, data)
SELECT l.tenant_id, l.conversation_id, l.id,
    1 + coalesce((SELECT max(e.n) FROM message_events e WHERE e.tenant_id = l.tenant_id
        AND e.conversation_id = l.conversation_id AND e.message_id = l.id), 0),
    'interrupted', '{{"error":"{error}"}}'
FROM late l RETURNING message_id
"""
INTERRUPT_LATE = compose(
    _INTERRUPT, error=INTERRUPTED, lease=str(LEASE_SECONDS),
    which="m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s",
)  # fmt: skip
"""Marks the silent answer of a conversation as interrupted; binds ``tenant`` and ``id``."""
INTERRUPT_ALL_LATE = compose(_INTERRUPT, error=INTERRUPTED, lease=str(LEASE_SECONDS), which="true")
"""Marks the silent answers of all conversations of all tenants; needs the owner's rights."""
_EVENTS = """
SELECT m.status, m.seen_at < now() - make_interval(secs => %(lease)s) AS is_late,
    coalesce((SELECT json_agg(json_build_array(e.n, e.event, e.data) ORDER BY e.n)
        FROM message_events e WHERE e.tenant_id = %(tenant)s AND e.conversation_id = %(id)s
        AND e.message_id = %(message)s AND e.n > %(after)s), '[]') AS events
FROM messages m WHERE {this}
"""
_ASK_TO_STOP = """
UPDATE messages m SET stop_asked = true WHERE {this} AND m.status = 'answering' RETURNING m.id
"""
_SUMMARY = """
UPDATE messages m SET summary = %(summary)s, summarised = %(summarised)s
WHERE {this} RETURNING m.id
"""


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
        found = await self.library.data(_APPEND, values)
        return None if found is None else bool(found["stop_asked"])

    async def finish(self, ending: Ending, events: Sequence[MessageEvent]) -> bool:
        """End the answer with its last ``events``; False where it had ended before."""
        values = self._at() | _event_columns(events) | {
            "status": ending.status, "error": storable(ending.error),
            "response": storable_json(ending.response), "documents": list(ending.documents),
            "cited": list(ending.cited),
        }  # fmt: skip
        return await self.library.data(_FINISH, values) is not None

    async def read_events(self, after: int) -> tuple[str, list[MessageEvent]]:
        """The status, and the events after number ``after``; a silent answer is interrupted first.

        Raises:
            NotFound: there is no such message.
        """
        values = self._at() | {"after": after, "lease": LEASE_SECONDS}
        statement = compose(_EVENTS, this=_THIS)
        row = await self.library.data(statement, values)
        if row is not None and row["status"] == "answering" and row["is_late"]:
            await self.library.all_data(INTERRUPT_LATE, self._at())
            row = await self.library.data(statement, values)
        if row is None:
            raise no_message(self.message_id)
        return row["status"], [MessageEvent(*event) for event in row["events"]]

    async def ask_to_stop(self) -> bool:
        """Ask the answering process to stop; False where the answer has ended."""
        return await self.library.data(compose(_ASK_TO_STOP, this=_THIS), self._at()) is not None

    async def keep_summary(self, summary: str, summarised: int) -> None:
        """Keep the summary of the path's first ``summarised`` turns with this message."""
        values = self._at() | {"summary": storable(summary), "summarised": summarised}
        await self.library.data(compose(_SUMMARY, this=_THIS), values)


def _event_columns(events: Sequence[MessageEvent]) -> Row:
    return {
        "first": events[0].n if events else 1,
        "events": [event.name for event in events],
        "data": [event.data for event in events],
    }
