"""Nodes as LlamaIndex code of one's own makes them."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode


def foreign_node(source: str, place: int, vector: Any) -> TextNode:
    """A node of the document ``source``, without the marks of its place there."""
    return TextNode(
        id_=f"{source}-{place}",
        text=f"{source} {place}.",
        embedding=list(vector),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)},
    )
