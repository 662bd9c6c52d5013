-- Conversations that no person began are for owners, and for keys that open the whole tenant, and no
-- more for every member. Every migration makes the policies anew that are not there.

-- Whether `someone`, as helix.owner names people, is an owner of the transaction's tenant.
CREATE OR REPLACE FUNCTION is_tenant_owner(someone text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM members WHERE role = 'owner' AND 'person:' || person_id = someone
        AND tenant_id = (SELECT current_setting('helix.tenant', true)))
$$;

REVOKE ALL ON FUNCTION is_tenant_owner FROM PUBLIC;
DROP POLICY IF EXISTS own ON conversations;
COMMENT ON COLUMN conversations.owner IS
    'who alone sees it: person: or key: and an id; empty: the tenant''s keys, and its owners';
