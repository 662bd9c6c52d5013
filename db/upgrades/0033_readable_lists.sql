-- What may be read is listed by the first space of documents from an index alone, and the index of
-- vectors is read with the owner's rights.
CREATE INDEX IF NOT EXISTS documents_first_space ON documents (tenant_id, (spaces[1]), id) INCLUDE (spaces);
CREATE INDEX IF NOT EXISTS documents_further_spaces ON documents USING gin (spaces) WHERE cardinality(spaces) > 1;

-- The chunks, of `documents` where given, that have any of the keys `wanted`, best first. It reads
-- chunk_terms with the owner's rights: under row-level security an array may not be looked up in
-- its index, for the operator could tell of rows that are not to be seen. Its own conditions, on the
-- tenant and on the spaces that the transaction is limited to, are the policies'.
--
-- Of some documents the index of keys and that of documents are read together, so that no other's
-- chunks are fetched. Of many the best chunks' documents are looked up, no further than it takes: of
-- the first thousand, as a rule, which is quicker than to put all in order.
CREATE OR REPLACE FUNCTION lexical_chunks(
    wanted bigint[], weights sparsevec, most integer, documents bigint[] DEFAULT NULL)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    found bigint[];
    looked_at bigint := 10 * most;
BEGIN
    IF nullif(current_setting('helix.spaces', true), '') IS NULL AND documents IS NULL THEN
        RETURN QUERY SELECT chunk_id FROM chunk_terms
        WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
        ORDER BY impacts <#> weights LIMIT most;
    ELSIF nullif(current_setting('helix.spaces', true), '') IS NULL THEN
        RETURN QUERY SELECT chunk_id FROM chunk_terms
        WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
            AND coalesce(document_id IN (SELECT unnest(documents)), false)
        ORDER BY impacts <#> weights LIMIT most;
    ELSIF cardinality(documents) <= 3000 THEN
        RETURN QUERY SELECT t.chunk_id FROM (
            SELECT chunk_id, document_id FROM chunk_terms
            WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
                AND document_id = ANY(documents)
            ORDER BY impacts <#> weights OFFSET 0) t
        WHERE (SELECT d.id FROM readable_documents d WHERE d.id = t.document_id) IS NOT NULL
        LIMIT most;
    ELSE
        LOOP
            found := ARRAY(
                SELECT t.chunk_id FROM (
                    SELECT chunk_id, document_id FROM chunk_terms
                    WHERE tenant_id = (SELECT current_setting('helix.tenant', true))
                        AND keys && wanted AND (documents IS NULL
                            OR coalesce(document_id IN (SELECT unnest(documents)), false))
                    ORDER BY impacts <#> weights LIMIT looked_at) t
                WHERE (SELECT d.id FROM readable_documents d WHERE d.id = t.document_id) IS NOT NULL
                LIMIT most);
            EXIT WHEN cardinality(found) = most OR looked_at IS NULL;
            looked_at := NULL;  -- all of them
        END LOOP;
        RETURN QUERY SELECT unnest(found);
    END IF;
END $$;

-- The chunks nearest to `question` that the transaction's spaces let it see, by the index of vectors,
-- of `documents` where given. With the owner's rights too: a policy would look up the document of
-- each chunk that the index comes upon, before the list is asked, and a tenth of them may be read.
-- What it lists is joined under the policies.
CREATE OR REPLACE FUNCTION readable_chunks_near(
    question vector, most integer, documents bigint[] DEFAULT NULL)
RETURNS TABLE (id bigint, distance float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    RETURN QUERY SELECT c.id, c.embedding <=> question FROM chunks c
    WHERE c.tenant_id = (SELECT current_setting('helix.tenant', true))
        AND (documents IS NULL OR coalesce(c.document_id IN (SELECT unnest(documents)), false))
        AND (SELECT d.id FROM readable_documents d WHERE d.id = c.document_id) IS NOT NULL
    ORDER BY c.embedding::halfvec(1536) <=> (SELECT question::halfvec(1536)) LIMIT most;
END $$;

REVOKE ALL ON FUNCTION readable_chunks_near FROM PUBLIC;
DROP FUNCTION IF EXISTS limited_lexical_chunks;
