"""Keys that answers are signed with: the private one, and the public ones of all time."""

# One row; helix_app may not read it.
OWN_KEY = "SELECT private_key FROM signing_secret"

# Of several servers that make one at the same time, the first to commit has made it.
KEEP_OWN_KEY = "INSERT INTO signing_secret (private_key) VALUES (%s) ON CONFLICT DO NOTHING"

# The next signature makes another; what this one signed is still told by its public key.
DROP_OWN_KEY = "DELETE FROM signing_secret"

# Listed with its first signature, and from then on.
LIST_KEY = """
INSERT INTO signing_keys (id, public_key) VALUES (%(id)s, %(public_key)s) ON CONFLICT DO NOTHING
"""

# A stranger reads them, as whoever asks: they are of no tenant.
KEYS = """
SELECT id, public_key, first_used_at FROM signing_keys ORDER BY first_used_at DESC, id
"""

# What it signed is nobody's from then on.
WITHDRAW = "DELETE FROM signing_keys WHERE id = %s"
