"""Documents put to one conversation: found there, nowhere else, and gone with it."""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import Any

import httpx
import psycopg
import pytest

from helix.conversations.attachments import attach, space_of
from helix.conversations.receipts.erasure import erase_tenant
from helix.domain.contract import REFUSAL
from helix.domain.scope import tenant_name
from helix.errors import BadRequest
from helix.library.access import Library
from helix.library.errors import NotFound
from helix.library.uploads import Upload
from helix.store import ChunkStore
from tests.conversations.test_routes import ask, begun
from tests.support.live_server import end_run
from tests.support.query_service import store_text
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

SECRET = "The zebra sleeps in the observatory, as the zookeeper wrote.\n\nAnother paragraph."
WHERE = "Where does the zebra sleep, says the zookeeper?"


def put(client: httpx.Client, store: ChunkStore, conversation: str, text: str) -> dict[str, Any]:
    """A document of the conversation that nobody has read yet."""
    sent = client.post(
        f"/v1/conversations/{conversation}/attachments",
        files={"file": (f"{conversation}.txt", text.encode())},
    )
    assert sent.status_code == 202, sent.text
    (told,) = sent.json()["documents"]
    with psycopg.connect(store.connections.url, autocommit=True) as connection:
        end_run(connection, sent.json()["run_id"])
    return dict(told)


def attached(client: httpx.Client, store: ChunkStore, conversation: str, text: str) -> int:
    """A document of the conversation, read as a worker reads it."""
    told = put(client, store, conversation, text)
    own = store.of(space_of("default", conversation))
    read = store_text(own, told["source_uri"], "Zoo notes", text)
    with psycopg.connect(store.connections.url, autocommit=True) as connection:
        connection.execute("UPDATE documents SET status = 'ready' WHERE id = %s", (read,))
    assert read == told["id"]
    return read


def everything(client: httpx.Client, conversation: str, document: int) -> list[Any]:
    """The answers that the tenant, and another conversation, can get about the document."""
    other = begun(client)
    return [
        client.get("/v1/documents", params={"q": "zoo"}).json()["documents"],
        client.get("/v1/library").json()["total"],
        client.get(f"/v1/documents/{document}").status_code,
        client.get(f"/v1/conversations/{other}/attachments").json()["documents"],
        client.get(f"/v1/conversations/{other}/attachments/{document}").status_code,
        client.post("/v1/query", json={"question": WHERE}).json()["abstained"],
        ask(client, other, question=WHERE).json()["abstained"],
    ]


def test_a_document_of_a_conversation_is_found_there_alone(
    client: httpx.Client, store: ChunkStore
) -> None:
    conversation = begun(client)
    total = client.get("/v1/library").json()["total"]
    document = attached(client, store, conversation, SECRET)
    answer = ask(client, conversation, question=WHERE).json()
    assert answer["answer"].startswith("The zebra sleeps in the observatory")
    (citation,) = answer["citations"]
    assert (citation["document_id"], citation["page"]) == (document, 3)
    assert citation["quote"] in SECRET
    assert everything(client, conversation, document) == [[], total, 404, [], 404, True, True]
    kept = client.get(f"/v1/conversations/{conversation}").json()["path"][0]
    assert kept["response"]["answer"] == answer["answer"] and kept["stale"] == []
    verified = client.get(f"/v1/answers/{answer['answer_id']}/verify").json()
    assert verified["status"] == "holds"
    receipt = client.get(f"/v1/answers/{answer['answer_id']}").json()
    assert receipt["answer"] == answer["answer"]
    listed = client.get(f"/v1/conversations/{conversation}/attachments").json()["documents"]
    assert [(row["id"], row["status"]) for row in listed] == [(document, "ready")]
    read = client.get(f"/v1/conversations/{conversation}/attachments/{document}").json()
    assert read["text"] == SECRET
    # the library is searched as well
    assert ask(client, conversation).json()["answer"].startswith("Refunds are accepted")
    assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
    verified = client.get(f"/v1/answers/{answer['answer_id']}/verify").json()
    assert verified["status"] == "source deleted"
    left = "SELECT count(*) FROM documents WHERE tenant_id = %s"
    with psycopg.connect(store.connections.url) as connection:
        row = connection.execute(left, (space_of("default", conversation),)).fetchone()
    assert row == (0,)


def test_taking_one_away_takes_its_words_along(client: httpx.Client, store: ChunkStore) -> None:
    conversation = begun(client)
    document = attached(client, store, conversation, SECRET + " Again.")
    ask(client, conversation, question=WHERE)
    address = f"/v1/conversations/{conversation}"
    assert client.delete(f"{address}/attachments/{document}").status_code == 204
    assert client.delete(f"{address}/attachments/{document}").status_code == 404
    kept = client.get(address).json()["path"][0]
    assert "observatory" not in str(kept["response"]) and kept["question"] == WHERE
    assert "observatory" not in client.get(f"{address}/messages/{kept['id']}/events").text
    receipt = client.get(f"/v1/answers/{kept['answer_id']}").json()
    assert "observatory" not in str(receipt) and receipt["question"] == WHERE


