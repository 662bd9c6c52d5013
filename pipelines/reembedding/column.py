"""The second column: made, indexed, swapped for the first, or given up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from psycopg import sql
from psycopg.errors import DiskFull, OutOfMemory

from helix.storage.indexes import build_memory, vector_index
from pipelines.reembedding.state import Connected, Report, change_table

NEXT_INDEX = "chunks_embedding_next_hnsw"
_MISSING_INDEX = "chunks_embedding_next_missing"
_FILLED = "chunks_embedding_filled"

# Two vectors do not fit in one row's page: the column keeps pgvector's storage, out of line, until
# the first has gone. What is embedded of a chunk changes with its text or with what stands in front
# of it, which its cache key tells; a chunk that only moved keeps its new vector.
_BEGIN = sql.SQL("""
ALTER TABLE chunks ADD COLUMN embedding_next vector(1536);
CREATE OR REPLACE FUNCTION chunks_embedding_next_stale() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.embedding_next := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER chunks_embedding_next_stale BEFORE UPDATE OF content, metadata_ ON chunks
FOR EACH ROW WHEN (
    OLD.content IS DISTINCT FROM NEW.content
    OR coalesce(OLD.metadata_ ->> 'embedding_key', OLD.metadata_::text)
        IS DISTINCT FROM coalesce(NEW.metadata_ ->> 'embedding_key', NEW.metadata_::text)
) EXECUTE FUNCTION chunks_embedding_next_stale();
""")
_FORGET = sql.SQL("""
DROP TRIGGER IF EXISTS chunks_embedding_next_stale ON chunks;
DROP FUNCTION IF EXISTS chunks_embedding_next_stale();
""")
_GIVE_UP = sql.SQL("""
ALTER TABLE chunks DROP COLUMN IF EXISTS embedding_next;
DELETE FROM embedding_change;
""")
# The view is replaced, not dropped: who may use it stays. The old column's index goes with it.
# NOT NULL waits for a validated constraint, or it would read the whole table under the lock.
_SWAP = sql.SQL("""
CREATE OR REPLACE VIEW data_chunks WITH (security_invoker = true) AS
    SELECT id, content AS text, metadata_, node_id, embedding_next AS embedding FROM chunks;
ALTER TABLE chunks DROP COLUMN embedding;
DROP INDEX IF EXISTS chunks_embedding_next_missing;
ALTER TABLE chunks RENAME COLUMN embedding_next TO embedding;
ALTER INDEX chunks_embedding_next_hnsw RENAME TO chunks_embedding_hnsw;
ALTER TABLE chunks ALTER COLUMN embedding SET STORAGE PLAIN,
    ADD CONSTRAINT chunks_embedding_filled CHECK (embedding IS NOT NULL) NOT VALID;
DELETE FROM document_versions;
UPDATE embedding_space SET claimed_at = now(), identity = (SELECT identity FROM embedding_change);
UPDATE embedding_change SET settled = 0, last = (SELECT coalesce(max(id), 0) FROM chunks);
""")


async def begin(connection: Connected, identity: str, report: Report) -> None:
    """Add the empty column, and write down whose vectors it is for."""
    note = sql.SQL("INSERT INTO embedding_change (identity) VALUES ({})").format(identity)
    await change_table(connection, (_BEGIN, note), report)


async def give_up(connection: Connected, report: Report) -> None:
    """Drop the column, its indexes and what was written down; nothing else changes."""
    await change_table(connection, (_FORGET, _GIVE_UP), report)


async def build_indexes(connection: Connected, chunks: int) -> None:
    """Build the vector index of ``chunks`` vectors, and one that tells what has none.

    Others read and write meanwhile. What a killed process left unfinished is built anew.
    """
    memory = build_memory(chunks)
    await connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
    await _build(connection, _MISSING_INDEX, "btree (id) WHERE embedding_next IS NULL")
    definition = vector_index("embedding_next")
    try:
        await _build(connection, NEXT_INDEX, definition)
    except (DiskFull, OutOfMemory):
        # a parallel build shares its memory through /dev/shm, which containers keep small
        await connection.execute("SET max_parallel_maintenance_workers = 0")
        await _build(connection, NEXT_INDEX, definition)


async def _build(connection: Connected, name: str, definition: str) -> None:
    cursor = await connection.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", (name,)
    )
    valid = await cursor.fetchone()
    if valid and valid[0]:
        return
    if valid:
        drop = sql.SQL("DROP INDEX CONCURRENTLY {}")
        await connection.execute(drop.format(sql.Identifier(name)))
    create = sql.SQL("CREATE INDEX CONCURRENTLY {} ON chunks USING {}")
    await connection.execute(create.format(sql.Identifier(name), sql.SQL(definition)))


async def swap(
    connection: Connected, fill_rest: Callable[[], Awaitable[object]], report: Report
) -> None:
    """Make the second column the first, in one transaction.

    Writers wait while ``fill_rest`` gives the chunks written last their vectors, over connections
    of its own; searches wait only for the change of names, which takes milliseconds.
    """
    await change_table(connection, (_FORGET, _SWAP), report, fill_rest)


async def require_filled(connection: Connected, report: Report) -> None:
    """Make the new column NOT NULL, as the schema has it, without reading the table under a lock.

    Until then a constraint, which the swap added, keeps new rows from having no vector.
    """
    cursor = await connection.execute(
        "SELECT convalidated FROM pg_constraint"
        " WHERE conrelid = 'chunks'::regclass AND conname = %s",
        (_FILLED,),
    )
    if await cursor.fetchone() is None:
        return
    name = sql.Identifier(_FILLED)
    validate = sql.SQL("ALTER TABLE chunks VALIDATE CONSTRAINT {}")
    await connection.execute(validate.format(name))
    require = sql.SQL(
        "ALTER TABLE chunks ALTER COLUMN embedding SET NOT NULL, DROP CONSTRAINT {}"
    ).format(name)
    await change_table(connection, (require,), report)
