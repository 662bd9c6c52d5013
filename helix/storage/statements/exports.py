"""A tenant as it is exported."""

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
