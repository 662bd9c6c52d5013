"""Parts of documents that are read in order, where no search is asked."""

from helix.storage.statements import compose
from helix.storage.statements.hits import COLUMNS, JOIN

# With how many there are in all, for whoever sees the first of them.
DOCUMENTS = """
SELECT id, title, media, facts, metadata, updated_at, count(*) OVER () AS total,
       (SELECT max((section ->> 'page')::int) FROM jsonb_array_elements(outline) section) AS pages
FROM documents WHERE tenant_id = %(tenant)s AND status = 'ready' AND {condition}
    AND (%(wanted)s::text[] IS NULL
        OR lower(concat_ws(' ', title, facts, metadata)) LIKE ALL(%(wanted)s))
ORDER BY lower(title), id LIMIT %(most)s
"""

# Only of the scope: no row where it is another's.
DOCUMENT = """
SELECT id, title, text, outline, facts, media FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND id = %(document_id)s AND {condition}
"""

# The distance of what no search found is unknown.
PASSAGES = """
SELECT {columns} FROM (
    SELECT id, 'NaN'::float8 AS distance, ordinal AS at FROM chunks
    WHERE tenant_id = %(tenant)s AND document_id = %(document_id)s
        AND document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {condition})
        AND (%(page)s::int IS NULL OR metadata_ -> 'page' = to_jsonb(%(page)s::int))
        AND (%(heading)s::text IS NULL OR EXISTS (
            SELECT FROM jsonb_array_elements_text(
                CASE WHEN jsonb_typeof(metadata_ -> 'heading_path') = 'array'
                THEN metadata_ -> 'heading_path' ELSE '[]' END) AS name
            WHERE strpos(lower(name), lower(%(heading)s)) > 0))
        AND (%(start)s::int IS NULL OR end_char > %(start)s)
        AND (%(end)s::int IS NULL OR start_char < %(end)s)
    ORDER BY ordinal LIMIT %(most)s
) h {joined} ORDER BY h.at
"""

# One chunk a place, the first of those that overlap.
PASSAGES_AT = """
SELECT {columns} FROM (
    SELECT DISTINCT ON (place) c.id, 'NaN'::float8 AS distance, place AS at
    FROM unnest(%(documents)s::bigint[], %(starts)s::int[], %(ends)s::int[])
        WITH ORDINALITY AS wanted (document_id, first, last, place)
    JOIN chunks c ON c.tenant_id = %(tenant)s AND c.document_id = wanted.document_id
        AND c.start_char <= wanted.first AND c.end_char >= wanted.last
    WHERE c.document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s AND {condition})
    ORDER BY place, c.ordinal
) h {joined} ORDER BY h.at
"""

# Bounded in cells: what is calculated with is read whole.
TABLES = """
SELECT t.document_id, d.title, d.facts, t.page, t.caption, t.units, t.row_paths, t.column_paths,
       t.cells, t.start_char, substring(d.text FROM t.start_char + 1
                                        FOR t.end_char - t.start_char) AS text
FROM document_tables t JOIN documents d ON d.tenant_id = t.tenant_id AND d.id = t.document_id
WHERE t.tenant_id = %(tenant)s AND jsonb_array_length(t.cells) <= %(cells)s
    AND (%(documents)s::bigint[] IS NULL OR t.document_id = ANY(%(documents)s))
    AND t.document_id IN (SELECT id FROM documents WHERE tenant_id = %(tenant)s
                          AND status = 'ready' AND {condition})
ORDER BY t.document_id, t.ordinal LIMIT %(most)s
"""

# With how many there are in all.
TITLES = """
SELECT title, count(*) OVER () AS total FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND {condition}
ORDER BY lower(title), id LIMIT %(most)s
"""

# The first chunks of all sections come before any second one; the distance of what no search found
# is unknown.
SECTION_LEADS = compose(
    """
SELECT {columns} FROM (
    SELECT id, 'NaN'::float8 AS distance, ordinal AS at FROM (
        SELECT id, ordinal, row_number() OVER (PARTITION BY
            metadata_ -> 'heading_path' ->> 0, metadata_ -> 'heading_path' ->> 1
            ORDER BY ordinal) AS place
        FROM chunks WHERE tenant_id = %(tenant)s AND document_id = %(document_id)s
    ) s ORDER BY place, ordinal LIMIT %(most)s
) h {joined} ORDER BY h.at
""",
    columns=COLUMNS, joined=JOIN,
)  # fmt: skip
