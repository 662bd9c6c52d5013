"""Vector tables of other programs, whose texts are imported."""

from __future__ import annotations

# In the order of their place in the source, where the metadata has it; else as they were stored.
ORDERED = """
SELECT source, coalesce(metadata ->> 'title', metadata ->> 'name', '') AS title, text FROM chunks
ORDER BY source, CASE WHEN metadata ->> 'page' ~ '^\\d+$' THEN (metadata ->> 'page')::int END,
    CASE WHEN metadata ->> 'start_index' ~ '^\\d+$' THEN (metadata ->> 'start_index')::int END,
    place
"""

# The tables of other programs: text, metadata and source of each of their chunks.
CHUNKS: dict[str, str] = {
    "langchain": """
WITH chunks AS (
    SELECT e.document AS text, coalesce(e.cmetadata, '{}')::jsonb AS metadata, e.ctid AS place,
        coalesce(e.cmetadata ->> 'source', e.cmetadata ->> 'file_name', c.name) AS source
    FROM langchain_pg_embedding e JOIN langchain_pg_collection c ON c.uuid = e.collection_id
    WHERE coalesce(e.document, '') <> '' AND c.name = coalesce(%(collection)s, c.name))
""",
    # Whose table is named after the collection; the place of a node is in its JSON.
    "llamaindex": """
WITH chunks AS (
    SELECT text, id AS place, jsonb_build_object(
            'title', coalesce(about ->> 'title', about ->> 'file_name'),
            'page', about ->> 'page_label',
            'start_index', (about ->> '_node_content')::jsonb ->> 'start_char_idx') AS metadata,
        coalesce(about ->> 'source', about ->> 'file_path', about ->> 'file_name',
            about ->> 'ref_doc_id', id::text) AS source
    FROM (SELECT id, text, coalesce(metadata_, '{{}}')::jsonb AS about FROM {table}) AS nodes
    WHERE coalesce(text, '') <> '')
""",
    "open-webui": """
WITH chunks AS (
    SELECT text, coalesce(vmetadata, '{}')::jsonb AS metadata, ctid AS place,
        coalesce(vmetadata ->> 'file_id', vmetadata ->> 'source', vmetadata ->> 'name',
            collection_name) AS source
    FROM document_chunk
    WHERE coalesce(text, '') <> '' AND collection_name = coalesce(%(collection)s, collection_name))
""",
}
