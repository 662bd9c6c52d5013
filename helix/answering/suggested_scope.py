"""The documents that a question names, offered as the scope to ask it in again."""

from __future__ import annotations

from typing import Any

from helix.domain.retrieval import Retrieval


def suggested_scope(retrieval: Retrieval) -> list[dict[str, Any]] | None:
    """``document_id`` and ``title`` of each; None where there are none or too many."""
    if not retrieval.named:
        return None
    return [{"document_id": number, "title": title} for number, title in retrieval.named]
