"""A tenant as it is exported and imported.

Tables and columns of an import are psycopg's identifiers, quoted by it.
"""

from __future__ import annotations

from helix.storage.statements import compose

# Of this schema, without what Postgres makes itself; a vector is exported as numbers.
COLUMNS = """
SELECT attname, CASE atttypid::regtype::text WHEN 'vector' THEN '::real[]' ELSE '' END
FROM pg_attribute
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    AND attname <> 'embedding_next'
ORDER BY attnum
"""

# The documents of a tenant's conversations are in spaces of their own, `tenant/…`; a row says
# which by what its tenant_id has behind the tenant's name.
OWN = "(tenant_id = %(tenant)s OR starts_with(tenant_id, %(tenant)s || '/'))"

# The export is of one snapshot, and its times are read by any time zone's import.
BEGIN = "SET TRANSACTION READ ONLY; SET LOCAL timezone = 'UTC'"

# An import into an older schema would lose what that does not know.
SCHEMA_VERSION = "SELECT version FROM schema_version"

# Of the rows that go with it: loose files are nobody's.
FILES = compose(
    """
SELECT tenant_id, file_hash FROM documents WHERE file_hash IS NOT NULL AND {own}
GROUP BY tenant_id, file_hash ORDER BY tenant_id, file_hash
""",
    own=OWN,
)

# Only where there are vectors that it made.
EMBEDDER = compose(
    "SELECT identity FROM embedding_space WHERE EXISTS (SELECT FROM chunks WHERE {own})", own=OWN
)

# Ids up to here may be in the export: the import reserves as many.
LAST_ID = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence(%s, 'id')::regclass), 0)"

# A row says whose it is by what follows the tenant's name, which the import chooses anew.
SPACE = "substr(tenant_id, char_length(%(tenant)s) + 1) AS tenant_id"

# Identifiers are quoted by psycopg: {columns}, {table} and {order} are of tables.py.
ROWS = (
    "SELECT row_to_json(r)::text FROM (SELECT {columns} FROM {table} t WHERE {own}"
    " ORDER BY {order}) r"
)


# Whose rows they become, also where row-level security does not say so.
AS_TENANT = "SELECT set_config('helix.tenant', %s, true)"

# A tenant that has rows keeps them: nothing is merged.
HAS_ROWS = "SELECT EXISTS (SELECT FROM {table} WHERE {own})"

# Ids are kept where all of them are free.
TAKEN = "SELECT EXISTS (SELECT FROM {table} WHERE id <= %s)"

# Never back: others may have been given ids meanwhile.
RESERVE = """
SELECT setval(pg_get_serial_sequence(%(table)s, 'id')::regclass, greatest(%(last)s, coalesce(
    pg_sequence_last_value(pg_get_serial_sequence(%(table)s, 'id')::regclass), 0)))
"""

# NULL is in no table: a row of a space that is none of the tenant's is refused.
OWN_SPACE = "CASE WHEN tenant_id ~ {space} THEN %(tenant)s || tenant_id END"

# Ids are the export's, though the columns make their own.
LOAD = (
    "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE"
    " SELECT {values} FROM json_populate_recordset(NULL::{table}, %(rows)s::json)"
)

# A forged export could have ids that others are given later.
ID_RANGE = "SELECT min(id), max(id) FROM {table} WHERE {own} AND id > 0"

# Messages are not numbered by the manifest: the greatest is looked at once they are there.
GREATEST_MESSAGE = compose("SELECT max(id) FROM messages WHERE {own}", own=OWN)

# What a request could not have sent, an import does not bring in either.
TOO_LONG = compose(
    """
SELECT 'the question of message ' || id FROM messages
WHERE {own} AND length(question) > %(question)s
UNION ALL SELECT 'the answer of message ' || id FROM messages
WHERE {own} AND length(response ->> 'answer') > %(answer)s
UNION ALL SELECT 'the title of conversation ' || id FROM conversations
WHERE {own} AND length(title) > %(title)s
LIMIT 1
""",
    own=OWN,
)

# What was under way where the export was made is nowhere under way here.
SETTLE_DOCUMENTS = compose(
    """
UPDATE documents SET status = 'failed', error = 'it was being read at its export: add it again'
WHERE status = 'processing' AND {own}
""",
    own=OWN,
)

# The same of answers, which no process here makes.
SETTLE_MESSAGES = compose(
    """
UPDATE messages SET status = 'interrupted', owner = '', finished_at = now()
WHERE status = 'answering' AND {own}
""",
    own=OWN,
)
