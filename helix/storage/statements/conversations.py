"""Conversations: begun, listed, changed."""

from helix.storage.statements import compose

# The same id again changes nothing: it is the client's, which may not know how the first request
# ended. It is whose the transaction is; a person who was erased, or is being, begins none.
CREATE = """
INSERT INTO conversations (tenant_id, id, title, scope, model, owner)
SELECT %(tenant)s, %(id)s, %(title)s, %(scope)s, %(model)s, mine
FROM coalesce(current_setting('helix.owner', true), '') mine
WHERE mine = '' OR answer_may_be_kept(mine, 86400)
ON CONFLICT DO NOTHING RETURNING id
"""

# Changes of one conversation wait for each other: one active message, one answer at a time.
HOLD = """
SELECT scope FROM conversations WHERE tenant_id = %(tenant)s AND id = %(id)s FOR UPDATE
"""

# What is NULL stays as it is, and its space where documents of it are named.
CHANGE = """
UPDATE conversations SET title = coalesce(%(title)s::text, title),
    scope = CASE WHEN %(keeps_space)s AND scope ? 'space'
                 THEN jsonb_build_object('space', scope -> 'space') ELSE '{}' END
            || coalesce(%(scope)s::jsonb, scope),
    model = coalesce(%(model)s::text, model),
    updated_at = now()
WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id
"""

# Its messages, events and images go with it, by foreign keys.
DELETE = "DELETE FROM conversations WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id"

# Whole microseconds, which a cursor can carry without loss.
_UPDATED = "(extract(epoch FROM c.updated_at) * 1000000)::bigint"

# The columns of a conversation that a client is told.
_COLUMNS = """
c.id, c.title, c.scope, c.model, c.created_at, c.updated_at,
(SELECT m.question FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.parent_id IS NULL ORDER BY m.id LIMIT 1) AS first_question,
c.messages,
(SELECT m.id FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.is_active) AS active,
(SELECT m.id FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
    AND m.status = 'answering') AS answering
"""

# Of one space, and by its title, or any question in it.
_FOUND = """
(%(space)s::bigint IS NULL OR c.scope @> jsonb_build_object('space', %(space)s::bigint)) AND
(%(pattern)s::text IS NULL OR c.title ILIKE %(pattern)s OR EXISTS (
    SELECT FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = c.id
        AND m.question ILIKE %(pattern)s))
"""

# The page first: first question, active message and answer are looked up for its rows alone.
LIST = compose(
    """
SELECT {conversation}, c.sort_key FROM (
    SELECT *, {updated} AS sort_key FROM conversations c
    WHERE c.tenant_id = %(tenant)s AND {found} AND (%(last_id)s::text IS NULL
        OR ({updated}, c.id) < (%(last_key)s::bigint, %(last_id)s::text))
    ORDER BY c.updated_at DESC, c.id DESC LIMIT %(limit)s) c
ORDER BY c.sort_key DESC, c.id DESC
""",
    conversation=_COLUMNS, updated=_UPDATED, found=_FOUND,
)  # fmt: skip

# Of all that match, whichever page.
COUNT = compose(
    "SELECT count(*) AS total FROM conversations c WHERE c.tenant_id = %(tenant)s AND {found}",
    found=_FOUND,
)

# The same columns of one.
GET = compose(
    "SELECT {conversation} FROM conversations c WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s",
    conversation=_COLUMNS,
)

# The model that was chosen for the conversation, which a question may leave out.
MODEL = "SELECT model, scope FROM conversations WHERE tenant_id = %(tenant)s AND id = %(id)s"

# The list shows the conversation that was used last first.
TOUCH = "UPDATE conversations SET updated_at = now() WHERE tenant_id = %(tenant)s AND id = %(id)s"
