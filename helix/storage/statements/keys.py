"""API keys: made, changed, and what each opens."""

# Of many keys at once; servers write in any order, so that the latest counts.
USED = """
UPDATE api_keys k SET used_at = greatest(k.used_at, used.at)
FROM unnest(%s::bigint[], %s::timestamptz[]) AS used (id, at) WHERE k.id = used.id
"""

# The key itself is nowhere, only its hash.
CREATE = """
INSERT INTO api_keys (tenant_id, name, hint, key_hash, scopes, expires_at, person_id, space_ids)
VALUES (%(tenant)s, %(name)s, %(hint)s, %(hash)s, %(scopes)s, now() + %(life)s, %(person)s,
        %(spaces)s)
RETURNING id
"""

# Its row stays: the audit log names it.
REVOKE = "UPDATE api_keys SET revoked_at = now() WHERE id = %s AND revoked_at IS NULL"

# A revoked key stays as it was.
SET_SCOPES = "UPDATE api_keys SET scopes = %s WHERE id = %s AND revoked_at IS NULL"

# By the database's clock, which decides whether it is over.
SET_END = "UPDATE api_keys SET expires_at = now() + %s WHERE id = %s AND revoked_at IS NULL"

# Of one tenant, or of all: the operator's.
LIST = """
SELECT id, tenant_id AS tenant, name, hint, scopes, created_at, expires_at, used_at, revoked_at
FROM api_keys WHERE %(tenant)s::text IS NULL OR tenant_id = %(tenant)s ORDER BY id
"""

# A person's own, to the tenant that they look at.
LIST_OF_PERSON = """
SELECT id, tenant_id AS tenant, name, hint, scopes, created_at, expires_at, used_at, revoked_at
FROM api_keys WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND revoked_at IS NULL
ORDER BY id
"""

# Nobody's but their own.
REVOKE_OF_PERSON = """
UPDATE api_keys SET revoked_at = now()
WHERE id = %(key)s AND tenant_id = %(tenant)s AND person_id = %(person)s AND revoked_at IS NULL
"""

# All of theirs, to every tenant.
REVOKE_ALL_OF_PERSON = """
UPDATE api_keys SET revoked_at = now() WHERE person_id = %s AND revoked_at IS NULL
"""

# Told in the audit log of whoever changes the key.
TENANT = "SELECT tenant_id FROM api_keys WHERE id = %s"

# A function with the owner's rights: whose key it is is not known yet, and a tenant's role sees no
# other's.
OPENED = """
SELECT id, tenant, scopes, name, person_id, role,
       readable_spaces(tenant, person_id, role, space_ids) AS space_ids,
       editable_spaces(tenant, person_id, role, space_ids) AS edits,
       limits_of(tenant, person_id, id) AS limits
FROM opened_by_key(%(hashed)s)
"""
