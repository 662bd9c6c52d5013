-- What a tool computed after a model had read a document goes with that document.
CREATE OR REPLACE FUNCTION without_documents(receipt jsonb, gone bigint[]) RETURNS jsonb
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT receipt || jsonb_build_object(
        'answer', CASE WHEN receipt ->> 'reason' IS NULL THEN NULL ELSE receipt -> 'answer' END,
        'clarifying_question', NULL,
        'verdict', CASE jsonb_typeof(receipt -> 'verdict') WHEN 'object'
            THEN receipt -> 'verdict' || '{"unsupported_claims": []}' END,
        'citations', (
            SELECT coalesce(jsonb_agg(CASE
                WHEN coalesce((c ->> 'document_id')::bigint = ANY(gone), true) THEN c ||
                '{"title": null, "heading_path": [], "label": "", "snippet": null, "quote": null,
                "source_url": null}'
                ELSE c END ORDER BY n), '[]')
            FROM jsonb_array_elements(receipt -> 'citations') WITH ORDINALITY AS x (c, n)),
        'support', receipt -> 'support' || jsonb_build_object('statements', (
            SELECT coalesce(jsonb_agg(s || jsonb_build_object('spans', (
                SELECT coalesce(jsonb_agg(CASE
                    WHEN coalesce((p ->> 'document_id')::bigint = ANY(gone), true)
                    THEN p || '{"label": "", "quote": null}' ELSE p END ORDER BY m), '[]')
                FROM jsonb_array_elements(s -> 'spans') WITH ORDINALITY AS y (p, m))) ORDER BY n),
                '[]')
            FROM jsonb_array_elements(receipt #> '{support,statements}')
                WITH ORDINALITY AS x (s, n))))
        || CASE WHEN jsonb_typeof(receipt #> '{agent,calls}') = 'array'
            THEN jsonb_build_object('agent', receipt -> 'agent' || jsonb_build_object('calls', (
                SELECT coalesce(jsonb_agg(c || '{"arguments": null, "failure": null}' ORDER BY n),
                    '[]')
                FROM jsonb_array_elements(receipt #> '{agent,calls}')
                    WITH ORDINALITY AS x (c, n))))
            ELSE '{}' END
        || CASE WHEN receipt ? 'names' THEN '{"names": null}'::jsonb ELSE '{}' END
        || CASE WHEN jsonb_typeof(receipt #> '{index,sources}') = 'array'
            THEN jsonb_build_object('index', receipt -> 'index' || jsonb_build_object('sources', (
                SELECT coalesce(jsonb_agg(i - 'tool' ORDER BY n), '[]')
                FROM jsonb_array_elements(receipt #> '{index,sources}')
                    WITH ORDINALITY AS x (i, n))))
            ELSE '{}' END
$$;
