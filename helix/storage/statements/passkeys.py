"""Passkeys of people, and the challenges that they sign; all with the owner's rights."""

# Kept for the browser that asks. Those that ended are deleted with old sessions.
ASK = """
INSERT INTO passkey_challenges (challenge, browser_hash, person_id, user_handle, expires_at)
VALUES (%(challenge)s, %(browser)s, %(person)s, %(handle)s, now() + %(life)s)
"""

# Once, and for the browser and the person that it was made for.
TAKE = """
DELETE FROM passkey_challenges
WHERE challenge = %(challenge)s AND browser_hash = %(browser)s
    AND person_id IS NOT DISTINCT FROM %(person)s AND expires_at > now()
RETURNING coalesce(user_handle, '') AS user_handle
"""

# Nobody waits for them any more.
DELETE_OLD = "DELETE FROM passkey_challenges WHERE expires_at < now()"

# Locked: of two uses at once the second sees the first one's count. Nothing of who is disabled.
OPENED = """
SELECT k.id, k.person_id, k.public_key, k.user_handle, k.sign_count
FROM passkeys k JOIN people p ON p.id = k.person_id AND p.disabled_at IS NULL
WHERE k.credential_id = %s FOR UPDATE OF k
"""

# After a use.
USED = "UPDATE passkeys SET sign_count = %(count)s, used_at = now() WHERE id = %(passkey)s"

# So many and no more; an authenticator's credential is one person's.
ADD = """
INSERT INTO passkeys (person_id, name, credential_id, public_key, user_handle, sign_count)
SELECT %(person)s, %(name)s, %(credential)s, %(key)s, %(handle)s, %(count)s
WHERE (SELECT count(*) FROM passkeys WHERE person_id = %(person)s) < %(most)s
ON CONFLICT (credential_id) DO NOTHING RETURNING id
"""

# The ids by which an authenticator knows that it has one already.
OF_PERSON = "SELECT credential_id, user_handle FROM passkeys WHERE person_id = %s ORDER BY id"

# As their person sees them.
LIST = "SELECT id, name, created_at, used_at FROM passkeys WHERE person_id = %s ORDER BY id"

# One of a person's own.
RENAME = "UPDATE passkeys SET name = %(name)s WHERE person_id = %(person)s AND id = %(passkey)s"

# One of a person's own.
REMOVE = "DELETE FROM passkeys WHERE person_id = %(person)s AND id = %(passkey)s"

# Of a person whose password somebody else reset.
REMOVE_ALL = "DELETE FROM passkeys WHERE person_id = %s"
