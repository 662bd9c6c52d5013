"""Conversations as a client sees them: the list, a path, the tree, and which answers are stale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from helix.conversations.imported_answer import without_proof
from helix.conversations.names import no_conversation, no_message, title_of
from helix.domain.input_text import restored, restored_json
from helix.library.access import Library, Row
from helix.library.pagination import check_text, decode_cursor, encode_cursor, like_pattern
from helix.storage.statements import conversations, messages

_BATCH = 200


@dataclass(frozen=True, slots=True)
class Page:
    """At most ``limit`` entries after the cursor ``after``."""

    limit: int = 50
    after: str | None = None


async def list_conversations(
    library: Library, search: str = "", page: Page = Page(), space: int | None = None
) -> Row:
    """``{"conversations": […], "next": cursor or None, "total"}``, those used last first.

    ``search`` is a part of a title or of a question, ``space`` the one that they were made in.

    Raises:
        BadRequest: the cursor is none of this list, or ``search`` holds control characters.
    """
    last_key, last_id = (None, None) if page.after is None else decode_cursor(page.after, int, str)
    wanted = check_text("q", search, 200)
    values = {
        "pattern": like_pattern(wanted) if wanted else None, "last_key": last_key,
        "last_id": last_id, "limit": page.limit + 1, "space": space,
    }  # fmt: skip
    found = await library.all_data(conversations.LIST, values)
    counted = await library.data(conversations.COUNT, values)
    keys = [row.pop("sort_key") for row in found]
    shown, more = [_conversation(row) for row in found[: page.limit]], len(found) > page.limit
    return {
        "conversations": shown,
        "next": encode_cursor(keys[len(shown) - 1], shown[-1]["id"]) if more else None,
        "total": counted["total"] if counted else 0,
    }


async def get_conversation(library: Library, conversation_id: str) -> Row:
    """The conversation without its messages.

    Raises:
        NotFound: there is none of this id.
    """
    row = await library.data(conversations.GET, {"id": conversation_id})
    if row is None:
        raise no_conversation(conversation_id)
    return _conversation(row)


async def get_path(
    library: Library, conversation_id: str, limit: int = 10, before: int | None = None
) -> Row:
    """The conversation with the last ``messages`` of its active path, oldest first.

    ``before``: those above this message instead, which is the ``earlier`` of the page before;
    null where nothing is above.

    Raises:
        NotFound: there is no such conversation, or no message ``before`` in it.
    """
    conversation = await get_conversation(library, conversation_id)
    leaf = conversation["active"]
    if before is not None:
        leaf = (await get_message(library, conversation_id, before))["parent_id"]
    found = await library.all_data(
        messages.PATH, {"id": conversation_id, "leaf": leaf, "most": limit}
    )
    path = [_message(row) for row in found]
    earlier = path[0]["id"] if path and path[0]["parent_id"] is not None else None
    return conversation | {"path": path, "earlier": earlier}


async def get_tree(
    library: Library, conversation_id: str, limit: int = 1000, after: int | None = None
) -> Row:
    """The conversation with its ``tree``: of each message its parent, status and question.

    In the order in which they were added; ``next`` is passed on as ``after``.

    Raises:
        NotFound: there is no such conversation.
    """
    conversation = await get_conversation(library, conversation_id)
    values = {"id": conversation_id, "after": after or 0, "limit": limit + 1}
    found = await library.all_data(messages.TREE, values)
    shown = [row | {"question": restored(row["question"])} for row in found[:limit]]
    following = shown[-1]["id"] if len(found) > limit else None
    return conversation | {"tree": shown, "next": following}


async def get_message(library: Library, conversation_id: str, message_id: int) -> Row:
    """A message, whatever path it is on.

    Raises:
        NotFound: the tenant has no such message.
    """
    row = await library.data(messages.ONE, {"id": conversation_id, "message": message_id})
    if row is None:
        await get_conversation(library, conversation_id)
        raise no_message(message_id)
    return _message(row)


async def all_messages(library: Library, conversation_id: str) -> list[Row]:
    """Every message of the conversation, parents before children, and which one is active.

    With the ``documents`` that its answer may have words of: id, and when it was added.
    """
    found: list[Row] = []
    while True:
        after = found[-1]["id"] if found else 0
        rows = await library.all_data(
            messages.ALL, {"id": conversation_id, "after": after, "limit": _BATCH}
        )
        for row in rows:
            more = {"active": row["is_active"], "documents": row["documents"]}
            found.append(_message(row) | more)
        if len(rows) < _BATCH:
            return found


def _conversation(row: Row) -> Row:
    first = row.pop("first_question")
    title = restored(row["title"]) or (title_of(restored(first)) if first else "")
    return row | {
        "title": title,
        "model": restored(row["model"]) or None,
        "created_at": row["created_at"].isoformat(),
        "updated_at": row["updated_at"].isoformat(),
    }


def _message(row: Row) -> Row:
    response: dict[str, Any] = restored_json(row["response"])
    if row["imported"] and response:
        response = without_proof(response, row["document_ids"])
    finished = row["finished_at"]
    return {
        "id": row["id"],
        "parent_id": row["parent_id"],
        "siblings": row["siblings"],
        "status": row["status"],
        "error": restored(row["error"]) or None,
        "question": restored(row["question"]),
        "scope": row["scope"],
        "top_k": row["top_k"],
        "model": row["model"],
        "attachments": row["attachments"],
        # that of the export is another's receipt, or nobody's
        "answer_id": None if row["imported"] else row["answer_id"],
        "created_at": row["created_at"].isoformat(),
        "finished_at": finished.isoformat() if finished else None,
        "rating": row["rating"],
        "stale": row["stale"],
        "imported": row["imported"],
        "response": response or None,
    }
