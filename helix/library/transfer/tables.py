"""The tables of a tenant: those that an export has, and those left out, with the reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from psycopg import sql

from helix.errors import StoreUnavailable
from helix.storage.connections import Connected
from helix.storage.statements import exports as statements


@dataclass(frozen=True)
class Table:
    """A table whose rows are exported in the order of the columns ``order``.

    ``numbered``: other rows refer to its ``id``, which is kept where it is free (tenant_import.py).
    ``without`` are columns that an import fills anew. ``references`` are further REFERENCES that
    hold for this table's rows alone; ``keyed`` are columns of JSON whose keys are ids.
    ``rows_at_once``: how many rows an export reads into memory.
    """

    name: str
    order: tuple[str, ...]
    numbered: bool = False
    without: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    keyed: Mapping[str, str] = field(default_factory=dict)
    rows_at_once: int = 200


_IN_SPACE = {"space": "spaces"}
"""Of a scope: the space that is asked in."""

TABLES = (
    Table("spaces", ("id",), numbered=True),
    Table("documents", ("id",), numbered=True, references={"spaces": "spaces"}),
    Table("document_sources", ("source_uri",)),
    Table("document_pages", ("document_id", "number")),
    Table("document_tables", ("document_id", "ordinal"), without=("id",)),
    Table("document_names", ("document_id", "kind", "name")),
    Table("suggested_questions", ("id",), without=("id",)),
    Table("chunks", ("id",), numbered=True),
    Table("answers", ("created_at", "id")),
    Table("feedback", ("id",), without=("id",)),
    Table(
        "conversations", ("created_at", "id"), without=("messages", "owner"), references=_IN_SPACE
    ),
    Table("conversation_images", ("conversation_id", "id"), rows_at_once=2),
    Table(
        "messages", ("conversation_id", "id"), keyed={"cited": "documents"}, references=_IN_SPACE
    ),
    Table("prompt_versions", ("name", "version")),
    Table("tenant_settings", ("tenant_id",)),
    Table("progress_sessions", ("learner", "started_at")),
    Table("progress_counts", ("learner", "quarter", "action")),
    Table(
        "study_sets",
        ("id",),
        numbered=True,
        without=("run_id", "owner"),
        references={"plan": "chunks", **_IN_SPACE},
    ),
    Table(
        "study_items",
        ("id",),
        numbered=True,
        references={"parent": "study_items", "exercise": "study_items"},
    ),
    Table("study_sources", ("item_id", "n")),
    Table("study_attempts", ("id",), without=("id",), keyed={"answers": "study_items"}),
    Table("study_cards", ("item_id", "learner"), references={"card_id": "study_items"}),
    Table("study_reviews", ("id",), without=("id",), references={"card_id": "study_items"}),
    Table("progress_totals", ("learner", "action")),
    Table("gate_fits", ("id",), without=("id",)),
)
"""In an order that their foreign keys allow."""
FILES = "files"
"""This table's rows are exported as files: their bytes may be in a bucket."""
LEFT_OUT: Mapping[str, str] = {
    "document_values": "filled by the triggers of documents",
    "chunk_terms": "made anew of the chunks: its keys have the tenant's name in them",
    "term_counts": "counted anew",
    "term_changes": "counted anew",
    "progress_days": "counted anew of progress_sessions",
    "document_versions": "a copy begins with what is there",
    "chunk_versions": "as document_versions",
    "removals": "what was deleted is no part of a copy",
    "loose_objects": "objects of the installation's bucket that nothing has a use for",
    "runs": "what was being brought in is the installation's",
    "run_files": "as runs",
    "sources": "where the installation's documents come from, with its credentials",
    "source_entries": "as sources",
    "message_events": "how an answer was streamed, kept for a week; the answer is in messages",
    "api_keys": "keys open one installation",
    "members": "people are the installation's, and whom it lets in",
    "groups": "as members",
    "space_members": "as members",
    "group_members": "as members",
    "sessions": "as members",
    "shares": "as members",
    "share_readers": "as members",
    "share_links": "as members",
    "comments": "as members",
    "invitations": "as members",
    "audit_events": "what happened at one installation",
    "usage_counts": "what was used of one installation's limits",
    "usage_days": "as usage_counts, by people and keys, who are the installation's",
    "usage_limits": "as usage_days",
}
"""Tables of a tenant that are not exported."""
REFERENCES = {
    "document_id": "documents", "document_ids": "documents", "doc_id": "documents",
    "ref_doc_id": "documents", "chunk_id": "chunks", "chunk_ids": "chunks",
    "set_id": "study_sets", "item_id": "study_items",
}  # fmt: skip
"""Keys, of columns and within their JSON, whose values are ids of a numbered table."""


def columns_of(connection: Connected, table: Table) -> dict[str, str]:
    """The exported columns of ``table``, each with the cast that it needs to become JSON.

    Raises:
        StoreUnavailable: there is no such table.
    """
    casts: dict[str, str] = dict(connection.execute(statements.COLUMNS, (table.name,)).fetchall())
    if not casts:
        raise StoreUnavailable("the schema is missing or old: run `helix migrate`")
    return {name: cast for name, cast in casts.items() if name not in table.without}


def listed(names: tuple[str, ...] | list[str]) -> sql.Composed:
    """Quoted column names, separated by commas."""
    return sql.SQL(", ").join(map(sql.Identifier, names))
