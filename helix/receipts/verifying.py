"""Whether what an answer cites still stands where it stood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from helix.library.access import Library
from helix.receipts.receipt import Json

Status = Literal["holds", "source changed", "source deleted"]
_WORST_LAST: tuple[Status, ...] = ("holds", "source changed", "source deleted")

# A citation that no statement rests on has no quote: then it is the chunk that must be there.
# Both a quote and a text are counted in characters, as Postgres and Python both do.
_STANDS = """
SELECT row_to_json(x) FROM (
    SELECT s.n,
        CASE WHEN d.id IS NULL THEN 'source deleted'
            WHEN s.quote IS NULL AND s.from_char IS NULL AND c.id IS NOT NULL THEN 'holds'
            WHEN substr(d.text, s.from_char + 1, s.to_char - s.from_char) = s.quote THEN 'holds'
            ELSE 'source changed' END AS status,
        nullif(strpos(d.text, s.quote), 0) - 1 AS now_at
    FROM unnest(%(numbers)s::int[], %(documents)s::bigint[], %(chunks)s::bigint[],
                %(starts)s::int[], %(ends)s::int[], %(quotes)s::text[])
        AS s (n, document_id, chunk_id, from_char, to_char, quote)
    LEFT JOIN documents d ON d.tenant_id = %(tenant)s AND d.id = s.document_id
    LEFT JOIN chunks c ON c.tenant_id = %(tenant)s AND c.id = s.chunk_id) x
"""


async def verified(library: Library, receipt: Mapping[str, Any]) -> Json:
    """``{"answer_id", "status", "citations": [{"n", …, "quote", "status"}]}``; the worst on top.

    A quote that stands elsewhere in its document now has ``"now": {"start", "end"}`` besides.

    Raises:
        StoreUnavailable: the database did not answer.
    """
    cited: list[Json] = receipt["citations"]
    rows = await library.rows(_STANDS, _values(cited)) if cited else []
    found = {row["n"]: row for row in rows}
    citations = [_told(citation, found[citation["n"]]) for citation in cited]
    worst = max((_WORST_LAST.index(one["status"]) for one in citations), default=0)
    return {
        "answer_id": receipt["answer_id"],
        "status": _WORST_LAST[worst],
        "citations": citations,
    }


def _told(citation: Json, row: Json) -> Json:
    keys = ("n", "chunk_id", "document_id", "start", "end", "quote")
    told = {key: citation[key] for key in keys} | {"status": row["status"]}
    if row["status"] == "source changed" and row["now_at"] is not None:
        end = row["now_at"] + len(citation["quote"])
        told["now"] = {"start": row["now_at"], "end": end}
    return told


def _values(cited: list[Json]) -> Json:
    columns = {"numbers": "n", "documents": "document_id", "chunks": "chunk_id", "starts": "start",
               "ends": "end", "quotes": "quote"}  # fmt: skip
    return {name: [citation[key] for citation in cited] for name, key in columns.items()}
