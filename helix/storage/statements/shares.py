"""Shares of answers and conversations, public links and comments, with the owner's rights."""

from helix.storage.statements import compose

# Whoever shared it stands in the tenant still, and may sign in.
_AUTHOR = """
JOIN members a ON (a.tenant_id, a.person_id) = (s.tenant_id, s.person_id)
JOIN people p ON p.id = s.person_id AND p.disabled_at IS NULL
"""

# Its author, and those whom it is for, by themselves, in a group, or as everyone.
_FOR_READER = """
(s.person_id = %(person)s OR s.everyone OR EXISTS (
    SELECT FROM share_readers r WHERE r.tenant_id = s.tenant_id AND r.share_id = s.id
        AND (r.person_id = %(person)s OR r.group_id IN (
            SELECT g.group_id FROM group_members g
            WHERE g.tenant_id = s.tenant_id AND g.person_id = %(person)s))))
"""

# With what its author may read now: the words that it shows are no more than that.
_OPENED = """
s.tenant_id AS tenant, s.id, s.person_id AS author,
coalesce(nullif(p.name, ''), p.email) AS author_name, s.conversation_id, s.message_id, s.words,
readable_spaces(s.tenant_id, s.person_id, a.role, NULL) AS author_spaces
"""

# One that a member of the tenant may read.
OPEN = compose(
    "SELECT {opened} FROM shares s {author}"
    " WHERE s.tenant_id = %(tenant)s AND s.id = %(id)s AND {for_reader}",
    opened=_OPENED, author=_AUTHOR, for_reader=_FOR_READER,
)  # fmt: skip

# The answer of a public link that has not ended.
OPEN_LINK = compose(
    "SELECT {opened} FROM share_links l"
    " JOIN shares s ON (s.tenant_id, s.id) = (l.tenant_id, l.share_id)"
    " {author} WHERE l.token_hash = %(hash)s AND l.expires_at > now() AND s.message_id IS NOT NULL",
    opened=_OPENED, author=_AUTHOR,
)  # fmt: skip

# It differs where what a reader sees does: messages, comments, the words that are shared, and which
# documents may be read by the reader (`spaces`; NULL: all) and by the author. `xmin` tells a row
# that was changed and changed back: a reader may have read what stood there in between.
VERSION = compose(
    """
SELECT md5(concat_ws(' ', s.xmin,
    readable_spaces(s.tenant_id, s.person_id, a.role, NULL)::text,
    (SELECT string_agg(
        concat_ws(' ', m.id, m.status, m.finished_at, m.is_active), ';' ORDER BY m.id)
     FROM messages m WHERE (m.tenant_id, m.conversation_id) = (s.tenant_id, s.conversation_id)
        AND coalesce(s.message_id, m.id) = m.id),
    (SELECT string_agg(concat_ws(' ', d.id, d.xmin), ';' ORDER BY d.id)
     FROM documents d WHERE d.tenant_id = s.tenant_id AND d.id IN (
        SELECT unnest(m.document_ids) FROM messages m
        WHERE (m.tenant_id, m.conversation_id) = (s.tenant_id, s.conversation_id))),
    (SELECT string_agg(concat_ws(' ', c.id, c.xmin), ';' ORDER BY c.id) FROM comments c
     WHERE c.tenant_id = s.tenant_id AND c.share_id = s.id))) AS version
FROM shares s {author}
WHERE s.tenant_id = %(tenant)s AND s.id = %(id)s AND {for_reader}
""",
    author=_AUTHOR, for_reader=_FOR_READER,
)  # fmt: skip

# A conversation is called as its author's list has it, an answer by its question.
_TITLES = """
c.title, (SELECT m.question FROM messages m
          WHERE m.tenant_id = s.tenant_id AND m.conversation_id = s.conversation_id
              AND CASE WHEN s.message_id IS NULL THEN m.parent_id IS NULL
                       ELSE m.id = s.message_id END
          ORDER BY m.id LIMIT 1) AS question,
(SELECT count(*) FROM comments k WHERE k.tenant_id = s.tenant_id AND k.share_id = s.id) AS comments
"""

# Those that others share with a member, the latest first.
WITH_ME = compose(
    """
SELECT s.id, s.message_id, coalesce(nullif(p.name, ''), p.email) AS author_name, s.created_at,
    {titles}
FROM shares s {author}
JOIN conversations c ON (c.tenant_id, c.id) = (s.tenant_id, s.conversation_id)
WHERE s.tenant_id = %(tenant)s AND s.person_id <> %(person)s AND {for_reader}
ORDER BY s.created_at DESC, s.id LIMIT %(most)s
""",
    titles=_TITLES, author=_AUTHOR, for_reader=_FOR_READER,
)  # fmt: skip

# A person's own, of one conversation or message where that is named.
OWN = compose(
    """
SELECT s.id, s.conversation_id, s.message_id, s.everyone, s.words, s.created_at, {titles},
    (SELECT coalesce(json_agg(json_build_object('id', p.id, 'email', p.email, 'name', p.name)
        ORDER BY p.email), '[]') FROM share_readers r JOIN people p ON p.id = r.person_id
     WHERE r.tenant_id = s.tenant_id AND r.share_id = s.id) AS people,
    (SELECT coalesce(json_agg(json_build_object('id', g.id, 'name', g.name) ORDER BY g.name), '[]')
     FROM share_readers r JOIN groups g ON (g.tenant_id, g.id) = (r.tenant_id, r.group_id)
     WHERE r.tenant_id = s.tenant_id AND r.share_id = s.id) AS groups,
    (SELECT coalesce(json_agg(json_build_object('id', l.id, 'created_at', l.created_at,
        'expires_at', l.expires_at) ORDER BY l.id), '[]') FROM share_links l
     WHERE l.tenant_id = s.tenant_id AND l.share_id = s.id AND l.expires_at > now()) AS links
FROM shares s JOIN conversations c ON (c.tenant_id, c.id) = (s.tenant_id, s.conversation_id)
WHERE s.tenant_id = %(tenant)s AND s.person_id = %(person)s
    AND (%(id)s::text IS NULL OR s.id = %(id)s)
    AND (%(conversation)s::text IS NULL OR s.conversation_id = %(conversation)s)
    AND (%(message)s::bigint IS NULL OR s.message_id = %(message)s)
ORDER BY s.created_at DESC, s.id LIMIT %(most)s
""",
    titles=_TITLES,
)

