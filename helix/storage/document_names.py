"""The names that questions call documents by: written with a document, looked up for a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg.rows import dict_row

from helix.domain.names import document_names
from helix.storage.connections import Connected
from helix.storage.pipelined_connections import Statement
from helix.storage.statements import document_names as sql

MOST_OF_NAME = 500
"""Documents of one name that are looked at: a name of more says little of which is meant."""


def write_names(connection: Connected, tenant: str, document_id: int) -> None:
    """Make the names of a tenant's stored document those of its title, file and facts."""
    which = {"tenant": tenant, "id": document_id}
    row = connection.cursor(row_factory=dict_row).execute(sql.DOCUMENT, which).fetchone()
    if row is None:
        return
    for statement, values in naming(tenant, **row):
        connection.execute(statement, values)


def naming(
    tenant: str, source_uri: str, title: str, file_name: str, facts: Mapping[str, Any]
) -> tuple[Statement, Statement]:
    """The statements that make these names those of the document from ``source_uri``."""
    found = sorted(document_names(title, file_name, facts))
    values = {
        "tenant": tenant, "source_uri": source_uri,
        "kinds": [kind for kind, _ in found], "names": [name for _, name in found],
    }  # fmt: skip
    return (sql.FORGET, values), (sql.REMEMBER, values)
