"""Conversations as a client sees them: the list, a path, the tree, and which answers are stale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from helix.conversations.errors import no_conversation, no_message
from helix.conversations.names import title_of
from helix.conversations.paths import PATH
from helix.library.access import Library, Row, compose
from helix.library.pagination import check_text, decode_cursor, encode_cursor, like_pattern
from helix.storage.storable_text import restored, restored_json

_UPDATED = "(extract(epoch FROM c.updated_at) * 1000000)::bigint"
_CONVERSATION = """
c.id, c.title, c.scope, c.model, c.created_at, c.updated_at,
(SELECT m.question FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.parent_id IS NULL ORDER BY m.id LIMIT 1) AS first_question,
c.messages,
(SELECT m.id FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.is_active) AS active,
(SELECT m.id FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.status = 'answering') AS answering
"""
_FOUND = """
(%(pattern)s::text IS NULL OR c.title ILIKE %(pattern)s OR EXISTS (
    SELECT FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
        AND m.question ILIKE %(pattern)s))
"""
_LIST = compose(
    """
SELECT {conversation}, c.sort_key FROM (
    SELECT *, {updated} AS sort_key FROM conversations c
    WHERE c.tenant_id = %(tenant)s AND {found} AND (%(last_id)s::text IS NULL
        OR ({updated}, c.id) < (%(last_key)s::bigint, %(last_id)s::text))
    ORDER BY c.updated_at DESC, c.id DESC LIMIT %(limit)s) c
ORDER BY c.sort_key DESC, c.id DESC
""",
    conversation=_CONVERSATION, updated=_UPDATED, found=_FOUND,
)  # fmt: skip
_COUNT = compose(
    "SELECT count(*) AS total FROM conversations c WHERE c.tenant_id = %(tenant)s AND {found}",
    found=_FOUND,
)
_GET = compose(
    "SELECT {conversation} FROM conversations c WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s",
    conversation=_CONVERSATION,
)
# Siblings in two statements: no index is used for IS NOT DISTINCT FROM.
# The words of a deleted document are not shown, whether or not they are removed from the row yet. A
# quote of a changed document is looked for at its old place, then anywhere.
_MESSAGE = """
m.id, m.parent_id, m.status, m.error, m.question, m.scope, m.top_k, m.model, m.attachments,
m.answer_id, m.created_at, m.finished_at,
(SELECT f.rating FROM feedback f WHERE f.tenant_id = %(tenant)s AND f.answer_id = m.answer_id
    ORDER BY f.id DESC LIMIT 1) AS rating,
CASE WHEN m.parent_id IS NULL THEN (
    SELECT array_agg(s.id ORDER BY s.id) FROM messages s WHERE s.tenant_id = %(tenant)s
    AND s.conversation_id = %(id)s AND s.parent_id IS NULL)
ELSE (
    SELECT array_agg(s.id ORDER BY s.id) FROM messages s WHERE s.tenant_id = %(tenant)s
    AND s.conversation_id = %(id)s AND s.parent_id = m.parent_id) END AS siblings,
CASE WHEN missing.ids = '{{}}' THEN m.response ELSE response_without(m.response, missing.ids) END
    AS response,
(SELECT coalesce(jsonb_agg(jsonb_build_object(
    'document_id', k.key::bigint, 'title', d.title,
    'change', CASE WHEN d.id IS NULL THEN 'deleted' ELSE 'changed' END,
    'quotes_hold', d.id IS NOT NULL AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(m.response -> 'citations') c
        WHERE (c ->> 'document_id')::bigint = d.id AND c ->> 'quote' IS NOT NULL
            AND strpos(d.text, c ->> 'quote') = 0)) ORDER BY k.key::bigint), '[]')
    FROM jsonb_each_text(m.cited) k
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = k.key::bigint
    WHERE d.id IS NULL OR d.content_hash <> k.value) AS stale
