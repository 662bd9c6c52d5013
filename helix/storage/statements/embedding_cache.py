"""The cache of embeddings, of all tenants: a vector is found by the key of what it was made of."""

# A vector longer than 1536 numbers is none that Helix wrote.
FIND = """
SELECT key, vector, used_at < now() - interval '1 hour' AS is_stale
FROM embedding_cache
WHERE key = ANY(%(keys)s) AND octet_length(vector) <= 6144
"""

# Those that another process touches now are left to it: nobody waits, so nobody deadlocks.
TOUCH = """
UPDATE embedding_cache SET used_at = now() WHERE key IN (
    SELECT key FROM embedding_cache
    WHERE key = ANY(%(keys)s) AND used_at < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)
RETURNING true
"""

# Whoever else put the same meanwhile, put the same vector.
PUT = """
INSERT INTO embedding_cache (key, model, vector)
SELECT key, %(model)s, vector FROM unnest(%(keys)s::text[], %(vectors)s::bytea[]) AS e (key, vector)
ON CONFLICT (key) DO NOTHING RETURNING octet_length(vector) AS size
"""

# One process at a time makes room: the others go on.
TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"

# With what an entry costs beside its vector.
SIZE = "SELECT coalesce(sum(octet_length(vector) + %s), 0)::bigint FROM embedding_cache"

# Those that were used longest ago; rows that another process holds are left.
EVICT = """
DELETE FROM embedding_cache WHERE key IN (
    SELECT key FROM embedding_cache ORDER BY used_at, key LIMIT %s FOR UPDATE SKIP LOCKED)
RETURNING octet_length(vector)
"""

# The largest first: what an operator would clear.
MODELS = """
SELECT model, count(*) AS entries, sum(octet_length(vector) + %s)::bigint AS size,
       min(used_at) AS oldest
FROM embedding_cache GROUP BY model ORDER BY size DESC, model
"""

# A function with the owner's rights: other tenants' chunks may have the same vectors.
PURGE = "SELECT purge_cache(%s)"

# Of one model, or of all.
CLEAR = "DELETE FROM embedding_cache WHERE %(model)s::text IS NULL OR model = %(model)s"
