"""The texts of another program's vectors in Postgres: LangChain's, LlamaIndex's and Open WebUI's.

These programs keep chunks, which mostly overlap, with their source in the metadata. The chunks of a
source are joined into one text, the overlap of two neighbours once. Vectors are not read: Helix
makes its own chunks, so that every citation is a span of the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from helix.domain.records import EMBEDDING_KEY
from helix.library.transfer.folder import TransferFailed
from helix.storage.cache_rows import cache_key
from helix.storage.statements import vector_tables as statements
from helix.storage.term_rows import embedded_text

_LEAST_SHARED, _MOST_SHARED = 12, 2000
"""The overlap of two neighbours in characters; a shorter one may be the same by chance."""
PROGRAMS = tuple(statements.CHUNKS)


@dataclass(frozen=True)
class Text:
    """The text of a source, the source's name in the other program, and its title or ``""``."""

    source: str
    title: str
    text: str


def read_texts(url: str, program: str, collection: str | None) -> Iterator[Text]:
    """The texts in the database at ``url``, of one collection or all; the connection only reads.

    Of LlamaIndex a collection is the ``table_name`` of its PGVectorStore, with the schema and a
    dot in front where that is not ``public``.

    Raises:
        TransferFailed: the database cannot be reached, or has no table of ``program``.
    """
    try:
        with psycopg.connect(url, row_factory=dict_row) as connection:
            connection.read_only = True
            with connection.cursor("texts") as rows:
                rows.execute(_statement(program, collection), {"collection": collection})
                for source, chunks in groupby(rows, lambda row: row["source"]):
                    yield _text(source, list(chunks))
    except psycopg.errors.UndefinedTable as error:
        raise TransferFailed(
            f"that database has no texts of {program}: {_one_line(error)}"
        ) from None
    except psycopg.Error as error:
        raise TransferFailed(f"the texts of {program} cannot be read: {_one_line(error)}") from None


def _statement(program: str, collection: str | None) -> sql.Composed:
    chunks, ordered = sql.SQL(statements.CHUNKS[program]), sql.SQL(statements.ORDERED)
    if program != "llamaindex":
        return chunks + ordered
    *schema, name = (collection or "llamaindex").lower().split(".")
    return chunks.format(table=sql.Identifier(*schema, f"data_{name}")) + sql.SQL(
        statements.ORDERED
    )


def _text(source: str, chunks: list[dict[str, Any]]) -> Text:
    text = ""
    for chunk in chunks:
        text = without_overlap(text, chunk["text"]) if text else chunk["text"]
    return Text(source, chunks[0]["title"], text)


def without_overlap(text: str, following: str) -> str:
    """``text`` and ``following`` joined, their overlap once; a blank line where there is none."""
    for shared in range(min(len(text), len(following), _MOST_SHARED), _LEAST_SHARED - 1, -1):
        if text.endswith(following[:shared]):
            return text + following[shared:]
    return f"{text}\n\n{following}"


def _one_line(error: psycopg.Error) -> str:
    """The database's message as one line; it holds no password."""
    return (error.diag.message_primary or "it cannot be reached").partition("\n")[0]


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
