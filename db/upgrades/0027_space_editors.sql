-- Who may change the documents of which spaces, as readable_spaces says who reads them.
-- The spaces whose documents somebody may change, by the same parameters: a person those that they
-- are an editor of, and an editor of the tenant those that are everybody's too.
CREATE OR REPLACE FUNCTION editable_spaces(tenant text, person bigint, role text, only_in bigint[])
RETURNS bigint[]
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT CASE
        WHEN person IS NULL OR role = 'owner' OR (role = 'editor'
            AND NOT EXISTS (SELECT FROM spaces WHERE tenant_id = tenant)) THEN only_in
        ELSE ARRAY(
            SELECT id FROM (
                SELECT s.id FROM spaces s WHERE s.tenant_id = tenant
                    AND ((s.everyone AND role = 'editor') OR EXISTS (
                        SELECT FROM space_members m
                        WHERE m.tenant_id = tenant AND m.space_id = s.id AND m.role = 'editor'
                            AND (m.person_id = person OR m.group_id IN (
                                SELECT g.group_id FROM group_members g
                                WHERE g.tenant_id = tenant AND g.person_id = person))))
                UNION SELECT 0 WHERE role = 'editor' AND NOT EXISTS (
                    SELECT FROM spaces WHERE tenant_id = tenant AND id = 0)) own
            WHERE only_in IS NULL OR id = ANY(only_in) ORDER BY id)
        END
$$;

REVOKE ALL ON FUNCTION editable_spaces FROM PUBLIC;
