"""Shares in the database: made, changed, opened and ended, with the owner's rights.

A share is a conversation's or a message's. It is its author's alone to change; for anybody whom it
is not for there is none.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from helix.conversations.names import title_of
from helix.domain.input_text import restored
from helix.domain.scope import Reach, Spaces
from helix.errors import BadRequest
from helix.library.access import Connected, Row, rows_of
from helix.library.errors import Conflict, NotFound
from helix.library.people.tokens import hash_of, new_secret
from helix.storage.statements import shares as sql

MOST_READERS = 200
"""People, or groups, of one share."""
MOST_LINKS = 20
"""Public links of one answer at a time."""
MOST_LISTED = 500


@dataclass(frozen=True, slots=True)
class Share:
    """A share that somebody may read; ``author_spaces`` are those that its author may read now."""

    tenant: str
    id: str
    author: int
    author_name: str
    conversation_id: str
    message_id: int | None
    words: bool
    author_spaces: Spaces

    def reach(self, spaces: Spaces) -> Reach:
        """The author's conversations, as somebody sees them who may read ``spaces``."""
        return Reach(spaces, f"person:{self.author}")


@dataclass(frozen=True, slots=True)
class Readers:
    """The readers of a share; None: as it was."""

    people: Sequence[int] | None = None
    groups: Sequence[int] | None = None
    everyone: bool | None = None
    words: bool | None = None


def no_share() -> NotFound:
    """The error for a share that is not there, was ended, or is not for whoever asks."""
    return NotFound("nothing is shared here, or not any more")


def add_share(
    connection: Connected, tenant: str, person_id: int, conversation_id: str, message_id: int | None
) -> str:
    """The id of the person's share of a conversation, or of a message of it; there is one.

    Whether the person sees the conversation is for the caller to have looked at.
    """
    values = {"tenant": tenant, "id": uuid.uuid4().hex, "person": person_id,
              "conversation": conversation_id, "message": message_id}  # fmt: skip
    row = connection.execute(sql.ADD, values).fetchone()
    assert row is not None
    return str(row[0])


def change_share(
    connection: Connected, tenant: str, person_id: int, share_id: str, to: Readers
) -> None:
    """Change whom a share is for, in the caller's transaction.

    Raises:
        NotFound: the person has no such share, or one of the readers is no member or group.
        BadRequest: there are too many.
    """
    values = {"tenant": tenant, "id": share_id, "person": person_id, "everyone": to.everyone,
              "words": to.words}  # fmt: skip
    if connection.execute(sql.CHANGE, values).fetchone() is None:
        raise no_share()
    for name, ids, forget, let in (
        ("people", to.people, sql.FORGET_PEOPLE, sql.LET_PEOPLE),
        ("groups", to.groups, sql.FORGET_GROUPS, sql.LET_GROUPS),
    ):
        if ids is None:
            continue
        wanted = sorted(set(ids))
        if len(wanted) > MOST_READERS:
            raise BadRequest(f"{name} has {len(wanted)} ids; the limit is {MOST_READERS}")
        connection.execute(forget, values)
        if connection.execute(let, values | {name: wanted}).rowcount != len(wanted):
            raise NotFound(f"{name} has an id that the tenant has not")


def delete_share(connection: Connected, tenant: str, person_id: int, share_id: str) -> None:
    """End a share, with its links and comments.

    Raises:
        NotFound: the person has no such share.
    """
    values = {"tenant": tenant, "id": share_id, "person": person_id}
    if connection.execute(sql.DELETE, values).fetchone() is None:
        raise no_share()


def own_shares(
    connection: Connected, tenant: str, person_id: int, *,
    share_id: str | None = None, conversation_id: str | None = None, message_id: int | None = None,
) -> list[Row]:  # fmt: skip
    """The person's own shares with their readers and links, the latest first."""
    values = {"tenant": tenant, "person": person_id, "id": share_id,
              "conversation": conversation_id, "message": message_id,
              "most": MOST_LISTED}  # fmt: skip
    return [_titled(row) for row in rows_of(connection, sql.OWN, values)]


def shared_with(connection: Connected, tenant: str, person_id: int) -> list[Row]:
    """The shares of others that are for a member of the tenant, the latest first."""
    values = {"tenant": tenant, "person": person_id, "most": MOST_LISTED}
    return [_titled(row) for row in rows_of(connection, sql.WITH_ME, values)]


def open_share(connection: Connected, tenant: str, person_id: int, share_id: str) -> Share:
    """The share, for its author or somebody whom it is for.

    Raises:
        NotFound: it is not for this member of the tenant, or is not there.
    """
    values = {"tenant": tenant, "id": share_id, "person": person_id}
    return _opened(rows_of(connection, sql.OPEN, values))


def version_of_share(connection: Connected, tenant: str, person_id: int, share_id: str) -> str:
    """A text that differs when what the person sees of the share does.

    Raises:
        NotFound: as ``open_share``.
    """
    values = {"tenant": tenant, "id": share_id, "person": person_id}
    row = connection.execute(sql.VERSION, values).fetchone()
    if row is None:
        raise no_share()
    return str(row[0])


def add_link(
    connection: Connected, tenant: str, person_id: int, share_id: str, life: timedelta
) -> tuple[Row, str]:
    """A public link to an answer: its row, and its secret, which is told this once.

    Raises:
        NotFound: the person has no such share.
        BadRequest: it is of a whole conversation.
        Conflict: the answer has as many links as it may.
    """
    values = {
        "tenant": tenant,
        "id": share_id,
        "person": person_id,
        "everyone": None,
        "words": None,
    }
    row = connection.execute(sql.CHANGE, values).fetchone()
    if row is None:
        raise no_share()
    if row[0] is None:
        raise BadRequest(
            "a public link is to one answer, and goes no further with its conversation"
        )
    connection.execute(sql.DROP_ENDED_LINKS, values)
    secret = new_secret()
    found = rows_of(connection, sql.ADD_LINK,
                  values | {"hash": hash_of(secret), "life": life, "most": MOST_LINKS})  # fmt: skip
    if not found:
        raise Conflict(f"the answer has {MOST_LINKS} public links: take one back")
    return found[0], secret


def delete_link(
    connection: Connected, tenant: str, person_id: int, share_id: str, link_id: int
) -> None:
    """Take a public link back.

    Raises:
        NotFound: the person's share has no such link.
    """
    values = {"tenant": tenant, "share": share_id, "link": link_id, "person": person_id}
    if not connection.execute(sql.DELETE_LINK, values).rowcount:
        raise no_share()


def open_link(connection: Connected, secret: str) -> Share:
    """The answer that a public link leads to.

    Raises:
        NotFound: the link has ended, was taken back, or never was.
    """
    return _opened(rows_of(connection, sql.OPEN_LINK, {"hash": hash_of(secret)}))


def _opened(rows: list[Row]) -> Share:
    if not rows:
        raise no_share()
    spaces = rows[0]["author_spaces"]
    return Share(**rows[0] | {"author_spaces": None if spaces is None else tuple(spaces)})


def _titled(row: Row) -> Row:
    """A listed share, with a title: of an answer its question."""
    title, question = restored(row.pop("title")), restored(row.pop("question") or "")
    of_answer = row["message_id"] is not None
    row["title"] = title_of(question) if of_answer or not title else title
    row["created_at"] = row["created_at"].isoformat()
    return row
