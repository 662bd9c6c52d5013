"""Sessions of people's browsers, and the links by which accounts are made."""

from helix.storage.statements import compose

# The token itself is nowhere, only its hash. By the database's clock, which decides when it ends.
BEGIN = """
INSERT INTO sessions (token_hash, tenant_id, person_id, csrf, method, id_token, address, client,
    expires_at)
VALUES (%(hash)s, %(tenant)s, %(person)s, %(csrf)s, %(method)s, %(id_token)s, %(address)s,
    %(client)s, now() + %(life)s)
RETURNING id
"""

# A function with the owner's rights: whose session it is is not known yet.
OPENED = """
SELECT id, tenant, person_id, role, name, email, csrf,
       readable_spaces(tenant, person_id, role, NULL) AS spaces,
       editable_spaces(tenant, person_id, role, NULL) AS edits,
       limits_of(tenant, person_id, NULL) AS limits
FROM opened_by_session(%(hashed)s, %(idle)s)
"""

# The one that its browser ends, or that another sign-in takes the place of.
END = """
UPDATE sessions SET revoked_at = now() WHERE token_hash = %s AND revoked_at IS NULL
RETURNING method, id_token
"""

# One of a person's own.
REVOKE = """
UPDATE sessions SET revoked_at = now()
WHERE id = %(session)s AND person_id = %(person)s AND revoked_at IS NULL
"""

# All of a person's but one, if one is named: their password was changed.
REVOKE_OTHERS = """
UPDATE sessions SET revoked_at = now()
WHERE person_id = %(person)s AND id IS DISTINCT FROM %(but)s AND revoked_at IS NULL
"""

# Those that still open something; `idle` as OPENED has it.
LIST = """
SELECT id, tenant_id AS tenant, method, address, client, created_at, used_at, expires_at
FROM sessions
WHERE person_id = %(person)s AND revoked_at IS NULL AND expires_at > now()
    AND used_at + %(idle)s > now()
ORDER BY used_at DESC, id
"""

# A member of that tenant only: the foreign key holds it too.
MOVE = """
UPDATE sessions s SET tenant_id = m.tenant_id FROM members m
WHERE s.id = %(session)s AND m.person_id = s.person_id AND m.tenant_id = %(tenant)s
"""

# Of many at once; servers write in any order, so that the latest counts.
USED = """
UPDATE sessions s SET used_at = greatest(s.used_at, used.at)
FROM unnest(%s::bigint[], %s::timestamptz[]) AS used (id, at) WHERE s.id = used.id
"""

# A month after they ended: what a person looks at are those that open something.
DELETE_OLD = "DELETE FROM sessions WHERE expires_at < now() - interval '30 days'"

# Of a link the hash alone is kept, as of a session.
INVITE = """
INSERT INTO invitations (token_hash, tenant_id, email, role, person_id, created_by, expires_at)
VALUES (%(hash)s, %(tenant)s, %(email)s, %(role)s, %(person)s, %(author)s, now() + %(life)s)
RETURNING id
"""

# A link does what its author may do now: an owner still, of the only tenant of the account whose
# password it sets. One by whoever keeps the server has no author.
_OPENS = """
i.used_at IS NULL AND i.expires_at > now() AND (i.created_by IS NULL OR (
    EXISTS (SELECT FROM members a JOIN people b ON b.id = a.person_id AND b.disabled_at IS NULL
        WHERE (a.tenant_id, a.person_id, a.role) = (i.tenant_id, i.created_by, 'owner'))
    AND (i.person_id IS NULL OR ARRAY[i.tenant_id] = ARRAY(
        SELECT m.tenant_id FROM members m WHERE m.person_id = i.person_id))))
"""

# Two of one link at once: the second waits for the first, and then finds it used.
USE = compose(
    "UPDATE invitations i SET used_at = now() WHERE i.token_hash = %s AND {opens}"
    " RETURNING i.id, i.tenant_id AS tenant, i.email, i.role, i.person_id",
    opens=_OPENS,
)

# What a link would do, for whoever holds it.
LOOK = compose(
    "SELECT i.tenant_id AS tenant, coalesce(p.email, i.email) AS email, i.role,"
    " i.person_id IS NOT NULL AS resets"
    " FROM invitations i LEFT JOIN people p ON p.id = i.person_id"
    " WHERE i.token_hash = %s AND {opens}",
    opens=_OPENS,
)

# Those that still open something.
LIST_INVITATIONS = compose(
    "SELECT i.id, i.email, i.role, i.created_at, i.expires_at FROM invitations i"
    " WHERE i.tenant_id = %(tenant)s AND i.person_id IS NULL AND {opens} ORDER BY i.id",
    opens=_OPENS,
)

# It was never there, for whoever has the link.
WITHDRAW = "DELETE FROM invitations WHERE tenant_id = %(tenant)s AND id = %(invitation)s"

# A new link to set a password takes the place of those before it.
WITHDRAW_RESETS = "DELETE FROM invitations WHERE person_id = %s AND used_at IS NULL"

# The link of an earlier start, which nobody used: each start prints one of its own.
WITHDRAW_FIRST = """
DELETE FROM invitations
WHERE email = '' AND person_id IS NULL AND created_by IS NULL AND used_at IS NULL
"""

# A month after they ended, as sessions.
DELETE_OLD_INVITATIONS = "DELETE FROM invitations WHERE expires_at < now() - interval '30 days'"
