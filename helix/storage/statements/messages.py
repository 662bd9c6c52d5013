"""Messages of conversations: the tree they make, the path through it, what a client is shown."""

from helix.storage.statements import compose

# OFFSET 0: each message is looked up by its key. Where most conversations are short, a join would
# read all messages of a long one (1.1 ms of 1,000 turns, and 0.4 so).
#
# Defines ``messages_of_path``: the rows of ``messages`` on the path that ends in ``leaf``, at most
# ``most``; ``n`` is 1 at the leaf. Parameters: tenant, id (of the conversation), leaf, most.
_PATH = """
WITH RECURSIVE path AS (
    SELECT id, parent_id, 1 AS n FROM messages
    WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = %(leaf)s
    UNION ALL
    SELECT m.id, m.parent_id, p.n + 1 FROM path p, LATERAL (
        SELECT id, parent_id FROM messages
        WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = p.parent_id
        OFFSET 0) m
    WHERE p.n < %(most)s),
messages_of_path AS (
    SELECT m.*, p.n FROM path p, LATERAL (
        SELECT * FROM messages
        WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = p.id OFFSET 0) m)
"""

# Siblings in two statements: no index is used for IS NOT DISTINCT FROM. The words of a deleted
# document are not shown, whether or not they are removed from the row yet. A quote of a changed
# document is looked for at its old place, then anywhere. What was imported, no process answered.
_COLUMNS = """
m.id, m.parent_id, m.status, m.error, m.question, m.scope, m.top_k, m.model, m.attachments,
m.answer_id, m.created_at, m.finished_at, m.document_ids, m.owner = '' AS imported,
(SELECT f.rating FROM feedback f WHERE f.tenant_id = %(tenant)s AND f.answer_id = m.answer_id
    ORDER BY f.id DESC LIMIT 1) AS rating,
CASE WHEN m.parent_id IS NULL THEN (
    SELECT array_agg(s.id ORDER BY s.id) FROM messages s WHERE s.tenant_id = %(tenant)s
    AND s.conversation_id = %(id)s AND s.parent_id IS NULL)
ELSE (
    SELECT array_agg(s.id ORDER BY s.id) FROM messages s WHERE s.tenant_id = %(tenant)s
    AND s.conversation_id = %(id)s AND s.parent_id = m.parent_id) END AS siblings,
CASE WHEN missing.ids = '{}' THEN m.response ELSE response_without(m.response, missing.ids) END
    AS response,
(SELECT coalesce(jsonb_agg(jsonb_build_object(
    'document_id', k.key::bigint, 'title', d.title,
    'change', CASE WHEN d.id IS NULL THEN 'deleted' ELSE 'changed' END,
    'quotes_hold', d.id IS NOT NULL AND NOT EXISTS (
        SELECT FROM jsonb_array_elements(m.response -> 'citations') c
        WHERE (c ->> 'document_id')::bigint = d.id AND c ->> 'quote' IS NOT NULL
            AND strpos(d.text, c ->> 'quote') = 0))
    || CASE WHEN d.id IS NULL THEN jsonb_build_object('removed_at', r.removed_at) ELSE '{}' END
    ORDER BY k.key::bigint), '[]')
    FROM jsonb_each_text(m.cited) k
    LEFT JOIN removals r ON r.tenant_id = %(tenant)s AND r.document_id = k.key::bigint
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = k.key::bigint
    WHERE d.id IS NULL OR d.content_hash <> k.value) AS stale
"""

# The documents of an answer that were deleted.
_HIDDEN = """
LATERAL (SELECT array(SELECT unnest(m.document_ids) EXCEPT
    SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s)) AS missing (ids)
"""

# From the leaf up: a page of a long conversation begins at its end.
PATH = compose(
    "{path} SELECT {message} FROM messages_of_path m, {hidden} ORDER BY m.n DESC",
    path=_PATH, message=_COLUMNS, hidden=_HIDDEN,
)  # fmt: skip

# The same columns of one message.
ONE = compose(
    "SELECT {message} FROM messages m, {hidden} WHERE m.tenant_id = %(tenant)s"
    " AND m.conversation_id = %(id)s AND m.id = %(message)s",
    message=_COLUMNS, hidden=_HIDDEN,
)  # fmt: skip

