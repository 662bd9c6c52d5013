"""Ids move wherever a row names them, and nothing else does."""

from __future__ import annotations

import json

from helix.library.transfer.id_offsets import renumbered
from helix.library.transfer.tables import Table

_OFFSETS = {"documents": 100, "chunks": 1000, "study_sets": 10, "study_items": 20}


def test_every_id_of_a_row_moves_and_nothing_else() -> None:
    row = {
        "document_ids": [1, 2], "question": "7", "top_k": 5, "cited": {"1": "hash"},
        "response": {
            "citations": [{"n": 1, "chunk_id": 3, "document_id": 1, "start": 4, "page": None}],
            "suggested_scope": None, "document_id": None,
            "index": {"sources": [{"n": 1, "chunk_ids": [3, 4], "sha256": "1"}]},
        },
    }  # fmt: skip
    table = Table("messages", ("id",), keyed={"cited": "documents"})
    assert renumbered(row, table, _OFFSETS) == {
        "document_ids": [101, 102], "question": "7", "top_k": 5, "cited": {"101": "hash"},
        "response": {
            "citations": [
                {"n": 1, "chunk_id": 1003, "document_id": 101, "start": 4, "page": None}
            ],
            "suggested_scope": None, "document_id": None,
            "index": {"sources": [{"n": 1, "chunk_ids": [1003, 1004], "sha256": "1"}]},
        },
    }  # fmt: skip


def test_keys_of_one_table_alone() -> None:
    row = {"id": 1, "plan": [3], "set_id": 5, "body": {"parent": 7, "n": 7}}
    table = Table("study_items", ("id",), numbered=True, references={"parent": "study_items"})
    assert renumbered(row, table, _OFFSETS) == {
        "id": 21, "plan": [3], "set_id": 15, "body": {"parent": 27, "n": 7}
    }  # fmt: skip


def test_a_chunk_and_its_own_copy_of_its_node() -> None:
    node = {
        "id_": "n-1", "metadata": {"document_id": "1", "ordinal": 0},
        "relationships": {
            "1": {"node_id": "1", "node_type": "4"}, "2": {"node_id": "2", "node_type": "1"},
        },
    }  # fmt: skip
    row = {
        "id": 3, "node_id": "1", "content": "1",
        "metadata_": {
            "document_id": "1", "doc_id": "1", "ref_doc_id": "upload", "ordinal": 0,
            "_node_content": json.dumps(node),
        },
    }  # fmt: skip
    moved = renumbered(row, Table("chunks", ("id",), numbered=True), _OFFSETS)
    copy = json.loads(moved["metadata_"].pop("_node_content"))
    assert moved == {
        "id": 1003, "node_id": "1", "content": "1",
        "metadata_": {"document_id": "101", "doc_id": "101", "ref_doc_id": "upload", "ordinal": 0},
    }  # fmt: skip
    assert copy["metadata"] == {"document_id": "101", "ordinal": 0}
    assert copy["relationships"]["1"]["node_id"] == "101"
    assert copy["relationships"]["2"] == node["relationships"]["2"]  # type: ignore[index]
