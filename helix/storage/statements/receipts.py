"""Receipts of answers: kept, shown without what was deleted, checked against the documents."""

from helix.storage.statements import compose

# Waiting for the disk would take 1 to 10 ms of every answer. Without it, receipts committed in the
# last half second before a crash of the database may be lost, never torn. The conflict is that of a
# second attempt after a broken connection, which finds the row that the first one wrote. Nothing
# is kept where the tenant, or the person who asks, was erased since the question was asked.
KEEP = """
WITH soon AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO answers (tenant_id, id, question, document_ids, receipt, answer_sha256, owner)
SELECT %(tenant)s, %(id)s, %(question)s, %(documents)s, %(receipt)s::jsonb,
    %(receipt)s::jsonb ->> 'answer_sha256', %(owner)s FROM soon
WHERE answer_may_be_kept(%(tenant)s, %(seconds)s)
    AND (%(owner)s = '' OR answer_may_be_kept(%(owner)s, %(seconds)s))
ON CONFLICT DO NOTHING RETURNING 1
"""

# The latest, for the stream of GET /ask has no id, and to ask again may give the same words. One's
# own alone: anybody knows the text of a refusal, and would be told what somebody else had asked.
OF_TEXT = """
SELECT id FROM answers WHERE tenant_id = %(tenant)s AND answer_sha256 = %(digest)s
    AND owner = %(owner)s AND created_at > now() - make_interval(days => %(days)s)
ORDER BY created_at DESC LIMIT 1
"""

# The words of a deleted document are not shown, whether or not they are out of the row yet; nor to
# others those of what was put to somebody's conversation, which is no document of the library. A
# question back in a conversation may name that too, and a refusal has no sources to tell it by.
SHOWN = """
SELECT a.created_at, a.question,
    CASE WHEN missing.ids = '{}' THEN a.receipt ELSE without_documents(a.receipt, missing.ids) END
        || CASE WHEN a.receipt ->> 'turn' IS NOT NULL AND reader.is_another
            THEN '{"clarifying_question": null}'::jsonb ELSE '{}' END AS receipt,
    coalesce((
    SELECT jsonb_agg(jsonb_build_object(
        'rating', f.rating, 'note', f.note, 'created_at', f.created_at) ORDER BY f.id)
    FROM feedback f WHERE f.tenant_id = %(tenant)s AND f.answer_id = a.id), '[]') AS feedback,
    (SELECT coalesce(jsonb_agg(jsonb_build_object(
        'document_id', r.document_id, 'removed_at', r.removed_at) ORDER BY r.document_id), '[]')
    FROM removals r WHERE r.tenant_id = %(tenant)s AND r.document_id = ANY (array(
        SELECT (s ->> 'document_id')::bigint
        FROM jsonb_array_elements(a.receipt #> '{index,sources}') s))
    AND NOT EXISTS (SELECT FROM documents d
        WHERE d.tenant_id = %(tenant)s AND d.id = r.document_id)) AS removed
FROM answers a,
    LATERAL (SELECT a.owner <> coalesce(current_setting('helix.owner', true), ''))
        AS reader (is_another),
    LATERAL (
    SELECT array(SELECT unnest(a.document_ids) EXCEPT
                 SELECT d.id FROM documents d WHERE d.tenant_id = %(tenant)s)
        || array(SELECT (s ->> 'document_id')::bigint
                 FROM jsonb_array_elements(a.receipt #> '{index,sources}') s
                 WHERE (s ->> 'document_id')::bigint <> ALL (a.document_ids)
                     AND reader.is_another)
    ) AS missing (ids)
WHERE a.tenant_id = %(tenant)s AND a.id = %(id)s
    AND a.created_at > now() - make_interval(days => %(days)s)
"""

# Of an answer that is still kept: no row where it is not.
RATE = """
WITH rated AS (
    SELECT tenant_id, id, receipt FROM answers WHERE tenant_id = %(tenant)s AND id = %(id)s
        AND created_at > now() - make_interval(days => %(days)s)),
given AS (
    INSERT INTO feedback (tenant_id, answer_id, rating, note)
    SELECT tenant_id, id, %(rating)s, %(note)s FROM rated RETURNING created_at)
SELECT g.created_at, coalesce(r.receipt #>> '{model,answered}', r.receipt #>> '{models,llm}', ''),
    r.receipt #> '{scope,spaces}'
FROM given g, rated r
"""

# Anybody who has an answer may rate it, any number of times: the latest stay.
TRIM_RATINGS = """
DELETE FROM feedback WHERE tenant_id = %(tenant)s AND answer_id = %(id)s AND id NOT IN (
    SELECT id FROM feedback WHERE tenant_id = %(tenant)s AND answer_id = %(id)s
    ORDER BY id DESC LIMIT %(most)s)
"""

