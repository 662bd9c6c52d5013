"""The text of a stored chunk as an embedder was given it."""

from __future__ import annotations

from typing import Any

from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from helix.domain.records import EMBEDDING_KEY


def embedded_text(content: str, metadata: dict[str, Any]) -> str:
    """The text that ingest embedded of a chunk: title, headings and context before its content.

    A row that LlamaIndex did not write was embedded as it is.
    """
    if "_node_content" not in metadata:
        return content
    node = metadata_dict_to_node(metadata, content)
    node.metadata.pop(EMBEDDING_KEY, None)  # known only once the text has been put together
    return str(node.get_content(MetadataMode.EMBED))
