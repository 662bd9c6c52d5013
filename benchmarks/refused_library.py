"""A library of which a reader may read less than there is: each thing of it, and an id beside it.

Things that are kept are made in turn with ids that are burnt, so that both lie alike in an index.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx
import psycopg
from llama_index.core.schema import Document, NodeRelationship, TextNode
from psycopg.types.json import Jsonb

from helix.conversations.shares.share_store import add_share
from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.records import END_CHAR, ORDINAL, START_CHAR, DocumentRecord
from helix.domain.scope import DEFAULT_TENANT
from helix.domain.tables import Table
from helix.library.keys import KEY_SCOPES, create_key
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from helix.library.spaces import add_space
from helix.library.uploads import Upload, store_uploads
from helix.providers.base import Embedder
from helix.providers.factories import build_embedder
from helix.settings import Settings
from helix.store import ChunkStore

ADDRESS = "http://localhost"
THINGS, OWN = 40, 200
"""Things of each kind that are kept, and documents that the reader may read."""
_PASSWORD = "correct horse"
_TABLES = {
    "document": "documents", "chunk": "chunks", "run": "runs", "source": "sources",
    "message": "messages", "item": "study_items", "space": "spaces",
}  # fmt: skip
_BURN = "SELECT nextval(pg_get_serial_sequence(%s, 'id'))"
_MESSAGE = """
INSERT INTO messages (tenant_id, conversation_id, branch, depth, is_active, question, answer_id,
                      status, response, document_ids)
VALUES (%s, %s, 1, 0, true, 'Who?', 'a', 'done', %s, %s) RETURNING id
"""
_STUDY_SET = """
INSERT INTO study_sets (tenant_id, kind, title, wanted) VALUES (%s, 'cards', 'Kept', 1) RETURNING id
"""
_STUDY_ITEM = """
INSERT INTO study_items (tenant_id, set_id, n, kind, body) VALUES (%s, %s, 1, 'card', %s)
RETURNING id
"""
_STUDY_SOURCE = """
INSERT INTO study_sources (tenant_id, item_id, n, document_id, chunk_id, start_char, end_char,
                           quote, content_hash, recipe)
