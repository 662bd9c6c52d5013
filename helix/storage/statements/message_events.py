"""Answers that are being made: their events as they come, who makes them, how they end."""

from helix.storage.statements import compose

# No wait for the disk: an answer that a crash of the database takes was not yet reported as whole.
_SOON = "soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"

# One message, by all of its key.
_THIS = "m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s AND m.id = %(message)s"

# Only while this process answers it: another may have found it silent, and interrupted it.
_OWN = f"{_THIS} AND m.owner = %(owner)s AND m.status = 'answering'"

# Numbered by the process; again they change nothing.
_TELL = """
told AS (
    INSERT INTO message_events (tenant_id, conversation_id, message_id, n, event, data)
    SELECT %(tenant)s, %(id)s, %(message)s, %(first)s + x.n - 1, x.event, x.data
    FROM mine, unnest(%(events)s::text[], %(data)s::text[]) WITH ORDINALITY AS x (event, data, n)
    ON CONFLICT DO NOTHING)
"""

# The store tries it twice where a connection breaks: the second attempt changes nothing.
APPEND = compose(
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

# With the versions of what it cites: a document that changes later is told of beside the answer.
FINISH = compose(
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

# What was told of an answer by then, unless words of it may be a deleted document's. Its characters
# are as helix/domain/input_text.py has them: escapes of U+0000 and of surrogates are refused.
_TOLD_TEXT = r"""
(SELECT string_agg(
    regexp_replace(
        replace(e.data, U&'\E000', U&'\E000e000'),
        '(?<!\\)((?:\\\\)*)\\u(0000|d[89a-f][0-9a-f]{2})', U&'\\1\E000\\2', 'g'
    )::json ->> 't', '' ORDER BY e.n)
 FROM message_events e WHERE e.tenant_id = m.tenant_id AND e.conversation_id = m.conversation_id
     AND e.message_id = m.id AND e.event = 'token' AND NOT EXISTS (
         SELECT unnest(m.document_ids) EXCEPT
         SELECT d.id FROM documents d WHERE d.tenant_id = m.tenant_id))
"""

# Whoever finds the silence ends the answer, with one event more for those who follow it.
_INTERRUPT = """
WITH late AS (
    UPDATE messages m SET status = 'interrupted', error = %(interrupted)s, finished_at = now(),
        response = jsonb_build_object('answer', coalesce({told}, ''))
    WHERE {which} AND m.status = 'answering'
        AND m.seen_at < now() - make_interval(secs => %(lease)s)
    RETURNING m.tenant_id, m.conversation_id, m.id)
INSERT INTO message_events (tenant_id, conversation_id, message_id, n, event, data)
SELECT l.tenant_id, l.conversation_id, l.id,
    1 + coalesce((SELECT max(e.n) FROM message_events e WHERE e.tenant_id = l.tenant_id
        AND e.conversation_id = l.conversation_id AND e.message_id = l.id), 0),
    'interrupted', '{{"error":' || to_json(%(interrupted)s::text)::text || '}}'
FROM late l RETURNING message_id
"""

# Of one conversation.
INTERRUPT_LATE = compose(
    _INTERRUPT, which="m.tenant_id = %(tenant)s AND m.conversation_id = %(id)s", told=_TOLD_TEXT
)

# Of all conversations of all tenants; needs the owner's rights.
INTERRUPT_ALL_LATE = compose(_INTERRUPT, which="true", told=_TOLD_TEXT)

# Status and events of one snapshot: a status that has ended comes with the last event. Those of an
# ended answer from a deleted document are gone, whether or not they are out of the table yet.
EVENTS = compose(
    """
SELECT m.status, m.seen_at < now() - make_interval(secs => %(lease)s) AS is_late,
    coalesce((SELECT json_agg(json_build_array(e.n, e.event, e.data) ORDER BY e.n)
        FROM message_events e WHERE e.tenant_id = %(tenant)s AND e.conversation_id = %(id)s
        AND e.message_id = %(message)s AND e.n > %(after)s
        AND (m.status = 'answering' OR NOT EXISTS (SELECT unnest(m.document_ids) EXCEPT
            SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s))), '[]') AS events
FROM messages m WHERE {this}
""",
    this=_THIS,
)

# The answering process sees it as it appends: it may be another one than ours.
ASK_TO_STOP = compose(
    "UPDATE messages m SET stop_asked = true WHERE {this} AND m.status = 'answering'"
    " RETURNING m.id",
    this=_THIS,
)

# At the message that it was made for: another branch has another one.
KEEP_SUMMARY = compose(
    "UPDATE messages m SET summary = %(summary)s, summarised = %(summarised)s"
    " WHERE {this} RETURNING m.id",
    this=_THIS,
)

# As the trigger of a deletion does.
_FORGET = """
WITH changed AS (
    UPDATE messages m SET response = response_without(m.response, gone.ids), summary = '',
        summarised = 0, document_ids = array(SELECT unnest(m.document_ids) EXCEPT
                                             SELECT unnest(gone.ids))
    FROM (SELECT n.tenant_id, n.conversation_id, n.id, array_agg(x.document_id) AS ids
          FROM {named}
          WHERE n.status <> 'answering' AND NOT EXISTS (
              SELECT FROM documents d WHERE d.tenant_id = n.tenant_id AND d.id = x.document_id)
          GROUP BY n.tenant_id, n.conversation_id, n.id LIMIT %(most)s) gone
    WHERE m.tenant_id = gone.tenant_id AND m.conversation_id = gone.conversation_id
        AND m.id = gone.id
    RETURNING m.tenant_id, m.conversation_id, m.id),
untold AS (
    DELETE FROM message_events e USING changed c
    WHERE e.tenant_id = c.tenant_id AND e.conversation_id = c.conversation_id
        AND e.message_id = c.id),
unsummed AS (
    UPDATE messages m SET summary = '', summarised = 0 FROM changed c
    WHERE m.tenant_id = c.tenant_id AND m.conversation_id = c.conversation_id
        AND m.summary <> '' AND m.id <> ALL (SELECT id FROM changed))
SELECT count(*) FROM changed
"""

# Words that the trigger of a deletion left, and answers that ended at the same time.
FORGET_DELETED = compose(_FORGET, named="messages n, unnest(n.document_ids) AS x (document_id)")

# The same of what was removed in the last hour: by the index, so that it may be done often.
FORGET_REMOVED = compose(
    _FORGET,
    named="removals x JOIN messages n ON x.removed_at > now() - interval '1 hour'"
    " AND n.tenant_id = x.tenant_id AND n.document_ids && ARRAY[x.document_id]",
)

# Of answers that ended long ago: the messages have them whole.
DROP_EVENTS = """
DELETE FROM message_events e USING (
    SELECT tenant_id, conversation_id, id FROM messages m
    WHERE finished_at < now() - make_interval(days => %(days)s) AND EXISTS (
        SELECT FROM message_events x WHERE x.tenant_id = m.tenant_id
            AND x.conversation_id = m.conversation_id AND x.message_id = m.id)
    LIMIT %(most)s) old
WHERE e.tenant_id = old.tenant_id AND e.conversation_id = old.conversation_id
    AND e.message_id = old.id
"""
