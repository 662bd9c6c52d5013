"""Spaces of a tenant, and which documents stand in them."""

from helix.storage.statements import compose

# The library is there without a row, until it is changed.
_SPACES = """
SELECT id, name, everyone, model, style, created_at FROM spaces WHERE tenant_id = %(tenant)s
UNION ALL
SELECT 0, 'Library', true, '', '', NULL
WHERE NOT EXISTS (SELECT FROM spaces WHERE tenant_id = %(tenant)s AND id = 0)
"""

# Those of `only`, or all, with how many documents stand in each.
LIST = compose(
    """
SELECT row_to_json(x) FROM (
    SELECT s.id, s.name, s.everyone, s.model, s.style, s.created_at, (
        SELECT count(*) FROM documents d
        WHERE d.tenant_id = %(tenant)s AND d.spaces @> ARRAY[s.id]) AS documents
    FROM ({spaces}) s WHERE %(only)s::bigint[] IS NULL OR s.id = ANY(%(only)s::bigint[])
    ORDER BY s.id <> 0, lower(s.name), s.id) x
""",
    spaces=_SPACES,
)

# A name that is a number names a space of that id first.
FIND = compose(
    """
SELECT id FROM ({spaces}) s
WHERE (id::text = %(named)s::text OR lower(name) = lower(%(named)s::text))
    AND (%(only)s::bigint[] IS NULL OR id = ANY(%(only)s::bigint[]))
ORDER BY id::text <> %(named)s::text LIMIT 1
""",
    spaces=_SPACES,
)

# Of the prompt of answers in it.
STYLE_OF = "SELECT style FROM spaces WHERE tenant_id = %(tenant)s AND id = %(id)s"

# Nothing where there is one of this name, in any case.
ADD = """
INSERT INTO spaces (tenant_id, name, everyone, model, style)
VALUES (%(tenant)s, %(name)s, %(everyone)s, %(model)s, %(style)s)
ON CONFLICT DO NOTHING RETURNING id
"""

# The library gets its row before it is changed.
KEEP_LIBRARY = """
INSERT INTO spaces (tenant_id, id, name, everyone) VALUES (%(tenant)s, 0, 'Library', true)
ON CONFLICT DO NOTHING
"""

# What is NULL stays as it is.
CHANGE = """
UPDATE spaces SET name = coalesce(%(name)s::text, name),
    everyone = coalesce(%(everyone)s::boolean, everyone), model = coalesce(%(model)s::text, model),
    style = coalesce(%(style)s::text, style)
WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id
"""

# A trigger takes its documents out of it, and is refused where one stands in no other.
DELETE = "DELETE FROM spaces WHERE tenant_id = %(tenant)s AND id = %(id)s RETURNING id"

# Those that keep a space from being deleted.
ALONE = """
SELECT count(*) FROM documents WHERE tenant_id = %(tenant)s AND spaces = ARRAY[%(id)s::bigint]
"""

# Of one document, held until they are changed: two requests that each add one keep both.
HOLD = "SELECT spaces FROM documents WHERE tenant_id = %(tenant)s AND id = %(id)s FOR UPDATE"

# updated_at stays, which says when the version was stored.
PLACE = """
UPDATE documents SET spaces = %(spaces)s::bigint[] WHERE tenant_id = %(tenant)s AND id = %(id)s
"""

# Those that may not be read are as those that are not there.
READABLE = "SELECT id FROM documents WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::bigint[])"

# Those that stand in no other space than these.
CHANGEABLE = """
SELECT id FROM documents WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::bigint[])
    AND spaces <@ %(edits)s::bigint[]
"""

# A run that has a file of any other document, or of none as yet, is not theirs to stop: but that
# brings pages of the web into a space, and such a file that is to stand there.
OTHERS_RUN = """
SELECT EXISTS (
    SELECT FROM runs WHERE tenant_id = %(tenant)s AND id = %(run)s AND CASE
        WHEN kind = ANY('{url,crawl}') THEN (options -> 'space')::bigint <> ALL(%(edits)s::bigint[])
        ELSE false END)
OR EXISTS (
    SELECT FROM run_files f
    LEFT JOIN documents d ON (d.tenant_id, d.id) = (f.tenant_id, f.document_id)
    WHERE f.tenant_id = %(tenant)s AND f.run_id = %(run)s
        AND (coalesce(d.spaces, f.spaces) <@ %(edits)s::bigint[]) IS NOT TRUE) AS others
"""

