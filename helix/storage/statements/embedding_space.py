"""The embedder whose vectors the database has."""

# The table has one row: whoever comes first.
CLAIM = "INSERT INTO embedding_space (identity) VALUES (%s) ON CONFLICT DO NOTHING"

# Locked only where it is ours: two that share a lock and each want it alone would deadlock.
SHARE = "SELECT 1 FROM embedding_space WHERE identity = %s FOR SHARE"

# Alone, to see whether it may be claimed anew.
HOLD = "SELECT identity FROM embedding_space FOR UPDATE"

# Of a database that was emptied.
RECLAIM = "UPDATE embedding_space SET identity = %s, claimed_at = now()"

# A function with the owner's rights: the space is of all tenants.
IS_USED = "SELECT 1 WHERE any_chunks()"

# None where there never were any vectors.
STORED = "SELECT identity FROM embedding_space"

# A number of a model's vector may be zero, but hardly the last one of a hundred vectors.
SOME_VECTORS = "SELECT embedding::real[] FROM chunks LIMIT 100"

# Where there are chunks now: an emptied database is anybody's.
IN_USE = "SELECT identity FROM embedding_space WHERE any_chunks()"