# One share of a thing by a person: again it is the one that there is.
ADD = """
INSERT INTO shares (tenant_id, id, person_id, conversation_id, message_id)
VALUES (%(tenant)s, %(id)s, %(person)s, %(conversation)s, %(message)s)
ON CONFLICT (tenant_id, conversation_id, message_id, person_id)
    DO UPDATE SET message_id = excluded.message_id
RETURNING id
"""

# What is NULL stays as it is. The row is held: two changes of its readers come one after another.
CHANGE = """
UPDATE shares SET everyone = coalesce(%(everyone)s::boolean, everyone),
    words = coalesce(%(words)s::boolean, words)
WHERE tenant_id = %(tenant)s AND id = %(id)s AND person_id = %(person)s RETURNING message_id
"""

# Its readers, comments and links go with it.
DELETE = """
DELETE FROM shares WHERE tenant_id = %(tenant)s AND id = %(id)s AND person_id = %(person)s
RETURNING id
"""

# Before others are given it.
FORGET_PEOPLE = """
DELETE FROM share_readers
WHERE tenant_id = %(tenant)s AND share_id = %(id)s AND person_id IS NOT NULL
"""

# The same of groups.
FORGET_GROUPS = """
DELETE FROM share_readers
WHERE tenant_id = %(tenant)s AND share_id = %(id)s AND group_id IS NOT NULL
"""

# Members of the tenant alone; who is none is told by the number of rows.
LET_PEOPLE = """
INSERT INTO share_readers (tenant_id, share_id, person_id)
SELECT tenant_id, %(id)s, person_id FROM members
WHERE tenant_id = %(tenant)s AND person_id = ANY(%(people)s::bigint[])
"""

# Groups of the tenant alone.
LET_GROUPS = """
INSERT INTO share_readers (tenant_id, share_id, group_id)
SELECT tenant_id, %(id)s, id FROM groups
WHERE tenant_id = %(tenant)s AND id = ANY(%(groups)s::bigint[])
"""

# Of a link the hash alone is kept. Those that have ended make room.
DROP_ENDED_LINKS = """
DELETE FROM share_links WHERE tenant_id = %(tenant)s AND share_id = %(id)s AND expires_at <= now()
"""

# Of one answer, and no more than so many at a time.
ADD_LINK = """
INSERT INTO share_links (tenant_id, share_id, token_hash, expires_at)
SELECT %(tenant)s, %(id)s, %(hash)s, now() + %(life)s
WHERE (SELECT count(*) FROM share_links
       WHERE tenant_id = %(tenant)s AND share_id = %(id)s) < %(most)s
RETURNING id, expires_at
"""

# One of a share of the person's.
DELETE_LINK = """
DELETE FROM share_links l USING shares s
WHERE l.tenant_id = %(tenant)s AND l.share_id = %(share)s AND l.id = %(link)s
    AND (s.tenant_id, s.id) = (l.tenant_id, l.share_id) AND s.person_id = %(person)s
"""

# All of a share, oldest first.
COMMENTS = """
SELECT c.id, c.message_id, c.person_id, coalesce(nullif(p.name, ''), p.email) AS author, c.text,
    c.created_at, c.edited_at
FROM comments c JOIN people p ON p.id = c.person_id
WHERE c.tenant_id = %(tenant)s AND c.share_id = %(share)s ORDER BY c.id
"""

# About a message of the shared conversation: of the one that is shared, where it is one.
COMMENT = """
INSERT INTO comments (tenant_id, share_id, message_id, person_id, text)
SELECT s.tenant_id, s.id, m.id, %(person)s, %(text)s
FROM shares s JOIN messages m ON (m.tenant_id, m.conversation_id) = (s.tenant_id, s.conversation_id)
    AND m.id = %(message)s AND (s.message_id IS NULL OR s.message_id = m.id)
WHERE s.tenant_id = %(tenant)s AND s.id = %(share)s
    AND (SELECT count(*) FROM comments
         WHERE tenant_id = %(tenant)s AND share_id = %(share)s) < %(most)s
RETURNING id
"""

# One's own alone.
EDIT_COMMENT = """
UPDATE comments SET text = %(text)s, edited_at = now()
WHERE tenant_id = %(tenant)s AND share_id = %(share)s AND id = %(comment)s
    AND person_id = %(person)s
RETURNING id
"""

# One's own, or any of a share of one's own.
DELETE_COMMENT = """
DELETE FROM comments c USING shares s
WHERE c.tenant_id = %(tenant)s AND c.share_id = %(share)s AND c.id = %(comment)s
    AND (s.tenant_id, s.id) = (c.tenant_id, c.share_id)
    AND (c.person_id = %(person)s OR s.person_id = %(person)s)
RETURNING c.id
"""
