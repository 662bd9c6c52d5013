"""People, the tenants that they are members of, and their groups; all with the owner's rights."""

from helix.storage.statements import compose

# Who has the address already stays as they are: then there is no row.
ADD = """
INSERT INTO people (email, name, password_hash) VALUES (%(email)s, %(name)s, %(hash)s)
ON CONFLICT (email) DO NOTHING RETURNING id
"""

# Fragment: a person as the code knows them; of the password only whether there is one.
PERSON = """
p.id, p.email, p.name, p.password_hash IS NOT NULL AS has_password, p.created_at, p.disabled_at
"""

# By the address that they sign in with.
OF_EMAIL = compose("SELECT {person} FROM people p WHERE p.email = %s", person=PERSON)

# Whether the server has any account at all.
ANY = "SELECT EXISTS (SELECT FROM people)"

# What a password is compared with; nothing of a person who is disabled.
HASH_OF = "SELECT id, password_hash FROM people WHERE email = %s AND disabled_at IS NULL"

# A null leaves the name as it is.
SET_NAME = "UPDATE people SET name = %s WHERE id = %s"

# A hash of argon2id; the password is nowhere.
SET_HASH = "UPDATE people SET password_hash = %s WHERE id = %s"

# The row stays, and what it names: an account may be opened again.
DISABLE = "UPDATE people SET disabled_at = now() WHERE id = %s AND disabled_at IS NULL"

# The other way round.
ENABLE = "UPDATE people SET disabled_at = NULL WHERE id = %s"

# Of one tenant, or of all; who is a member of none is listed with an empty one.
LIST = compose(
    """
SELECT {person}, coalesce(m.tenant_id, '') AS tenant, coalesce(m.role, '') AS role
FROM people p LEFT JOIN members m ON m.person_id = p.id
WHERE %(tenant)s::text IS NULL OR m.tenant_id = %(tenant)s
ORDER BY m.tenant_id, p.email
""",
    person=PERSON,
)

# One role a tenant: another takes its place.
SET_ROLE = """
INSERT INTO members (tenant_id, person_id, role) VALUES (%(tenant)s, %(person)s, %(role)s)
ON CONFLICT (tenant_id, person_id) DO UPDATE SET role = excluded.role
"""

# Groups and sessions of the member go with the row, and links that would bring them back. Their
# tokens stay revoked where they come back.
REMOVE_MEMBER = """
WITH withdrawn AS (
    DELETE FROM invitations i USING people p
    WHERE i.tenant_id = %(tenant)s AND p.id = %(person)s AND i.email = p.email),
revoked AS (
    UPDATE api_keys SET revoked_at = now()
    WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND revoked_at IS NULL)
DELETE FROM members WHERE tenant_id = %(tenant)s AND person_id = %(person)s
"""

# Locked, so that of two owners who remove each other at once one stays.
OWNERS = """
SELECT m.person_id FROM members m JOIN people p ON p.id = m.person_id AND p.disabled_at IS NULL
WHERE m.tenant_id = %(tenant)s AND m.role = 'owner' ORDER BY m.person_id FOR UPDATE OF m
"""

# The tenants that somebody may choose from, with the role in each.
TENANTS = """
SELECT m.tenant_id AS tenant, m.role FROM members m WHERE m.person_id = %s ORDER BY m.tenant_id
"""

# Who somebody is at a provider; nothing of a person who is disabled.
OF_IDENTITY = """
SELECT i.person_id FROM identities i JOIN people p ON p.id = i.person_id
WHERE i.issuer = %(issuer)s AND i.subject = %(subject)s AND p.disabled_at IS NULL
"""

# Whether the provider's subject is known at all, disabled or not.
KNOWN_IDENTITY = "SELECT FROM identities WHERE issuer = %(issuer)s AND subject = %(subject)s"

# Kept from now on: the address of a person at the provider may change.
ADD_IDENTITY = """
INSERT INTO identities (issuer, subject, person_id) VALUES (%(issuer)s, %(subject)s, %(person)s)
ON CONFLICT (issuer, subject) DO NOTHING
"""

# Each name once, for each source.
ADD_GROUP = """
INSERT INTO groups (tenant_id, name, source) VALUES (%(tenant)s, %(name)s, %(source)s)
ON CONFLICT (tenant_id, source, name) DO NOTHING RETURNING id
"""

# With how many are in each.
LIST_GROUPS = """
SELECT g.id, g.tenant_id AS tenant, g.name, g.source, count(m.person_id) AS members
FROM groups g LEFT JOIN group_members m ON m.tenant_id = g.tenant_id AND m.group_id = g.id
WHERE %(tenant)s::text IS NULL OR g.tenant_id = %(tenant)s
GROUP BY g.tenant_id, g.id ORDER BY g.tenant_id, g.name, g.id
"""

# By its name among those that are made by hand.
GROUP_OF_NAME = """
SELECT id FROM groups WHERE tenant_id = %(tenant)s AND name = %(name)s AND source = 'local'
"""

# With its members' rows; a provider's are the provider's to change.
DELETE_GROUP = """
DELETE FROM groups WHERE tenant_id = %(tenant)s AND id = %(group)s AND source = 'local'
"""

# Of a group of the tenant only.
GROUP_MEMBERS = """
SELECT p.id, p.email, p.name FROM group_members m JOIN people p ON p.id = m.person_id
WHERE m.tenant_id = %(tenant)s AND m.group_id = %(group)s ORDER BY p.email
"""

# Nothing of a provider's group.
ADD_TO_GROUP = """
INSERT INTO group_members (tenant_id, group_id, person_id)
SELECT g.tenant_id, g.id, m.person_id FROM groups g
    JOIN members m ON m.tenant_id = g.tenant_id AND m.person_id = %(person)s
WHERE g.tenant_id = %(tenant)s AND g.id = %(group)s AND g.source = 'local'
ON CONFLICT DO NOTHING
"""

# Nothing of a provider's group.
REMOVE_FROM_GROUP = """
DELETE FROM group_members m USING groups g
WHERE g.tenant_id = m.tenant_id AND g.id = m.group_id AND g.source = 'local'
    AND m.tenant_id = %(tenant)s AND m.group_id = %(group)s AND m.person_id = %(person)s
"""

# Those that the provider named this time, made where they are new.
MAKE_CLAIMED_GROUPS = """
INSERT INTO groups (tenant_id, name, source)
SELECT %(tenant)s, name, %(source)s FROM unnest(%(names)s::text[]) AS name
ON CONFLICT (tenant_id, source, name) DO NOTHING
"""

# A person is in the groups of the source that it named this time, and in no other of it.
LEAVE_UNCLAIMED_GROUPS = """
DELETE FROM group_members m USING groups g
WHERE g.tenant_id = m.tenant_id AND g.id = m.group_id AND g.source = %(source)s
    AND m.tenant_id = %(tenant)s AND m.person_id = %(person)s AND g.name <> ALL(%(names)s::text[])
"""

# The other half of it.
JOIN_CLAIMED_GROUPS = """
INSERT INTO group_members (tenant_id, group_id, person_id)
SELECT tenant_id, id, %(person)s FROM groups
WHERE tenant_id = %(tenant)s AND source = %(source)s AND name = ANY(%(names)s::text[])
ON CONFLICT DO NOTHING
"""
