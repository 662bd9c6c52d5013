"""Names that documents are asked for by."""

# What a document is called by.
DOCUMENT = """
SELECT source_uri, title, file_name, facts FROM documents
WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Names that it is not called by any more; those that stay keep their rows.
FORGET = """
DELETE FROM document_names WHERE tenant_id = %(tenant)s
    AND document_id = (
        SELECT id FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(source_uri)s)
    AND (kind, name) NOT IN (SELECT * FROM unnest(%(kinds)s::text[], %(names)s::text[]))
"""

# Those that it has already change nothing.
REMEMBER = """
INSERT INTO document_names (tenant_id, document_id, kind, name)
SELECT %(tenant)s, d.id, named.kind, named.name
FROM documents d CROSS JOIN unnest(%(kinds)s::text[], %(names)s::text[]) AS named (kind, name)
WHERE d.tenant_id = %(tenant)s AND d.source_uri = %(source_uri)s
ON CONFLICT DO NOTHING
"""

# Names that are no period's point at documents; periods tell which of these are meant, and where no
# other name points anywhere they do. Each name is one look into the index, cut off at a bound: a
# tenant whose documents are all one company's gains nothing from that company's name.
NAMED = """
WITH called AS MATERIALIZED (
    SELECT n.name, n.kind, n.document_id FROM unnest(%(called)s::text[]) AS asked (name)
    CROSS JOIN LATERAL (
        SELECT name, kind, document_id FROM document_names
        WHERE tenant_id = %(tenant)s AND name = asked.name LIMIT %(most)s + 1) n
),
pointed AS MATERIALIZED (
    SELECT name, kind, document_id FROM (
        SELECT *, count(*) OVER (PARTITION BY name, kind) AS n FROM called) counted
    WHERE n <= %(most)s
),
timed AS MATERIALIZED (
    SELECT n.name, n.kind, n.document_id FROM unnest(%(periods)s::text[]) AS asked (name)
    CROSS JOIN LATERAL (
        SELECT name, kind, document_id FROM document_names
        WHERE tenant_id = %(tenant)s AND name = asked.name AND NOT EXISTS (SELECT FROM pointed)
        LIMIT %(most)s + 1) n
),
of_period AS MATERIALIZED (
    SELECT name, kind, document_id FROM (
        SELECT *, count(*) OVER (PARTITION BY name) AS n FROM timed) counted
    WHERE n <= %(most)s
    UNION
    SELECT n.name, n.kind, n.document_id
    FROM (SELECT DISTINCT document_id FROM pointed) p JOIN document_names n
        ON n.tenant_id = %(tenant)s AND n.document_id = p.document_id AND n.kind = 'period'
        AND n.name = ANY(%(periods)s)
)
SELECT f.name, f.kind, f.document_id, d.title, d.facts ->> 'kind' AS document_kind,
       d.facts ->> 'period_end' AS period_end
FROM (SELECT * FROM pointed UNION ALL SELECT * FROM of_period) f
JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = f.document_id AND d.status = 'ready'
ORDER BY f.document_id, f.kind, f.name
"""