"""
_HIDDEN = """
LATERAL (SELECT array(SELECT unnest(m.document_ids) EXCEPT
    SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s)) AS missing (ids)
"""
_PATH = compose(
    "{path} SELECT {message} FROM messages_of_path m, {hidden} ORDER BY m.n DESC",
    path=PATH, message=_MESSAGE, hidden=_HIDDEN,
)  # fmt: skip
_ONE = compose(
    "SELECT {message} FROM messages m, {hidden} WHERE m.tenant_id = %(tenant)s"
    " AND m.conversation_id = %(id)s AND m.id = %(message)s",
    message=_MESSAGE, hidden=_HIDDEN,
)  # fmt: skip
_ALL = compose(
    "SELECT {message}, m.is_active FROM messages m, {hidden} WHERE m.tenant_id = %(tenant)s"
    " AND m.conversation_id = %(id)s AND m.id > %(after)s ORDER BY m.id LIMIT %(limit)s",
    message=_MESSAGE, hidden=_HIDDEN,
)  # fmt: skip
_TREE = """
SELECT id, parent_id, status, left(question, 200) AS question, is_active FROM messages
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id > %(after)s
ORDER BY id LIMIT %(limit)s
"""
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Page:
    """At most ``limit`` entries after the cursor ``after``."""

    limit: int = 50
    after: str | None = None


async def list_conversations(library: Library, search: str = "", page: Page = Page()) -> Row:
    """``{"conversations": […], "next": cursor or None, "total"}``, those used last first.

    ``search`` is a part of a title or of a question.

    Raises:
        BadRequest: the cursor is none of this list, or ``search`` holds control characters.
    """
    last_key, last_id = (None, None) if page.after is None else decode_cursor(page.after, int, str)
    wanted = check_text("q", search, 200)
    values = {
        "pattern": like_pattern(wanted) if wanted else None, "last_key": last_key,
        "last_id": last_id, "limit": page.limit + 1,
    }  # fmt: skip
    found = await library.all_data(_LIST, values)
    counted = await library.data(_COUNT, values)
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
    row = await library.data(_GET, {"id": conversation_id})
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
    found = await library.all_data(_PATH, {"id": conversation_id, "leaf": leaf, "most": limit})
    path = [_message(row) for row in found]
    earlier = path[0]["id"] if path and path[0]["parent_id"] is not None else None
    return conversation | {"path": path, "earlier": earlier}


async def active_path(library: Library, conversation_id: str) -> list[Row]:
    """All messages of the active path, oldest first; raises NotFound as ``get_path`` does."""
    path: list[Row] = []
    before = None
    while True:
        page = await get_path(library, conversation_id, _BATCH, before)
        path = page["path"] + path
        before = page["earlier"]
        if before is None:
            return path


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
    found = await library.all_data(_TREE, values)
    shown = [row | {"question": restored(row["question"])} for row in found[:limit]]
    following = shown[-1]["id"] if len(found) > limit else None
    return conversation | {"tree": shown, "next": following}


async def get_message(library: Library, conversation_id: str, message_id: int) -> Row:
    """A message, whatever path it is on.

    Raises:
        NotFound: the tenant has no such message.
    """
    row = await library.data(_ONE, {"id": conversation_id, "message": message_id})
    if row is None:
        await get_conversation(library, conversation_id)
        raise no_message(message_id)
    return _message(row)


async def all_messages(library: Library, conversation_id: str) -> list[Row]:
    """Every message of the conversation, parents before children, and which one is active."""
    found: list[Row] = []
    while True:
        after = found[-1]["id"] if found else 0
        rows = await library.all_data(
            _ALL, {"id": conversation_id, "after": after, "limit": _BATCH}
        )
        found += [_message(row) | {"active": row["is_active"]} for row in rows]
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
        "answer_id": row["answer_id"],
        "created_at": row["created_at"].isoformat(),
        "finished_at": finished.isoformat() if finished else None,
        "rating": row["rating"],
        "stale": row["stale"],
        "response": response or None,
    }
