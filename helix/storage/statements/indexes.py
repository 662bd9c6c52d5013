"""The indexes of search: built, dropped, counted for. Names are psycopg's identifiers."""

# One process at a time changes an index; schema.sql takes the same locks.
LOCK = "SELECT pg_advisory_xact_lock(%s)"

# Where another is at it, it is left to it.
TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"

# The first chunk settles it, whoever's it is.
ANY_CHUNK = "SELECT 1 FROM chunks LIMIT 1"

# A killed load may have dropped it already.
DROP = "DROP INDEX IF EXISTS {index}"

# Asked of the catalogue: it sees no tenant.
EXISTS = "SELECT to_regclass(%s) IS NOT NULL"

# All of the table's: the graph is built in memory where it has room.
COUNT_CHUNKS = "SELECT count(*) FROM chunks"

# The default of 64 MB would have the graph built on disk.
BUILD_MEMORY = "SELECT set_config('maintenance_work_mem', %s, true)"

# A parallel build shares its memory through /dev/shm, which containers keep small.
BUILD_SERIALLY = "SET LOCAL max_parallel_maintenance_workers = 0"

# Another process may have built it while this one waited for the lock.
CREATE_VECTORS = "CREATE INDEX IF NOT EXISTS {index} ON chunks USING {method}"

# A function of the schema: the index, and the counts that go with it.
BUILD_TERMS = "SELECT build_terms()"

# A search reads every line of changes that is not added up.
FOLD_TERMS = "SELECT fold_term_changes()"

# Or the planner would not know that there are rows.
ANALYZE_CHUNKS = "ANALYZE chunks"

# The same of the terms.
ANALYZE_TERMS = "ANALYZE chunk_terms, term_counts"

# Its lines were just deleted: a search would go past them.
VACUUM_CHANGES = "VACUUM term_changes"
