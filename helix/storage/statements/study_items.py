"""Items of study sets with the sources they are proved by, while they are made and after."""

from helix.storage.statements import compose

# How far the making of a set is.
SET = """
SELECT id, kind, title, document_ids, difficulty, wanted, plan, at, dropped FROM study_sets
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Held while an item is stored: two workers after a crash make no item twice.
HOLD_SET = f"{SET} FOR UPDATE"

# Once: a run that begins again goes on with the plan it made.
PLAN = """
UPDATE study_sets SET plan = %(plan)s, model = %(model)s
WHERE tenant_id = %(tenant)s AND id = %(id)s AND plan IS NULL
"""

# In the transaction of the item: after a crash it goes on behind it.
ADVANCE = """
UPDATE study_sets SET at = %(at)s, dropped = %(dropped)s
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Numbers go on behind the last, whichever were deleted.
COUNT = """
SELECT count(*) AS made, coalesce(max(n), 0) AS last FROM study_items
WHERE tenant_id = %(tenant)s AND set_id = %(id)s
"""

# Its sources follow in the same transaction.
ADD = """
INSERT INTO study_items (tenant_id, set_id, n, kind, body)
VALUES (%(tenant)s, %(set_id)s, %(n)s, %(kind)s, %(body)s) RETURNING id
"""

# Nothing where the quote is not at its place any more: the document has changed since.
ADD_SOURCE = """
INSERT INTO study_sources (tenant_id, item_id, n, document_id, chunk_id, start_char, end_char,
    quote, page, label, heading_path, content_hash, recipe)
SELECT %(tenant)s, %(item_id)s, %(n)s, d.id, %(chunk_id)s, %(start)s, %(end)s, %(quote)s, %(page)s,
    %(label)s, coalesce((SELECT c.metadata_ -> 'heading_path' FROM chunks c
        WHERE c.tenant_id = %(tenant)s AND c.id = %(chunk_id)s), '[]'), d.content_hash, d.recipe
FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = %(document_id)s
    AND substr(d.text, %(start)s + 1, %(end)s - %(start)s) = %(quote)s
"""

# Where its document changed meanwhile, so that not all sources were kept.
REMOVE = "DELETE FROM study_items WHERE tenant_id = %(tenant)s AND id = %(id)s"

# Its other keys stay.
SET_BODY = (
    "UPDATE study_items SET body = body || %(body)s WHERE tenant_id = %(tenant)s AND id = %(id)s"
)

# True if the document d of a source s has changed since the item was made of it.
IS_STALE = "(d.content_hash, d.recipe) <> (s.content_hash, s.recipe)"

# The columns of ``study_items i``: an item with its sources, as routes tell it.
COLUMNS = compose(
    """
i.id, i.n, i.kind, i.body, i.set_id,
EXISTS (SELECT FROM study_sources s JOIN documents d ON d.tenant_id = s.tenant_id
        AND d.id = s.document_id
        WHERE s.tenant_id = i.tenant_id AND s.item_id = i.id AND {stale}) AS stale,
(SELECT coalesce(jsonb_agg(jsonb_build_object(
     'document_id', s.document_id, 'chunk_id', s.chunk_id, 'title', d.title,
     'start', s.start_char, 'end', s.end_char, 'quote', s.quote, 'page', s.page,
     'label', s.label, 'heading_path', s.heading_path) ORDER BY s.n), '[]')
 FROM study_sources s JOIN documents d ON d.tenant_id = s.tenant_id AND d.id = s.document_id
 WHERE s.tenant_id = i.tenant_id AND s.item_id = i.id) AS sources
""",
    stale=IS_STALE,
)

# In the order they were made in.
ITEMS = compose(
    "SELECT {columns} FROM study_items i WHERE i.tenant_id = %(tenant)s AND i.set_id = %(set_id)s"
    " ORDER BY i.n",
    columns=COLUMNS,
)

# The same columns of one.
ITEM = compose(
    "SELECT {columns} FROM study_items i WHERE i.tenant_id = %(tenant)s AND i.id = %(item_id)s",
    columns=COLUMNS,
)
