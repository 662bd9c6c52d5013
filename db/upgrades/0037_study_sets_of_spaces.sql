-- A study set is seen, and changed, by whoever made it or may read all of its documents. Before, whoever
-- was limited to some spaces saw all of the tenant's. Every migration makes the policies anew that are
-- not there. Servers of before version 37 write the owner too, by the column's default.
ALTER TABLE study_sets ADD COLUMN owner text NOT NULL DEFAULT '';
ALTER TABLE study_sets ALTER COLUMN owner SET DEFAULT coalesce(current_setting('helix.owner', true), '');
COMMENT ON COLUMN study_sets.owner IS
    'who made it, as conversations have it: they see it whichever of its documents they may read';

-- Whether a study set is of documents alone that the transaction's spaces have: of those it was ordered
-- for, or, ordered for all, of those it is made from. One that has none left is for its space.
CREATE OR REPLACE FUNCTION set_is_readable(made bigint, space bigint, documents bigint[], plan bigint[])
RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(
        bool_and(d.spaces && (SELECT current_setting('helix.spaces', true)::bigint[])),
        space = ANY ((SELECT current_setting('helix.spaces', true))::bigint[]), false)
    FROM documents d
    WHERE d.tenant_id = (SELECT current_setting('helix.tenant', true)) AND d.id IN (
        SELECT unnest(documents)
        UNION SELECT c.document_id FROM chunks c WHERE documents IS NULL AND c.id = ANY (plan)
            AND c.tenant_id = (SELECT current_setting('helix.tenant', true))
        UNION SELECT s.document_id FROM study_items i
        JOIN study_sources s ON (s.tenant_id, s.item_id) = (i.tenant_id, i.id)
        WHERE documents IS NULL AND i.set_id = made
            AND i.tenant_id = (SELECT current_setting('helix.tenant', true)))
$$;

REVOKE ALL ON FUNCTION set_is_readable FROM PUBLIC;
DROP POLICY IF EXISTS limited ON study_sets;
DROP POLICY IF EXISTS limited ON study_items;
DROP POLICY IF EXISTS limited ON study_attempts;
DROP POLICY IF EXISTS limited ON runs;
