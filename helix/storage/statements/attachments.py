"""Documents of one conversation, in a space of their own, and texts pasted into a question."""

# Asked of each question of a conversation: most have no document of their own.
ANY = "SELECT EXISTS (SELECT FROM documents WHERE tenant_id = %(tenant)s) AS found"

# Of the conversation's own space, which is a tenant of its own. One that is being taken away is not
# listed when that is done.
HOLD_IDS = "SELECT id FROM documents WHERE tenant_id = %(tenant)s ORDER BY id FOR UPDATE"

# The same bytes again are the document that is there.
HASHES = "SELECT content_hash FROM documents WHERE tenant_id = %s"

# An answer from a detached document loses the document's words, as after a deletion, and so does
# its receipt, which does not have the document among its own: those are of the library.
FORGET = """
WITH told AS (
    SELECT a.id FROM messages m
    JOIN answers a ON (a.tenant_id, a.id) = (m.tenant_id, m.answer_id)
    WHERE m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s
        AND a.receipt #> '{index,sources}' @> %(cited)s::jsonb),
forgotten AS (
    UPDATE answers a SET receipt = without_documents(a.receipt, ARRAY[%(document)s::bigint])
    FROM told WHERE a.tenant_id = %(tenant)s AND a.id = told.id),
changed AS (
    UPDATE messages m SET response = response_without(m.response, ARRAY[%(document)s::bigint]),
        summary = '', summarised = 0
    WHERE m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s
        AND (m.answer_id IN (SELECT id FROM told)
            OR m.response -> 'citations' @> %(cited)s::jsonb
            OR m.response -> 'closest' @> %(cited)s::jsonb)
    RETURNING m.id)
DELETE FROM message_events e USING changed c
WHERE e.tenant_id = %(tenant)s AND e.conversation_id = %(id)s AND e.message_id = c.id
"""

# How far the reading of a text is that a question waits for.
STATE = "SELECT status, error FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s"

# A text that is asked of again is kept longer.
USED = "UPDATE documents SET updated_at = now() WHERE tenant_id = %s"

# Spaces of texts that nobody asked about for a day.
OLD = """
SELECT tenant_id FROM documents WHERE position(%(prefix)s IN tenant_id) > 0
GROUP BY tenant_id HAVING max(updated_at) < now() - interval '1 day' ORDER BY tenant_id
"""
