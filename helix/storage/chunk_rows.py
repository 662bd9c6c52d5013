"""The chunks of one document, brought to a new state with as few writes as that takes.

A chunk that stays keeps its row, so that its id, which answers have cited, stays too. A row that
changes in any way costs a new entry in the vector index, about what an insert costs: rows that are
as they should be are not touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.vector_stores.utils import node_to_metadata_dict
from pgvector import Vector
from psycopg.types.json import Jsonb

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.records import EMBEDDING_KEY, ORDINAL
from helix.errors import StaleChunks
from helix.language.identification import ENGLISH
from helix.storage.connections import Connected
from helix.storage.packed_terms import NO_TERMS, PackedTerms
from helix.storage.pipelined_connections import Statement
from helix.storage.statements import chunks as sql
from helix.storage.term_rows import copy_terms, node_row, write_terms

ChunkRow = tuple[str, str, str, Vector, Jsonb]
Metadata = dict[str, Any]


_AHEAD = 16  # rows: COPY begins to insert when it has 64 KiB, ten of them


@dataclass(frozen=True)
class ChunkChanges:
    """Counts of the chunks that stayed, changed (place, or vector), are new, and are gone."""

    kept: int
    changed: int
    added: int
    removed: int


@dataclass(frozen=True)
class _Stored:
    content: str
    metadata: Metadata

    @property
    def ordinal(self) -> int:
        return int(self.metadata[ORDINAL])


def replace_chunks(
    connection: Connected,
    tenant: str,
    document_id: int,
    nodes: Sequence[BaseNode],
    language: str = ENGLISH,
    terms: PackedTerms = NO_TERMS,
    *,
    reserved: Sequence[int] | None = None,
) -> ChunkChanges:
    """Make ``nodes`` the chunks of a document in ``language`` that nobody else writes now.

    Of ``terms`` are those that were made beforehand. ``reserved`` are ids (``reserving``) for the
    nodes of a document that is new, and has no chunks yet.

    Raises:
        ValueError: a new node has no vector, or one of another width than 1536.
        StaleChunks: a node without vector is not stored under its embedding key.
    """
    rows = [] if reserved is not None else connection.execute(sql.STORED, (document_id,)).fetchall()
    stored = {node_id: _Stored(content, metadata) for node_id, content, metadata in rows}
    staying, new = dict[str, BaseNode](), list[BaseNode]()
    for node in nodes:
        old = stored.get(node.node_id)
        if old and node.node_id not in staying and old.content == _content(node):
            staying[node.node_id] = node
        else:
            new.append(node)
    gone = [node_id for node_id in stored if node_id not in staying]
    if gone:
        connection.execute(sql.DELETE, (document_id, gone))
    changed, embedded_anew = _update(connection, tenant, document_id, stored, staying)
    _add(connection, tenant, document_id, new, language, terms, reserved)
    # what only moved has the terms it had
    write_terms(connection, embedded_anew, tenant, language)
    return ChunkChanges(len(staying) - changed, changed, len(new), len(gone))


def _add(
    connection: Connected,
    tenant: str,
    document_id: int,
    nodes: Sequence[BaseNode],
    language: str,
    made: PackedTerms,
    reserved: Sequence[int] | None,
) -> None:
    """Insert new chunks and their terms, made while the server enters chunks into its indexes."""
    if not nodes:
        return
    terms: list[bytes] = []

    def rows() -> Iterator[ChunkRow]:
        for start in range(0, len(nodes), _AHEAD):
            some = nodes[start : start + _AHEAD]
            yield from (chunk_row(node, tenant, document_id) for node in some)
            terms.extend(node_row(node, tenant, language, made) for node in some)

    ids = reserved or reserve_ids(connection, len(nodes))
    copy_chunks(connection, ids, rows())
    copy_terms(connection, ((tenant, document_id, *row) for row in zip(ids, terms, strict=True)))


def _update(
    connection: Connected,
    tenant: str,
    document_id: int,
    stored: Mapping[str, _Stored],
    staying: Mapping[str, BaseNode],
) -> tuple[int, list[BaseNode]]:
    """Bring the rows that stay to what their nodes say.

    Returns:
        how many were not so already, and those of them whose vector is new.
    """
    values: dict[str, dict[str, Any]] = {}
    for node_id, node in staying.items():
        old, metadata = stored[node_id].metadata, _metadata(node, document_id)
        key = node.metadata.get(EMBEDDING_KEY)
        is_embedded = key is not None and key == old.get(EMBEDDING_KEY)
        vector = None if is_embedded else _vector(node)
        if vector is not None or _without_copy(metadata) != old:
            values[node_id] = {
                "tenant": tenant, "node_id": node_id, "metadata": Jsonb(metadata), "vector": vector
            }  # fmt: skip
    moves = {node_id: int(staying[node_id].metadata[ORDINAL]) for node_id in values}
    with connection.cursor() as cursor:
        for node_id, parking in _in_turn({n: stored[n].ordinal for n in values}, moves):
            if parking is None:
                cursor.execute(sql.UPDATE, values[node_id])
            else:
                parked = {"tenant": tenant, "node_id": node_id, "ordinal": parking}
                cursor.execute(sql.PARK, parked)
    anew = [staying[node_id] for node_id, row in values.items() if row["vector"] is not None]
    return len(values), anew


def _in_turn(
    places: Mapping[str, int], moves: Mapping[str, int]
) -> Iterator[tuple[str, int | None]]:
    """An order of moves in which none comes to a place that is still taken.

    ``places`` is where each is, ``moves`` where it goes. Yields (who, None) for a move, and
    (who, place) where one of a ring must first step aside to a place that nobody else has.
    """
    free = max([*places.values(), *moves.values()], default=0) + 2**24
    at = {place: who for who, place in places.items()}
    waiting = dict(moves)
    for first in moves:
        if first not in waiting:  # it has moved up in another's line
            continue
        line = [first]
        in_line = set(line)
        while (ahead := at.get(waiting[line[-1]])) in waiting and ahead not in in_line:
            assert ahead is not None
            line.append(ahead)
            in_line.add(ahead)
        if len(line) > 1 and ahead == line[0]:
            # a ring: the last steps aside, the others move up, and it takes the place left
            aside = line.pop()
            yield aside, free
            line.insert(0, aside)
        for who in reversed(line):
            yield who, None
            del waiting[who]


def chunk_row(
    node: BaseNode, tenant: str, document_id: int, marks: dict[str, int] | None = None
) -> ChunkRow:
    """One row of COPY: (tenant, node_id, content, embedding, metadata).

    Raises:
        ValueError, StaleChunks: as replace_chunks does.
    """
    metadata = _metadata(node, document_id, marks)
    return tenant, node.node_id, _content(node), _vector(node), Jsonb(metadata)


def reserving(count: int) -> Statement:
    """The statement that reserves ``count`` fresh values of chunks.id, as rows of ``id``."""
    return sql.RESERVE_IDS, {"count": count}


def reserve_ids(connection: Connected, count: int) -> list[int]:
    """Reserve ``count`` fresh values of chunks.id."""
    return [number for (number,) in connection.execute(*reserving(count))]


def copy_chunks(connection: Connected, ids: Sequence[int], rows: Iterable[ChunkRow]) -> None:
    """Insert ``rows`` by binary COPY under reserved ``ids``, one for each."""
    with connection.cursor().copy(sql.COPY) as copy:
        copy.set_types(["int8", "text", "text", "text", "vector", "jsonb"])
        for number, row in zip(ids, rows, strict=True):
            copy.write_row((number, *row))


def _content(node: BaseNode) -> str:
    return node.get_content(MetadataMode.NONE)


def _vector(node: BaseNode) -> Vector:
    is_known = node.embedding is None or len(node.embedding) == 0  # missing, or KNOWN
    if is_known and EMBEDDING_KEY in node.metadata:
        raise StaleChunks("the document was changed by somebody else meanwhile: ingest it again")
    vector = np.asarray(node.embedding, dtype=np.float32)
    if vector.shape != (EMBEDDING_DIMENSIONS,):
        raise ValueError(f"an embedding has shape {vector.shape}, not ({EMBEDDING_DIMENSIONS},)")
    return Vector(vector)


def _metadata(node: BaseNode, document_id: int, marks: dict[str, int] | None = None) -> Metadata:
    # without its vector, or 1,536 numbers would be turned into JSON and thrown away
    bare = node.model_copy(update={"embedding": None})
    metadata: Metadata = node_to_metadata_dict(bare, remove_text=True)
    metadata.update(marks or {}, document_id=str(document_id))
    return metadata


def _without_copy(metadata: Metadata) -> Metadata:
    """The metadata as sql.STORED gives it back: through JSON, which has no tuples."""
    rest = {key: value for key, value in metadata.items() if key != "_node_content"}
    back: Metadata = json.loads(json.dumps(rest))
    return back
