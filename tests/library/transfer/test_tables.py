"""Every table with a tenant's rows is exported, or said to be left out."""

from __future__ import annotations

import psycopg

from helix.library.transfer.tables import FILES, LEFT_OUT, REFERENCES, TABLES

_OF_TENANTS = """
SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND attname = 'tenant_id'
"""
_REFERENCES = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND connamespace = 'public'::regnamespace
"""


def test_no_table_of_tenants_is_forgotten(database_url: str) -> None:
    exported = [table.name for table in TABLES]
    assert len(exported) == len(set(exported))
    with psycopg.connect(database_url) as connection:
        walled = {name for (name,) in connection.execute(_OF_TENANTS)}
        references = connection.execute(_REFERENCES).fetchall()
    assert {*exported, FILES} | LEFT_OUT.keys() == walled
    assert not {*exported, FILES} & LEFT_OUT.keys()
    assert all(LEFT_OUT.values())
    order = [FILES, *exported]  # what a row refers to comes before it
    assert all(
        order.index(table) >= order.index(other) for table, other in references if table in order
    )
    own = {name for table in TABLES for name in table.references.values()}
    assert own | set(REFERENCES.values()) == {table.name for table in TABLES if table.numbered}
