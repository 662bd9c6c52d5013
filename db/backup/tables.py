"""The objects of Helix in a database: tables with their columns, sequences and functions."""

from __future__ import annotations

import re
from dataclasses import dataclass

import psycopg
from psycopg import sql

from db import migrate

STAGED_COLUMN = ("chunks", "embedding_next")
"""Vectors of an embedder that is being changed to; they are made again where they are missing."""
OF_THE_INSTALLATION = frozenset({
    "schema_version", "contacts", "signing_keys", "signing_secret", "backups", "removals",
})  # fmt: skip
"""Tables whose rows alone do not make a database one that holds something."""
NOT_COPIED = frozenset({"schema_version", "signing_secret", "passkey_challenges"})
"""Tables that no backup has: its manifest has the version, a copy of it is to sign nothing, and a
challenge that was met is not to be open again."""

_COLUMNS = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
    AND c.relname = ANY(%(names)s) AND a.attnum > 0 AND NOT a.attisdropped
    AND a.attgenerated = '' AND (c.relname, a.attname) <> (%(staged_table)s, %(staged_column)s)
GROUP BY c.relname ORDER BY c.relname
"""
_SEQUENCES = """
SELECT s.relname FROM pg_class s
LEFT JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass
    AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
LEFT JOIN pg_class t ON t.oid = d.refobjid
WHERE s.relkind = 'S' AND s.relnamespace = current_schema()::regnamespace
    AND (t.relname = ANY(%(names)s) OR t.oid IS NULL AND s.relname = ANY(%(names)s))
ORDER BY s.relname
"""
_RELATIONS = """
SELECT relname, relkind FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%(names)s)
    AND relkind IN ('r', 'p', 'v', 'S')
"""
_POLICIES = """
SELECT p.polname, c.relname FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%(names)s)
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace
    AND (proname = ANY(%(names)s) OR proname = 'chunks_embedding_next_stale')
"""
_CREATED = re.compile(
    r"^CREATE (?:OR REPLACE |UNLOGGED )?(TABLE|VIEW|SEQUENCE|FUNCTION) (?:IF NOT EXISTS )?(\w+)",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Names:
    """The names that a schema's SQL creates."""

    tables: list[str]
    others: list[str]  # views and sequences
    functions: list[str]

    @property
    def relations(self) -> list[str]:
        """Tables, views and sequences."""
        return self.tables + self.others

    @classmethod
    def of(cls, schema: str) -> Names:
        """The names in the text of a ``schema.sql``, each statement at the beginning of a line."""
        names = cls([], [], [])
        for kind, name in _CREATED.findall(schema):
            listed = {"TABLE": names.tables, "FUNCTION": names.functions}.get(kind, names.others)
            listed.append(name)
        return names

    @classmethod
    def of_this_helix(cls) -> Names:
        """The names of the schema that is installed here."""
        return cls.of(migrate.SCHEMA.read_text())


def columns_of_tables(connection: psycopg.Connection, names: Names) -> dict[str, list[str]]:
    """By table of a backup, the columns that are stored and not computed."""
    values = dict(
        zip(("staged_table", "staged_column"), STAGED_COLUMN, strict=True), names=names.relations
    )
    found = connection.execute(_COLUMNS, values).fetchall()
    return {table: columns for table, columns in found if table not in NOT_COPIED}


def sequences_of(connection: psycopg.Connection, names: Names) -> list[str]:
    """The sequences, those of identity columns among them."""
    found = connection.execute(_SEQUENCES, {"names": names.relations})
    return [name for (name,) in found]


def tables_with_rows(connection: psycopg.Connection, names: Names) -> list[str]:
    """The tables that hold rows, but for those of every installation."""
    tables = columns_of_tables(connection, names).keys() - OF_THE_INSTALLATION
    query = sql.SQL("SELECT EXISTS (SELECT FROM {})")
    return [
        table
        for table in sorted(tables)
        if connection.execute(query.format(sql.Identifier(table))).fetchone() == (True,)
    ]


def drop_everything(connection: psycopg.Connection, names: Names) -> None:
    """Drop what Helix has in the database, the worker engine's schema too, and nothing else.

    Raises:
        psycopg.Error: something of somebody else's hangs on it.
    """
    kinds: dict[str, list[str]] = {"v": [], "r": [], "p": [], "S": []}
    for name, kind in connection.execute(_RELATIONS, {"names": names.relations}):
        kinds[kind].append(name)
    functions = [row[0] for row in connection.execute(_FUNCTIONS, {"names": names.functions})]
    # policies look into views of other tables, so that neither could be dropped first
    for policy in connection.execute(_POLICIES, {"names": names.relations}).fetchall():
        named = map(sql.Identifier, policy)
        connection.execute(sql.SQL("DROP POLICY {} ON {}").format(*named))
    for word, found in (
        ("VIEW", kinds["v"]), ("TABLE", kinds["r"] + kinds["p"]), ("SEQUENCE", kinds["S"]),
    ):  # fmt: skip
        if found:
            listed = sql.SQL(", ").join(map(sql.Identifier, found))
            connection.execute(sql.SQL(f"DROP {word} {{}}").format(listed))
    for function in functions:  # quoted by Postgres itself
        connection.execute(sql.SQL(f"DROP FUNCTION {function}"))
    connection.execute("DROP SCHEMA IF EXISTS dbos CASCADE")