# For an export, in pages of ids: a conversation may have thousands.
ALL = compose(
    """
SELECT {message}, m.is_active, (SELECT coalesce(json_agg(json_build_object(
        'document_id', d.id, 'added_at', d.created_at) ORDER BY d.id), '[]')
    FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = ANY(m.document_ids)) AS documents
FROM messages m, {hidden} WHERE m.tenant_id = %(tenant)s
    AND m.conversation_id = %(id)s AND m.id > %(after)s ORDER BY m.id LIMIT %(limit)s
""",
    message=_COLUMNS, hidden=_HIDDEN,
)  # fmt: skip

# The outline of all branches: questions are cut, and answers left out.
TREE = """
SELECT id, parent_id, status, left(question, 200) AS question, is_active FROM messages
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id > %(after)s
ORDER BY id LIMIT %(limit)s
"""

# The words of a deleted document are left out, whether or not they are removed from the row yet.
# A summary has words of earlier answers: where a document of one of these may not be read, none is.
HISTORY = compose(
    """
{path},
hidden AS MATERIALIZED (
    SELECT coalesce(current_setting('helix.spaces', true), '') <> '' AND EXISTS (
        SELECT FROM messages m WHERE m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s
            AND NOT are_readable(m.document_ids)) AS is_any)
SELECT m.question, m.response, m.document_ids, m.status,
    CASE WHEN h.is_any THEN '' ELSE m.summary END AS summary,
    CASE WHEN h.is_any THEN 0 ELSE m.summarised END AS summarised
FROM messages_of_path m CROSS JOIN hidden h
WHERE m.status = 'done' AND NOT EXISTS (
    SELECT unnest(m.document_ids) EXCEPT
    SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s)
ORDER BY m.n DESC
""",
    path=_PATH,
)

# The documents of each answer of a path, from its beginning: a later answer may have words of an
# earlier one.
DOCUMENTS_OF_PATH = compose(
    """
{path} SELECT m.id, m.document_ids, m.attachments <> '[]' AS has_images
FROM messages_of_path m ORDER BY m.n DESC
""",
    path=_PATH,
)

# An imported conversation has the ids of the one that was exported, and is younger.
ANSWERED = """
SELECT id, conversation_id, parent_id, attachments FROM messages
WHERE tenant_id = %(tenant)s AND answer_id = %(answer)s ORDER BY id LIMIT 1
"""

# A conversation has one such message at most, which a unique index finds.
ANSWERING = """
SELECT id FROM messages
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND status = 'answering'
"""

# What a new version of a question takes over from the old one.
OF_ID = """
SELECT id, parent_id, branch, depth, question, scope, top_k, attachments FROM messages
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = %(message)s
"""

# The leaf of the path that is shown: one of a conversation.
ACTIVE = """
SELECT id FROM messages WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND is_active
"""

# Before another becomes active: a unique index allows one.
LEAVE_ACTIVE = """
UPDATE messages SET is_active = false
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND is_active
"""

# A first child continues its parent's branch: a branch is a chain, whose tip is found by an index.
INSERT = """
WITH numbered AS (SELECT nextval('messages_id_seq') AS id)
INSERT INTO messages (tenant_id, conversation_id, id, parent_id, branch, depth, is_active, question,
    scope, top_k, attachments, model, answer_id, owner, status, response, document_ids, cited,
    error, created_at, finished_at)
SELECT %(tenant)s::text, %(id)s::text, n.id, %(parent)s::bigint,
    CASE WHEN p.branch IS NULL OR EXISTS (
        SELECT FROM messages c WHERE c.tenant_id = %(tenant)s AND c.conversation_id = %(id)s
            AND c.parent_id = p.id) THEN n.id ELSE p.branch END,
    coalesce(p.depth + 1, 0), true, %(question)s::text, %(scope)s::jsonb, %(top_k)s::integer,
    %(attachments)s::jsonb, %(model)s::text, %(answer_id)s::text, %(owner)s::text,
    %(status)s::text, %(response)s::jsonb, %(documents)s::bigint[], %(cited)s::jsonb,
    %(error)s::text, coalesce(%(created_at)s::timestamptz, now()),
    CASE WHEN %(status)s <> 'answering' THEN coalesce(%(created_at)s::timestamptz, now()) END
FROM numbered n LEFT JOIN messages p
    ON p.tenant_id = %(tenant)s AND p.conversation_id = %(id)s AND p.id = %(parent)s
RETURNING id
"""

# To the tip of the branch that the message is in.
SWITCH = """
UPDATE messages SET is_active = true
WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s AND id = (
    SELECT id FROM messages WHERE tenant_id = %(tenant)s AND conversation_id = %(id)s
        AND branch = %(branch)s ORDER BY depth DESC LIMIT 1)
RETURNING id
"""
