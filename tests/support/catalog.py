"""A database's schema as its catalog tells it, to compare with another's; and all of its rows."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

_OURS = """
SELECT oid FROM pg_class c WHERE relnamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
_ACL = "(SELECT array_agg(entry::text ORDER BY entry::text) FROM unnest({}) AS entry)"
_PARTS = {
    "relations": f"""
        SELECT relname, relkind, relrowsecurity, relforcerowsecurity, reloptions,
            {_ACL.format("relacl")}, obj_description(oid, 'pg_class'),
            CASE relkind WHEN 'v' THEN pg_get_viewdef(oid) END
        FROM pg_class WHERE oid IN ({_OURS})""",
    "columns": f"""
        SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull,
            attgenerated, attidentity, attstorage, pg_get_expr(adbin, adrelid),
            col_description(attrelid, attnum)
        FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE attrelid IN ({_OURS}) AND attnum > 0 AND NOT attisdropped
            AND (SELECT relkind FROM pg_class WHERE oid = attrelid) <> 'i'""",
    "constraints": f"""
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), convalidated
        FROM pg_constraint WHERE conrelid IN ({_OURS})""",
    "indexes": f"""
        SELECT pg_get_indexdef(indexrelid), indisvalid, indisprimary
        FROM pg_index WHERE indrelid IN ({_OURS})""",
    "policies": "SELECT * FROM pg_policies WHERE schemaname = 'public'",
    "triggers": f"""
        SELECT pg_get_triggerdef(oid), tgenabled FROM pg_trigger
        WHERE tgrelid IN ({_OURS}) AND NOT tgisinternal""",
    "functions": f"""
        SELECT p.oid::regprocedure::text, prosecdef, provolatile, proconfig,
            {_ACL.format("proacl")}, prorettype::regtype::text,
            regexp_replace(regexp_replace(prosrc, '--[^\n]*', '', 'g'), '[[:space:]]+', ' ', 'g')
        FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND NOT EXISTS
            (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')""",
    "sequences": """
        SELECT sequencename, data_type::text, start_value, increment_by, cycle
        FROM pg_sequences WHERE schemaname = 'public'""",
}


def catalog(url: str) -> dict[str, set[str]]:
    """The objects of each kind, without the order of columns and comments in functions."""
    with psycopg.connect(url) as connection:
        return {
            part: {repr(row) for row in connection.execute(query)} for part, query in _PARTS.items()
        }


def all_rows(url: str) -> dict[str, list[Any]]:
    """The rows of every table of schema public, as JSON by column name."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        ).fetchall()
        query = "SELECT to_jsonb(t) FROM {} AS t ORDER BY to_jsonb(t)::text"
        return {
            table: [
                row for (row,) in connection.execute(sql.SQL(query).format(sql.Identifier(table)))
            ]
            for (table,) in tables
        }
