"""The chunks of an export, embedded anew by another embedder than the one that it was made with."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from helix.domain.records import EMBEDDING_KEY
from helix.storage.cache_rows import cache_key
from helix.storage.embedded_text import embedded_text


@dataclass(frozen=True)
class NewVectors:
    """An embedder for the chunks of an export.

    Args:
        identity: the embedder's.
        at_once: texts of one request, at most.
        embed: the vectors of texts, in their order, of length 1; raises UpstreamError.
    """

    identity: str
    at_once: int
    embed: Callable[[list[str]], Sequence[Sequence[float]]]

    def renewed(self, rows: Sequence[str]) -> list[str]:
        """``rows`` of ``chunks``, each a JSON object, with their new vectors."""
        parsed = [json.loads(row) for row in rows]
        for start in range(0, len(parsed), self.at_once):
            self._renew(parsed[start : start + self.at_once])
        return [json.dumps(row, ensure_ascii=False) for row in parsed]

    def _renew(self, rows: list[dict[str, Any]]) -> None:
        """Change the vectors of ``rows``, and the keys that the embedding cache has them under."""
        texts = [embedded_text(row["content"], row["metadata_"]) for row in rows]
        for row, text, vector in zip(rows, texts, self.embed(texts), strict=True):
            row["embedding"] = [float(number) for number in vector]
            if EMBEDDING_KEY in row["metadata_"]:
                row["metadata_"][EMBEDDING_KEY] = cache_key(self.identity, "document", text)