# Some at a time, and none that another server is at: no lock is held for long.
DROP_EXPIRED = """
DELETE FROM answers WHERE (tenant_id, id) IN (
    SELECT tenant_id, id FROM answers WHERE created_at <= now() - make_interval(days => %(days)s)
    LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""

# The same of ratings, which may be younger than their answers.
DROP_EXPIRED_RATINGS = """
DELETE FROM feedback WHERE id IN (
    SELECT id FROM feedback WHERE created_at <= now() - make_interval(days => %(days)s)
    LIMIT %(most)s FOR UPDATE SKIP LOCKED)
"""

# As the trigger of a deletion does.
_FORGET = """
UPDATE answers a SET receipt = without_documents(a.receipt, gone.ids),
    document_ids = array(SELECT unnest(a.document_ids) EXCEPT SELECT unnest(gone.ids))
FROM (SELECT n.tenant_id, n.id, array_agg(x.document_id) AS ids
      FROM {named}
      WHERE NOT EXISTS (
          SELECT FROM documents d WHERE d.tenant_id = n.tenant_id AND d.id = x.document_id)
      GROUP BY n.tenant_id, n.id LIMIT %(most)s) gone
WHERE a.tenant_id = gone.tenant_id AND a.id = gone.id
"""

# What the trigger of a deletion left: it takes the words out of some hundred receipts only, and did
# not see the receipt of an answer that was being finished just then.
FORGET_DELETED = compose(_FORGET, named="answers n, unnest(n.document_ids) AS x (document_id)")

# The same of what was removed in the last hour: by the index, so that it may be done often.
FORGET_REMOVED = compose(
    _FORGET,
    named="removals x JOIN answers n ON x.removed_at > now() - interval '1 hour'"
    " AND n.tenant_id = x.tenant_id AND n.document_ids && ARRAY[x.document_id]",
)

# A citation that no statement rests on has no quote: then its chunk must be stored.
# Quote and text are counted in characters, by Postgres and Python alike.
CITATIONS = """
SELECT row_to_json(x) FROM (
    SELECT s.n,
        CASE WHEN d.id IS NULL THEN 'source deleted'
            WHEN s.quote IS NULL AND s.from_char IS NULL AND c.id IS NOT NULL THEN 'holds'
            WHEN substr(d.text, s.from_char + 1, s.to_char - s.from_char) = s.quote THEN 'holds'
            ELSE 'source changed' END AS status,
        nullif(strpos(d.text, s.quote), 0) - 1 AS now_at
    FROM unnest(%(numbers)s::int[], %(documents)s::bigint[], %(chunks)s::bigint[],
                %(starts)s::int[], %(ends)s::int[], %(quotes)s::text[])
        AS s (n, document_id, chunk_id, from_char, to_char, quote)
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = s.document_id
    LEFT JOIN chunks c ON c.tenant_id = %(tenant)s AND c.id = s.chunk_id) x
"""

# The source's characters in the document, and its chunk in case it keeps its text elsewhere.
SOURCES = """
SELECT row_to_json(x) FROM (
    SELECT d.id IS NOT NULL AS there, c.content, c.ordinal, c.node_id, d.title, d.source_uri,
        substr(d.text, s.from_char + 1, s.to_char - s.from_char) AS slice
    FROM unnest(%(numbers)s::int[], %(documents)s::bigint[], %(chunks)s::bigint[],
            %(starts)s::int[], %(ends)s::int[]) AS s (n, document_id, chunk_id, from_char, to_char)
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = s.document_id
    LEFT JOIN chunks c ON c.tenant_id = %(tenant)s AND c.id = s.chunk_id ORDER BY s.n) x
"""

# In one snapshot: the hash is that of the very text which the quotes are looked for in.
CITED_DOCUMENTS = """
SELECT row_to_json(x) FROM (
    SELECT d.id AS document_id, d.title, char_length(d.text) AS characters,
        encode(sha256(convert_to(d.text, 'UTF8')), 'hex') AS text_sha256,
        d.content_hash AS file_sha256,
        (SELECT coalesce(bool_and(
                substr(d.text, s.from_char + 1, s.to_char - s.from_char) = s.quote), true)
         FROM unnest(%(ids)s::bigint[], %(starts)s::int[], %(ends)s::int[], %(quotes)s::text[])
            AS s (document_id, from_char, to_char, quote) WHERE s.document_id = d.id) AS holds
    FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = ANY(%(documents)s::bigint[])) x
"""
