-- Spaces are told as runs too; and the search by words gives the terms of what it finds: with another
-- type of result it is made anew.

-- The spaces of the transaction as runs: the first id of each, and the one behind its last. An id is
-- among them if an odd number of bounds is not above it, which width_bucket counts by bisection; a
-- thousand spaces made one after another are two numbers to read from text, in each place. Servers of
-- before version 35 say helix.spaces alone, whose ids are runs of one.
CREATE OR REPLACE FUNCTION space_runs() RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    told constant text := current_setting('helix.space_runs', true);
BEGIN
    IF told <> '' THEN
        RETURN told;
    END IF;
    RETURN ARRAY(
        SELECT bound
        FROM unnest(nullif(current_setting('helix.spaces', true), '')::bigint[]) AS id,
            LATERAL (VALUES (id), (id + 1)) AS bounds (bound) ORDER BY bound);
END $$;

-- The documents of the transaction's spaces, with the owner's rights: where a document is looked up
-- for each row of another table, this tells for a tenth of what its policy costs whether it may be
-- read, for the policy's && goes through all of the spaces for each document.
CREATE OR REPLACE VIEW readable_documents AS
SELECT tenant_id, id, spaces FROM documents
WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND (
    width_bucket(spaces[1], (SELECT space_runs())) % 2 = 1
    OR cardinality(spaces) > 1
        AND spaces && (SELECT current_setting('helix.spaces', true)::bigint[]));

DROP FUNCTION IF EXISTS lexical_chunks(bigint[], sparsevec, integer, bigint[]);

-- Whether the transaction's spaces are all that the tenant has, and its library, which is 0: no document
-- stands elsewhere, so none has to be looked up.
CREATE OR REPLACE FUNCTION has_all_spaces() RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT AS $$
DECLARE
    runs constant bigint[] := space_runs();
BEGIN
    RETURN width_bucket(0::bigint, runs) % 2 = 1 AND NOT EXISTS (
        SELECT FROM spaces
        WHERE tenant_id = (SELECT current_setting('helix.tenant', true))
            AND width_bucket(id, runs) % 2 = 0);
END $$;

-- The chunks, of `documents` where given, that have any of the keys `wanted`, best first,
-- with their terms. It reads chunk_terms with the owner's rights: under row-level security an array
-- may not be looked up in its index, for the operator could tell of rows that are not to be seen. Its
-- own conditions, on the tenant and on the spaces that the transaction is limited to, are the
-- policies'. With their terms, for a policy would look up the document of each anew.
--
-- Of some documents the index of keys and that of documents are read together, so that no other's
-- chunks are fetched. Of many the best chunks' documents are looked up, no further than it takes: of
-- the first thousand, as a rule, which is quicker than to put all in order. The terms come last: a
-- sort would copy those of all.
CREATE OR REPLACE FUNCTION lexical_chunks(
    wanted bigint[], weights sparsevec, most integer, documents bigint[] DEFAULT NULL)
RETURNS TABLE (id bigint, impacts sparsevec, length integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
    is_limited constant boolean := coalesce(current_setting('helix.spaces', true), '') <> '';
    found bigint[];
    looked_at bigint := 10 * most;
BEGIN
    IF documents IS NULL AND (NOT is_limited OR has_all_spaces()) THEN
        found := ARRAY(
            SELECT chunk_id FROM chunk_terms
            WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
            ORDER BY impacts <#> weights LIMIT most);
    ELSIF NOT is_limited THEN
        found := ARRAY(
            SELECT chunk_id FROM chunk_terms
            WHERE tenant_id = (SELECT current_setting('helix.tenant', true)) AND keys && wanted
                AND coalesce(document_id IN (SELECT unnest(documents)), false)
            ORDER BY impacts <#> weights LIMIT most);
    ELSIF cardinality(documents) <= 3000 THEN
        found := ARRAY(
            SELECT t.chunk_id FROM (
                SELECT chunk_id, document_id FROM chunk_terms
                WHERE tenant_id = (SELECT current_setting('helix.tenant', true))
                    AND keys && wanted AND document_id = ANY(documents)
                ORDER BY impacts <#> weights OFFSET 0) t
            WHERE (SELECT d.id FROM readable_documents d WHERE d.id = t.document_id) IS NOT NULL
            LIMIT most);
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
    END IF;
    RETURN QUERY SELECT t.chunk_id, t.impacts, t.length
        FROM unnest(found) AS best CROSS JOIN LATERAL (
            SELECT chunk_id, impacts, length FROM chunk_terms WHERE chunk_id = best OFFSET 0) t;
END $$;

-- The chunks nearest to `question` that the transaction's spaces let it see, by the index of vectors,
-- of `documents` where given. With the owner's rights too: a policy would look up the document of
-- each chunk that the index comes upon, before the list is asked, and a tenth of them may be read.
-- What it lists is joined under the policies.
CREATE OR REPLACE FUNCTION readable_chunks_near(
    question vector, most integer, documents bigint[] DEFAULT NULL)
RETURNS TABLE (id bigint, distance float8)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    all_spaces constant boolean := has_all_spaces();
BEGIN
    RETURN QUERY SELECT c.id, c.embedding <=> question FROM chunks c
    WHERE c.tenant_id = (SELECT current_setting('helix.tenant', true))
        AND (documents IS NULL OR coalesce(c.document_id IN (SELECT unnest(documents)), false))
        AND (all_spaces
            OR (SELECT d.id FROM readable_documents d WHERE d.id = c.document_id) IS NOT NULL)
    ORDER BY c.embedding::halfvec(1536) <=> (SELECT question::halfvec(1536)) LIMIT most;
END $$;

REVOKE ALL ON FUNCTION lexical_chunks, space_runs, has_all_spaces FROM PUBLIC;
