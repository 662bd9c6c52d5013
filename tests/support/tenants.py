"""Three tenants with a document or two each, and whatever else a tenant may have."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import httpx
import psycopg

from helix.domain.pages import PrintedPage, WordBox, pack_words
from helix.domain.records import DocumentRecord
from helix.domain.tables import Table
from helix.providers.base import Embedder
from tests.support.fake_embedder import nodes_of, opened
from tests.support.live_server import end_run, upload
from tests.support.sample_documents import pdf
from tests.support.tenant_requests import NOTHING, QUESTION, ROUTES, Ids, naming, path_of

TENANTS = ("alpha", "beta", "gamma")
SHARED = "Refunds are accepted within thirty days of purchase."
"""The bytes of alpha's and of beta's handbook."""


def marker(tenant: str) -> str:
    return f"xyzzy{tenant}"


def texts_of(tenant: str) -> dict[str, str]:
    """source_uri to text: two documents of alpha, three of beta, four of gamma."""
    handbook = SHARED if tenant != "gamma" else "Gamma gives no refunds at all."
    secret = f"The password of the vault is {marker(tenant)}.\n\nThe vault is in the cellar."
    more = {f"more/{n}": f"Note {n} of {marker(tenant)}." for n in range(TENANTS.index(tenant))}
    return {"handbook": handbook, "secret": secret, **more}


@dataclass(frozen=True)
class World:
    """The tenants with what each has, asked with keys or without."""

    client: httpx.Client
    keys: dict[str, str]
    ids: dict[str, Ids]
    documents: dict[str, set[int]]
    runs: dict[str, set[int]]

    def send(
        self, tenant: str | None, route: tuple[str, str], ids: Ids = NOTHING, **more: Any
    ) -> httpx.Response:
        """The route's request as ``tenant``; None sends neither a key nor a tenant."""
        method, path = route
        sent = ROUTES[route](ids) | more
        if tenant is not None and self.keys:
            sent["headers"] = {"Authorization": f"Bearer {self.keys[tenant]}"}
        elif tenant is not None:
            sent = naming(sent, tenant)
        return self.client.request(method, path_of(path, ids), **sent)


async def store_one(
    url: str, embedder: Embedder, tenant: str, record: DocumentRecord, at: int
) -> int:
    """Do what a worker does; a chunk's id."""
    nodes = nodes_of(record, str(at))
    for node in nodes:
        node.embedding = embedder.model.get_text_embedding(node.text)
    async with opened(url, embedder.identity) as store:
        await store.of(tenant).write(record, nodes, at, expected=True)
        rows = await store.of(tenant).fetch(
            "SELECT min(id) AS first FROM chunks WHERE document_id = %(id)s", {"id": at}
        )
    return int(rows[0]["first"])


def bring_in(
    client: httpx.Client, url: str, embedder: Embedder, tenant: str, uri: str, text: str
) -> Ids:
    data = pdf(text)
    fields = {"source_uri": uri, "tenant_id": tenant, "tags": "shared"}
    answer = upload(client, data, "note.pdf", **fields).json()
    (told,) = answer["documents"]
    assert not told["duplicate"], "the same bytes and source of another tenant"
    digest = sha256(data).hexdigest()
    words = pack_words([WordBox(0, len(text), 72, 72, 90, 90)])
    record = DocumentRecord(
        uri, f"Notes on {uri}", digest, "t", text, "pdf", len(data), file_hash=digest,
        tables=(Table(0, len(text), ((),), ((text,),), ()),),
        pages=(PrintedPage(1, "", 595, 842, 0, len(text), (), words),),
    )  # fmt: skip
    chunk = asyncio.run(store_one(url, embedder, tenant, record, told["id"]))
    with psycopg.connect(url, autocommit=True) as connection:
        end_run(connection, answer["run_id"])
        # letters alone, for tests that put a word in the place of each number
        name = f"talk-{tenant}-{''.join('abcdefghij'[int(n)] for n in str(told['id']))}"
        message = add_message(connection, tenant, name)
        study = add_study_set(connection, tenant, told["id"])
        source = add_one_source(connection, tenant, told["id"])
    asked = {"question": QUESTION, "tenant_id": tenant}
    answered = client.post("/v1/query", json=asked).json()["answer_id"]
    return Ids(told["id"], chunk, answer["run_id"], answered, name, message, *study, source=source)


def add_message(connection: psycopg.Connection, tenant: str, name: str) -> int:
    """The id of a message of the tenant's conversation ``name``, which is made."""
    connection.execute(
        "INSERT INTO conversations (tenant_id, id, title) VALUES (%s, %s, %s)",
        (tenant, name, f"The vault of {marker(tenant)}"),
    )
    row = connection.execute(
        "INSERT INTO messages (tenant_id, conversation_id, branch, depth, is_active, question,"
        " answer_id, status, response) VALUES (%s, %s, 1, 0, true, %s, 'a', 'done', %s)"
        " RETURNING id",
        (tenant, name, f"Of {marker(tenant)}?", '{"answer": "yes", "citations": []}'),
    ).fetchone()
    assert row is not None
    connection.execute(
        "INSERT INTO conversation_images (tenant_id, conversation_id, id, name, media, data)"
        " VALUES (%s, %s, %s, 'vault.png', 'image/png', %s)",
        (tenant, name, "0" * 64, marker(tenant).encode()),
    )
    connection.execute(
        "INSERT INTO message_events (tenant_id, conversation_id, message_id, n, event, data)"
        " VALUES (%s, %s, %s, 1, 'done', %s)",
        (tenant, name, row[0], f'{{"t":"{marker(tenant)}"}}'),
    )
    return int(row[0])


def add_one_source(connection: psycopg.Connection, tenant: str, at: int) -> int:
    """The id of a source of the tenant's, which has an entry that could not be read."""
    number = 73_000_000 + at
    connection.execute(
        "INSERT INTO sources (id, tenant_id, name, kind, address)"
        " VALUES (%s, %s, %s, 'folder', %s)",
        (number, tenant, f"Vault {at} of {marker(tenant)}", f"/srv/{marker(tenant)}"),
    )
    connection.execute(
        "INSERT INTO source_entries (tenant_id, source_id, key, reason) VALUES (%s, %s, %s, 'no')",
        (tenant, number, f"{marker(tenant)}.md"),
    )
    return number


def add_study_set(connection: psycopg.Connection, tenant: str, at: int) -> tuple[int, int, int]:
    """The ids of a quiz of the tenant's, of its question and of an attempt at it."""
    ids = (70_000_000 + at, 71_000_000 + at, 72_000_000 + at)  # no other number in an answer
    body = f'{{"question": "Of {marker(tenant)}?", "options": ["1", "2", "3", "4"], "key": 0}}'
    connection.execute(
        "INSERT INTO study_sets (id, tenant_id, kind, title, wanted)"
        " VALUES (%s, %s, 'quiz', %s, 1)",
        (ids[0], tenant, f"The vault of {marker(tenant)}"),
    )
    connection.execute(
        "INSERT INTO study_items (id, tenant_id, set_id, n, kind, body)"
        " VALUES (%s, %s, %s, 1, 'choice', %s)",
        (ids[1], tenant, ids[0], body),
    )
    connection.execute(
        "INSERT INTO study_attempts (id, tenant_id, set_id) VALUES (%s, %s, %s)",
        (ids[2], tenant, ids[0]),
    )
    return ids
