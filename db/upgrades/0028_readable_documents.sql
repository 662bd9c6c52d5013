-- What may be read, looked up for each row of another table at a tenth of the cost: by a view with the
-- owner's rights instead of the policy of documents. Every migration makes the policies anew that are
-- not there.
-- The documents of the transaction's spaces, with the owner's rights: where a document is looked up
-- for each row of another table, this tells for a tenth of what its policy costs whether it may be
-- read, for the policy's && goes through all of the spaces for each document. width_bucket looks up
-- an element of an array in its order, which helix.spaces is in; in another it finds less, not more.
CREATE OR REPLACE VIEW readable_documents AS
SELECT tenant_id, id, spaces FROM documents
WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND (
    (SELECT current_setting('helix.spaces', true)::bigint[])[
        width_bucket(spaces[1], (SELECT current_setting('helix.spaces', true)::bigint[]))] = spaces[1]
    OR cardinality(spaces) > 1
        AND spaces && (SELECT current_setting('helix.spaces', true)::bigint[]));

DO $$
DECLARE
    walled name;
BEGIN
    FOREACH walled IN ARRAY '{chunks,chunk_terms,document_sources,document_pages,document_tables,document_names,document_values,suggested_questions,study_sources,run_files}'::name[] LOOP
        EXECUTE format('DROP POLICY IF EXISTS limited ON %I', walled);
    END LOOP;
END $$;

-- The chunks, of `documents` where given, that have any of the keys `wanted`, best first. It reads
-- chunk_terms with the owner's rights: under row-level security an array may not be looked up in
-- its index, for the operator could tell of rows that are not to be seen. Its own conditions, on the
-- tenant and on the spaces that the transaction is limited to, are the policies'.
CREATE OR REPLACE FUNCTION lexical_chunks(
    wanted bigint[], weights sparsevec, most integer, documents bigint[] DEFAULT NULL)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF nullif(current_setting('helix.spaces', true), '') IS NOT NULL THEN
        RETURN QUERY SELECT id FROM limited_lexical_chunks(wanted, weights, most, documents) AS id;
    ELSIF documents IS NULL THEN
        RETURN QUERY SELECT chunk_id FROM chunk_terms
        WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
        ORDER BY impacts <#> weights LIMIT most;
    ELSE
        RETURN QUERY SELECT chunk_id FROM chunk_terms
        WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
            AND coalesce(document_id IN (SELECT unnest(documents)), false)
        ORDER BY impacts <#> weights LIMIT most;
    END IF;
END $$;

-- The same for transactions that are limited to spaces. The documents of chunks are looked up from
-- the best chunk on, no further than it takes. Of some documents the index of keys and that of
-- documents are read together, so that no other's chunks are fetched: for that it is planned with
-- the documents that there are, and told that comparing a row's keys, which lie outside of it, costs
-- as much as a page. Of many the plan itself would cost more than that saves.
CREATE OR REPLACE FUNCTION limited_lexical_chunks(
    wanted bigint[], weights sparsevec, most integer, documents bigint[])
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT
SET plan_cache_mode = force_custom_plan SET cpu_operator_cost = 1 AS $$
BEGIN
    IF cardinality(documents) <= 2000 THEN
        RETURN QUERY SELECT t.chunk_id FROM (
            SELECT chunk_id, document_id FROM chunk_terms
            WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
                AND document_id = ANY(documents)
            ORDER BY impacts <#> weights OFFSET 0) t
        WHERE (SELECT d.id FROM readable_documents d WHERE d.id = t.document_id) IS NOT NULL
        LIMIT most;
    ELSE
        RETURN QUERY SELECT t.chunk_id FROM (
            SELECT chunk_id, document_id FROM chunk_terms
            WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
                AND (documents IS NULL OR coalesce(document_id IN (SELECT unnest(documents)), false))
            ORDER BY impacts <#> weights OFFSET 0) t
        WHERE (SELECT d.id FROM readable_documents d WHERE d.id = t.document_id) IS NOT NULL
        LIMIT most;
    END IF;
END $$;

REVOKE ALL ON FUNCTION limited_lexical_chunks FROM PUBLIC;
