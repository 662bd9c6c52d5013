"""Comments on shared answers: by whoever may see the share, changed by who wrote them."""

from __future__ import annotations

from helix.conversations.shares.share_store import Share
from helix.domain.input_text import restored, storable
from helix.errors import BadRequest, NotFound
from helix.library.access import Connected, Row, rows_of
from helix.storage.statements import shares as sql

LONGEST_COMMENT = 4000
MOST_COMMENTS = 500
"""Of one share."""
_NOTHING = "there is no such comment of yours"


def checked_comment(text: str) -> str:
    """``text`` without white space around it.

    Raises:
        BadRequest: it is empty, or longer than LONGEST_COMMENT characters.
    """
    checked = text.strip()
    if not 0 < len(checked) <= LONGEST_COMMENT:
        raise BadRequest(f"a comment has 1 to {LONGEST_COMMENT} characters")
    return checked


def list_comments(connection: Connected, share: Share, person_id: int) -> list[Row]:
    """All comments of a share, oldest first; ``mine``: the person may change it.

    ``removable``: they may delete it, as the share's author may each.
    """
    values = {"tenant": share.tenant, "share": share.id}
    found = rows_of(connection, sql.COMMENTS, values)
    return [
        {
            "id": row["id"],
            "message_id": row["message_id"],
            "author": row["author"],
            "text": restored(row["text"]),
            "created_at": row["created_at"].isoformat(),
            "edited_at": row["edited_at"] and row["edited_at"].isoformat(),
            "mine": row["person_id"] == person_id,
            "removable": person_id in (row["person_id"], share.author),
        }
        for row in found
    ]


def add_comment(
    connection: Connected, share: Share, person_id: int, message_id: int, text: str
) -> int:
    """Add a comment on a message of a share that the person may read; returns its id.

    Raises:
        NotFound: the share has no such message.
        BadRequest: the text cannot be one, or there are MOST_COMMENTS.
    """
    values = {
        "tenant": share.tenant, "share": share.id, "person": person_id, "message": message_id,
        "text": storable(checked_comment(text)), "most": MOST_COMMENTS,
    }  # fmt: skip
    row = connection.execute(sql.COMMENT, values).fetchone()
    if row is not None:
        return int(row[0])
    if len(list_comments(connection, share, person_id)) >= MOST_COMMENTS:
        raise BadRequest(f"there are {MOST_COMMENTS} comments here, which is the limit")
    raise NotFound(f"there is no message {message_id} in what is shared")


def edit_comment(
    connection: Connected, share: Share, person_id: int, comment_id: int, text: str
) -> None:
    """Change a comment of one's own.

    Raises:
        NotFound: it is not there, or somebody else's.
        BadRequest: the text cannot be one.
    """
    values = {
        "tenant": share.tenant, "share": share.id, "person": person_id, "comment": comment_id,
        "text": storable(checked_comment(text)),
    }  # fmt: skip
    if connection.execute(sql.EDIT_COMMENT, values).fetchone() is None:
        raise NotFound(_NOTHING)


def delete_comment(connection: Connected, share: Share, person_id: int, comment_id: int) -> None:
    """Delete a comment of one's own, or one on what one shares.

    Raises:
        NotFound: it is not there, or neither.
    """
    values = {"tenant": share.tenant, "share": share.id, "person": person_id, "comment": comment_id}
    if connection.execute(sql.DELETE_COMMENT, values).fetchone() is None:
        raise NotFound(_NOTHING)
