"""Documents and their chunks, as the library shows and changes them."""

from helix.domain.contract import OPEN_RUN
from helix.storage.statements import compose

# The columns of a document ``d`` that a client is told, in a list and by itself.
COLUMNS = """
d.id, d.title, d.source_uri, d.status, d.error, d.media, d.size,
(SELECT count(*) FROM chunks WHERE tenant_id = %(tenant)s AND document_id = d.id) AS chunks,
(SELECT max((section ->> 'page')::int) FROM jsonb_array_elements(d.outline) section) AS pages,
d.file_name, d.facts, d.metadata, d.warnings, d.tags, d.file_hash IS NOT NULL AS file, d.created_at,
d.updated_at
"""

# Where a chunk stands: LlamaIndex keeps it in the node's metadata.
_MARKS = """
(c.metadata_ ->> 'page')::int AS page,
coalesce(c.metadata_ -> 'heading_path', '[]') AS heading_path,
coalesce(c.metadata_ ->> 'label', '') AS label
"""

# One statement, so one snapshot: text and chunks are of the same version
DOCUMENT = compose(
    """
SELECT row_to_json(x) FROM (
    SELECT {fields}, CASE WHEN %(text)s THEN d.text END AS text, d.outline, (
        SELECT json_build_object('id', s.id, 'name', s.name, 'kind', s.kind, 'key', e.key,
                                 'url', e.url)
        FROM source_entries e JOIN sources s ON (s.tenant_id, s.id) = (e.tenant_id, e.source_id)
        WHERE e.tenant_id = %(tenant)s AND e.document_id = d.id LIMIT 1) AS source, (
        SELECT coalesce(json_agg(row_to_json(y) ORDER BY y.ordinal), '[]') FROM (
            SELECT c.id, c.ordinal, c.start_char AS start, c.end_char AS end, {marks}
            FROM chunks c WHERE c.tenant_id = %(tenant)s AND c.document_id = d.id) y) AS chunk_list
    FROM documents d WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s) x
""",
    fields=COLUMNS, marks=_MARKS,
)  # fmt: skip

# With its neighbours, for whoever turns the pages.
CHUNK = compose(
    """
SELECT row_to_json(x) FROM (
    SELECT c.id, c.document_id, d.title, d.source_uri, c.ordinal, c.content,
           c.start_char AS start, c.end_char AS end, {marks},
           (SELECT id FROM chunks WHERE tenant_id = %(tenant)s
            AND document_id = c.document_id AND ordinal < c.ordinal
            ORDER BY ordinal DESC LIMIT 1) AS previous,
           (SELECT id FROM chunks WHERE tenant_id = %(tenant)s
            AND document_id = c.document_id AND ordinal > c.ordinal
            ORDER BY ordinal LIMIT 1) AS next
    FROM chunks c JOIN documents d ON d.tenant_id = c.tenant_id AND d.id = c.document_id
    WHERE c.tenant_id = %(tenant)s AND c.id = %(id)s) x
""",
    marks=_MARKS,
)

# What is needed to send the original; no row where its bytes are not kept. An upload that is not
# read yet has the name that it came with.
FILE = """
SELECT d.source_uri, coalesce(nullif(d.file_name, ''), d.origin ->> 'name', '') AS file_name,
    d.media, f.content_hash, f.size FROM documents d
JOIN files f ON f.tenant_id = d.tenant_id AND f.content_hash = d.file_hash
WHERE d.tenant_id = %(tenant)s AND d.id = %(id)s
"""

# A part at a time: a file is not in memory whole.
FILE_PART = """
SELECT substring(data FROM %(start)s::int + 1 FOR %(most)s::int) AS part, place FROM files
WHERE tenant_id = %(tenant)s AND content_hash = %(content_hash)s
"""

# Not updated_at, which says when the version was stored.
TAG = "UPDATE documents SET tags = %s WHERE tenant_id = %s AND id = %s"

# A source that another document has the bytes of stands in document_sources.
TAG_SOURCE = """
UPDATE documents SET tags = %(tags)s WHERE tenant_id = %(tenant)s
    AND (source_uri = %(source_uri)s OR id IN (SELECT document_id FROM document_sources
         WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s))
"""

# The same of the spaces that it stands in.
PLACE_SOURCE = """
UPDATE documents SET spaces = %(spaces)s::bigint[] WHERE tenant_id = %(tenant)s
    AND (source_uri = %(source_uri)s OR id IN (SELECT document_id FROM document_sources
         WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s))
"""

# Or the version that is on its way would bring back those it was sent with.
TAG_COMING = """
UPDATE run_files SET tags = %s WHERE tenant_id = %s AND document_id = %s AND status = ANY(%s)
"""

# The lock of a write or deletion is that of the source.
SOURCE_OF = "SELECT source_uri FROM documents WHERE tenant_id = %s AND id = %s"

# Held until the new ones are written: two requests that each add one keep both.
HOLD_TAGS = "SELECT tags FROM documents WHERE tenant_id = %s AND id = %s FOR UPDATE"

# Held until it is changed: two requests that each edit one fact keep both.
HOLD_EDITABLE = """
SELECT title, file_name, facts, edits FROM documents WHERE tenant_id = %s AND id = %s FOR UPDATE
"""

# Its title and facts are in front of what is embedded: with no recipe it is read again when it is
# next ingested. Until then what it is found by by name is up to date, and its vectors are not.
EDIT = """
UPDATE documents SET title = %(title)s, file_name = %(file_name)s, facts = %(facts)s,
    edits = %(edits)s, recipe = ''
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# xmin is the transaction that wrote a row: whatever changes of a row changes it.
LIBRARY_STATE = compose(
    """
SELECT json_build_object(
    'documents', (SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s),
    'version', (SELECT coalesce(sum(hashint8extended(id, xmin::text::bigint)), 0)::text
                FROM documents WHERE tenant_id = %(tenant)s),
    'runs', (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM (
        SELECT id FROM runs WHERE tenant_id = %(tenant)s AND status IN {open}
        ORDER BY id LIMIT %(most)s) r))
""",
    open=str(OPEN_RUN),
)
