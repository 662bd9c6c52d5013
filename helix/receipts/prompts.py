"""The prompt of a receipt, rebuilt from what is stored now, if that is what it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from helix.context import Source
from helix.library.access import Library
from helix.prompt import chat_messages
from helix.receipts.receipt import Json, digest, prompt_digest
from helix.records import Hit

Lost = Literal["no prompt", "source deleted", "source changed", "rules changed"]
"""Why there is no prompt: retrieval refused; a document is gone; its text is another; or this
release makes another prompt of the same sources."""

# Its characters in the document, and its chunk where that keeps its text but was moved.
_SOURCES = """
SELECT row_to_json(x) FROM (
    SELECT d.id IS NOT NULL AS there, c.content, c.ordinal, c.node_id, d.title, d.source_uri,
        substr(d.text, s.from_char + 1, s.to_char - s.from_char) AS slice
    FROM unnest(%(numbers)s::int[], %(documents)s::bigint[], %(chunks)s::bigint[],
            %(starts)s::int[], %(ends)s::int[]) AS s (n, document_id, chunk_id, from_char, to_char)
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = s.document_id
    LEFT JOIN chunks c ON c.tenant_id = %(tenant)s AND c.id = s.chunk_id ORDER BY s.n) x
"""


@dataclass(frozen=True)
class Rebuilt:
    """The sources of a receipt as they were, or why they cannot be had; one of the two.

    ``states`` is of each source, by its number: "same", or why not.
    """

    sources: list[Source]
    lost: Lost | None
    states: Mapping[int, str]


async def rebuilt(library: Library, receipt: Mapping[str, Any]) -> Rebuilt:
    """The sources that ``receipt`` (read_receipt) names, if all are what they were.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    if receipt["prompt_sha256"] is None:
        return Rebuilt([], "no prompt", {})
    marks: list[Json] = receipt["index"]["sources"]
    rows = await library.rows(_SOURCES, _values(marks)) if marks else []
    sources: list[Source] = []
    states: dict[int, str] = {}
    for mark, row in zip(marks, rows, strict=True):
        text = _text_of(mark, row)
        if text is not None:
            sources.append(_source(mark, row, text))
        states[mark["n"]] = "same" if text is not None else _why(row)
    lost = _worst(states.values())
    if lost is None and prompt_digest(receipt["question"], sources) != receipt["prompt_sha256"]:
        lost = "rules changed"
    return Rebuilt(sources if lost is None else [], lost, states)


def prompt_json(receipt: Mapping[str, Any], sources: Sequence[Source]) -> list[Json]:
    """The messages that the model was sent: ``[{"role", "content"}]``."""
    messages = chat_messages(receipt["question"], sources)
    return [{"role": message.role.value, "content": message.content} for message in messages]


def _values(marks: Sequence[Json]) -> Json:
    columns = {"numbers": "n", "documents": "document_id", "chunks": "chunk_id", "starts": "start",
               "ends": "end"}  # fmt: skip
    return {name: [mark[key] for mark in marks] for name, key in columns.items()}


def _text_of(mark: Json, row: Json) -> str | None:
    """What of the two is the text that the receipt's hash is of."""
    texts = (row["slice"], row["content"])
    return next((text for text in texts if text and digest(text) == mark["sha256"]), None)


def _why(row: Json) -> Lost:
    return "source changed" if row["there"] else "source deleted"


def _worst(states: Iterable[str]) -> Lost | None:
    found = set(states) - {"same"}
    if not found:
        return None
    return "source deleted" if "source deleted" in found else "source changed"


def _source(mark: Json, row: Json, text: str) -> Source:
    """The numbered text, as far as a prompt and a guard look at it."""
    hit = Hit(
        mark["chunk_id"], mark["document_id"], row["title"] or "", row["source_uri"] or "",
        row["ordinal"] or 0, text, mark["start"], mark["end"], row["node_id"] or "", float("nan"),
    )  # fmt: skip
    return Source(hit, (hit,), text, mark["start"], mark["end"])