def test_deleting_the_conversation_takes_their_words_out_of_receipts(
    client: httpx.Client, store: ChunkStore
) -> None:
    conversation = begun(client)
    attached(client, store, conversation, SECRET + " Once more.")
    answer = ask(client, conversation, question=WHERE).json()
    address = f"/v1/answers/{answer['answer_id']}"
    assert "observatory" in client.get(address).text
    assert client.delete(f"/v1/conversations/{conversation}").status_code == 204
    assert "observatory" not in client.get(address).text


async def test_what_is_attached_while_the_conversation_is_deleted_goes_too(
    client: httpx.Client, store: ChunkStore
) -> None:
    conversation = begun(client)
    deleted: list[int] = []

    def delete() -> None:
        deleted.append(client.delete(f"/v1/conversations/{conversation}").status_code)

    deleting = threading.Thread(target=delete)

    def data() -> bytes:
        deleting.start()
        deleting.join()  # between the look at the conversation and the document's transaction's end
        return SECRET.encode()

    upload = Upload("late.txt", "text", len(SECRET), sha256(SECRET.encode()).hexdigest(), data)
    with pytest.raises(NotFound):
        await attach(Library(store.of("default")), conversation, [upload])
    assert deleted == [204]
    begun(client, id=conversation)  # by somebody else, who is shown nothing of it
    listed = client.get(f"/v1/conversations/{conversation}/attachments").json()["documents"]
    assert listed == []


def test_taking_one_away_takes_it_out_of_what_a_refusal_shows(
    client: httpx.Client, store: ChunkStore, wire: GeminiWire
) -> None:
    conversation = begun(client)
    # of what is attached, and of the library beside it
    wire.script(Answer(deltas=(REFUSAL,)), Answer(deltas=(REFUSAL,)), on="generate")
    document = attached(client, store, conversation, SECRET + " And more.")
    refused = ask(client, conversation, question="Who feeds the zebra in the observatory?").json()
    address = f"/v1/conversations/{conversation}"
    kept = client.get(address).json()["path"][0]
    assert refused["abstained"] and "zookeeper" in str(kept["response"]["closest"])
    assert client.delete(f"{address}/attachments/{document}").status_code == 204
    assert "zookeeper" not in client.get(address).text


def test_one_is_added_to_the_library(client: httpx.Client, store: ChunkStore) -> None:
    conversation = begun(client)
    document = put(client, store, conversation, SECRET + " For all.")["id"]
    address = f"/v1/conversations/{conversation}/attachments"
    moved = client.post(f"{address}/{document}/library")
    assert moved.status_code == 202
    (told,) = moved.json()["documents"]
    assert client.get(f"/v1/documents/{told['id']}").json()["status"] == "processing"
    assert client.get(address).json()["documents"] == []
    assert client.delete(f"/v1/documents/{told['id']}").status_code == 204


def test_a_conversation_takes_five(client: httpx.Client) -> None:
    address = f"/v1/conversations/{begun(client)}/attachments"
    files = [("file", (f"{n}.txt", f"Words of number {n}.".encode())) for n in range(5)]
    assert client.post(address, files=files).status_code == 202
    sixth = client.post(address, files={"file": ("6.txt", b"One more.")})
    assert sixth.status_code == 400 and "takes 5 documents" in sixth.json()["error"]
    again = client.post(address, files=files[:1])
    assert again.status_code == 202 and again.json()["documents"][0]["duplicate"]
    nowhere = client.post("/v1/conversations/nowhere/attachments", files=files[:1])
    assert nowhere.status_code == 404
    malformed = client.post(address, files={"file": ("x.bin", b"\x00\x01\x02")})
    assert malformed.status_code == 415


def test_nobody_can_name_where_they_are_and_a_tenant_takes_them_along(
    client: httpx.Client, store: ChunkStore
) -> None:
    space = space_of("acme", "c")
    with pytest.raises(BadRequest):
        tenant_name(space)
    assert client.get("/v1/documents", params={"tenant_id": space}).status_code == 400
    store_text(store.of(space), "zoo.txt", "Zoo notes", SECRET)
    with psycopg.connect(store.connections.url) as connection:
        erase_tenant(connection, "acme")
        left = connection.execute("SELECT count(*) FROM chunks WHERE tenant_id = %s", (space,))
        assert left.fetchone() == (0,)
        connection.rollback()