# A member of the tenant by their address, or a group by its name; nothing where there is none.
_WHO = """
SELECT m.person_id, NULL::bigint AS group_id FROM members m JOIN people p ON p.id = m.person_id
WHERE m.tenant_id = %(tenant)s AND (p.email = lower(%(person)s) OR p.id = %(person_id)s)
UNION ALL
SELECT NULL, g.id FROM groups g
WHERE g.tenant_id = %(tenant)s AND (g.name = %(group)s OR g.id = %(group_id)s)
"""

# Again it changes the role alone.
LET_IN = compose(
    """
WITH who AS ({who}),
changed AS (
    UPDATE space_members s SET role = %(role)s FROM who
    WHERE s.tenant_id = %(tenant)s AND s.space_id = %(id)s
        AND (s.person_id = who.person_id OR s.group_id = who.group_id) RETURNING 1),
added AS (
    INSERT INTO space_members (tenant_id, space_id, person_id, group_id, role)
    SELECT %(tenant)s, %(id)s, person_id, group_id, %(role)s FROM who
    WHERE NOT EXISTS (SELECT FROM changed) RETURNING 1)
SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM added)
""",
    who=_WHO,
)

# No row where the space was not theirs.
LET_OUT = compose(
    """
DELETE FROM space_members s USING ({who}) who
WHERE s.tenant_id = %(tenant)s AND s.space_id = %(id)s
    AND (s.person_id = who.person_id OR s.group_id = who.group_id) RETURNING 1
""",
    who=_WHO,
)

# People first, each by their address.
MEMBERS = """
SELECT coalesce(p.email, 'group ' || g.name), s.role FROM space_members s
LEFT JOIN people p ON p.id = s.person_id
LEFT JOIN groups g ON (g.tenant_id, g.id) = (s.tenant_id, s.group_id)
WHERE s.tenant_id = %(tenant)s AND s.space_id = %(id)s ORDER BY p.email IS NULL, 1
"""

# The same for people to choose from, with their ids.
LIST_MEMBERS = """
SELECT CASE WHEN s.person_id IS NULL THEN 'groups' ELSE 'people' END AS kind,
    coalesce(s.person_id, s.group_id) AS id, coalesce(p.name, g.name) AS name,
    coalesce(p.email, '') AS email, s.role FROM space_members s
LEFT JOIN people p ON p.id = s.person_id
LEFT JOIN groups g ON (g.tenant_id, g.id) = (s.tenant_id, s.group_id)
WHERE s.tenant_id = %(tenant)s AND s.space_id = %(id)s ORDER BY p.email IS NULL, p.email, g.name
"""

# The role that a person, or all of a group, was given in a space; none: no row.
ROLE_OF_MEMBER = """
SELECT role FROM space_members WHERE tenant_id = %(tenant)s AND space_id = %(id)s
    AND (person_id = %(person_id)s OR group_id = %(group_id)s)
"""

# By themselves or in a group: an editor of the tenant is none by that.
IS_EDITOR = """
SELECT EXISTS (
    SELECT FROM space_members m WHERE m.tenant_id = %(tenant)s AND m.space_id = %(id)s
        AND m.role = 'editor' AND (m.person_id = %(person)s OR m.group_id IN (
            SELECT g.group_id FROM group_members g
            WHERE g.tenant_id = %(tenant)s AND g.person_id = %(person)s)))
"""

# Of a member of the tenant; NULL: all documents.
READABLE_BY = "SELECT readable_spaces(%(tenant)s, %(person)s, %(role)s, NULL)"

# Whoever asked for a run may change these by now; no row where they may change nothing any more.
EDITABLE_NOW = """
SELECT editable_spaces(%(tenant)s, p.id, m.role, k.space_ids)
FROM (SELECT %(person)s::bigint AS person, %(key)s::bigint AS key) asked
LEFT JOIN people p ON p.id = asked.person AND p.disabled_at IS NULL
LEFT JOIN members m ON m.tenant_id = %(tenant)s AND m.person_id = p.id
LEFT JOIN api_keys k ON k.id = asked.key AND k.tenant_id = %(tenant)s AND k.revoked_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > now())
WHERE (asked.person IS NULL OR m.role IS NOT NULL) AND (asked.key IS NULL OR k.id IS NOT NULL)
"""

# By what keys that are limited to them call them.
IDS = compose(
    "SELECT id, name FROM ({spaces}) s"
    " WHERE id::text = ANY(%(named)s) OR lower(name) = ANY(%(named)s)",
    spaces=_SPACES,
)
