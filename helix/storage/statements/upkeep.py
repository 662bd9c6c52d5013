"""Questions of commands, and of the watch over a server, to a database."""

# Asked of pools of connections: whether a read gets one, and nothing of a table.
ANSWERS = "SELECT 1"

# Before the schema is looked at, which none of its tables may be there for.
PGVECTOR_VERSION = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"

# A killed first load leaves the index out, and searches read every chunk.
INDEX_IS_THERE = "SELECT to_regclass(%s)"

# Of all tenants: `helix doctor` is the operator's.
LIBRARY_SIZE = "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)"

# The first document settles it, however many there are.
IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM documents WHERE tenant_id = %s)"