VALUES (%s, %s, 1, %s, %s, 0, 3, 'The', 'h', 'r')
"""
_SOURCE = """
INSERT INTO sources (tenant_id, name, kind, address, spaces, state)
VALUES (%s, %s, 'folder', '/srv/kept', %s, 'paused') RETURNING id
"""


@dataclass(frozen=True)
class Hidden:
    """Ids of things that the reader may not read, and ids that nothing ever had, by their kinds."""

    hidden: list[Mapping[str, Any]]
    never: list[Mapping[str, Any]]


async def filled(url: str, settings: Settings) -> Hidden:
    """A library with THINGS of each kind that are kept, in a space of others, and OWN documents."""
    embedder = build_embedder(settings)
    store = ChunkStore(url, embedder.identity)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            owner = add_person(connection, "owner@example.com", "", hashed(_PASSWORD))
            set_role(connection, DEFAULT_TENANT, owner, "owner")
            for number in range(OWN):
                await _document(connection, store, embedder, number, None)
            kept = Hidden([], [])
            for number in range(OWN, OWN + THINGS):
                space = add_space(connection, DEFAULT_TENANT, f"Kept {number}")
                document = await _document(connection, store, embedder, number, space)
                kept.hidden.append(_beside(connection, owner, space, *document))
                kept.never.append(_burnt(connection))
            connection.execute("VACUUM ANALYZE")
    finally:
        await store.close()
    random.Random(5).shuffle(kept.never)
    return kept


async def _document(
    connection: psycopg.Connection, store: ChunkStore, embedder: Embedder, number: int,
    space: int | None,
) -> tuple[int, int]:  # fmt: skip
    """The document of an upload that was read, and the run that read it."""
    text = f"The harbour master keeps the register of pier {number}."
    data = text.encode()
    digest = sha256(data).hexdigest()
    upload = Upload(f"{number}.txt", "text", len(data), digest, lambda: data, space=space)
    with connection.transaction():
        stored = store_uploads(connection, [upload], DEFAULT_TENANT)
    at, uri = stored.documents[0]["id"], stored.documents[0]["source_uri"]
    words = pack_words([WordBox(0, len(text), 72, 72, 90, 90)])
    record = DocumentRecord(
        uri, f"Pier {number}", digest, "t", text, "text", len(data), file_hash=digest,
        tables=(Table(0, len(text), ((),), ((text,),), ()),),
        pages=(PrintedPage(1, "", 595, 842, 0, len(text), (), words),),
    )  # fmt: skip
    source = Document(id_=str(at), text=text).as_related_node_info()
    node = TextNode(
        id_=sha256(uri.encode()).hexdigest(), text=text,
        embedding=embedder.model.get_text_embedding(text),
        metadata={ORDINAL: 0, START_CHAR: 0, END_CHAR: len(text)},
        relationships={NodeRelationship.SOURCE: source},
    )  # fmt: skip
    await store.of(DEFAULT_TENANT).write(record, [node], at, expected=True)
    done = "UPDATE run_files SET status = 'added', file_hash = NULL WHERE run_id = %s"
    connection.execute(done, (stored.run_id,))
    connection.execute("UPDATE runs SET status = 'done' WHERE id = %s", (stored.run_id,))
    return at, int(stored.run_id or 0)


def _beside(
    connection: psycopg.Connection, owner: int, space: int, document: int, run: int
) -> dict[str, Any]:
    """All that is kept with one document: a conversation of its owner's, a card, a source."""

    def made(statement: str, *values: object) -> int:
        row = connection.execute(statement, values).fetchone()
        assert row is not None
        return int(row[0])

    chunk = made("SELECT min(id) FROM chunks WHERE document_id = %s", document)
    conversation = uuid.uuid4().hex
    connection.execute(
        "INSERT INTO conversations (tenant_id, id, title, owner) VALUES (%s, %s, 'Kept', %s)",
        (DEFAULT_TENANT, conversation, f"person:{owner}"),
    )
    answer = Jsonb({"answer": "yes", "citations": [], "reason": None})
    message = made(_MESSAGE, DEFAULT_TENANT, conversation, answer, [document])
    cards = made(_STUDY_SET, DEFAULT_TENANT)
    item = made(_STUDY_ITEM, DEFAULT_TENANT, cards, Jsonb({"front": "Who?", "back": "He."}))
    connection.execute(_STUDY_SOURCE, (DEFAULT_TENANT, item, document, chunk))
    source = made(_SOURCE, DEFAULT_TENANT, f"Kept {document}", [space])
    share = add_share(connection, DEFAULT_TENANT, owner, conversation, message)
    return {
        "document": document, "chunk": chunk, "run": run, "conversation": conversation,
        "message": message, "item": item, "source": source, "share": share, "space": space,
    }  # fmt: skip


def _burnt(connection: psycopg.Connection) -> dict[str, Any]:
    """Ids that nothing has, between those of things that there are."""
    numbers = {}
    for name, table in _TABLES.items():
        row = connection.execute(_BURN, (table,)).fetchone()
        assert row is not None
        numbers[name] = int(row[0])
    return numbers | {"conversation": uuid.uuid4().hex, "share": uuid.uuid4().hex}


async def readers(client: httpx.AsyncClient, url: str) -> dict[str, dict[str, str]]:
    """The headers of a key that opens the library alone, and of a member who reads it alone."""
    with psycopg.connect(url, autocommit=True) as connection:
        _, key = create_key(connection, DEFAULT_TENANT, scopes=KEY_SCOPES, spaces=["Library"])
        email = "reader@example.com"
        set_role(
            connection, DEFAULT_TENANT, add_person(connection, email, "", hashed(_PASSWORD)),
            "reader",
        )  # fmt: skip
    origin = {"Origin": ADDRESS}
    told = await client.post(
        f"{ADDRESS}/v1/session", json={"email": email, "password": _PASSWORD}, headers=origin
    )
    told.raise_for_status()
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    client.cookies.clear()  # for the key's requests have none
    streams = "application/json, text/event-stream"  # for MCP
    bearer = {"Authorization": f"Bearer {key}", "Accept": streams}
    return {"key": bearer, "person": {**origin, "Cookie": cookie}}
