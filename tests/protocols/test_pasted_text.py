"""A long last message is a question and a text that is read for its turn, in each protocol."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import psycopg
import pytest

from helix.conversations.attachments import space_of
from helix.serving.background_tasks import tidy
from helix.storage.tenant_store import TenantStore
from helix.store import ChunkStore
from tests.support.ai_sdk import chat, parts_of, text_of
from tests.support.live_server import end_run
from tests.support.query_service import store_text
from tests.support.wire.gemini import GeminiWire

FACT = "The zebra sleeps in the observatory, as the zookeeper wrote."
QUESTION = "Where does the zebra sleep, says the zookeeper?"
FILLING = " ".join(f"Line {n} of the diary tells of the weather." for n in range(120))
WAITING = """
SELECT d.id, d.tenant_id, d.source_uri, f.run_id FROM documents d
JOIN run_files f ON f.document_id = d.id
WHERE d.status = 'processing' AND position('/' IN d.tenant_id) > 0
"""
SPACES = "SELECT tenant_id FROM documents WHERE position('/pasted-' IN tenant_id) > 0"


@contextmanager
def a_reader(store: ChunkStore, text: str, error: str = "") -> Iterator[None]:
    """A worker that reads what is put to a conversation, or pasted: it is ``text``."""
    stopped = threading.Event()

    def work() -> None:
        with psycopg.connect(store.connections.url, autocommit=True) as connection:
            while not stopped.wait(0.02):
                for number, tenant, uri, run_id in connection.execute(WAITING).fetchall():
                    status = "failed" if error else "ready"
                    if not error:
                        assert store_text(store.of(tenant), uri, "Pasted Text", text) == number
                    connection.execute(
                        "UPDATE documents SET status = %s, error = %s WHERE id = %s",
                        (status, error, number),
                    )
                    end_run(connection, run_id)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _completion(client: httpx.Client, message: str) -> Any:
    body = {"model": "helix", "messages": [{"role": "user", "content": message}]}
    return client.post("/v1/chat/completions", json=body)


def _responses(client: httpx.Client, message: str) -> Any:
    return client.post("/v1/responses", json={"model": "helix", "input": message})


@pytest.mark.parametrize("ask", [_completion, _responses], ids=["chat", "responses"])
def test_the_text_is_answered_from_and_no_document_of_the_library(
    client: httpx.Client, store: ChunkStore, ask: Callable[[httpx.Client, str], Any]
) -> None:
    text = f"{FACT}\n\n{FILLING} {ask.__name__}"
    total = client.get("/v1/library").json()["total"]
    with a_reader(store, text):
        told = ask(client, f"{text}\n\n{QUESTION}")
        assert told.status_code == 200, told.text
        again = ask(client, f"{QUESTION}\n\n{text}")
    for answered in (told.json(), again.json()):
        assert FACT.partition(",")[0] in str(answered)
        helix, address = answered["helix"], f"/#/answer/{answered['helix']['answer_id']}"
        assert address in str(answered), "the text has no page: its link leads to the answer"
        assert f"/#/source/{helix['pasted']}" not in str(answered)
        receipt = client.get(f"/v1/answers/{helix['answer_id']}").json()
        assert receipt["question"] == QUESTION
    assert told.json()["helix"]["pasted"] == again.json()["helix"]["pasted"], "it is read once"
    assert client.get("/v1/library").json()["total"] == total
    plain = client.post("/v1/query", json={"question": QUESTION}).json()
    assert plain["abstained"], "no other question finds it"


def test_a_stream_is_answered_from_it_too(client: httpx.Client, store: ChunkStore) -> None:
    text = f"{FACT}\n\n{FILLING} In a stream."
    body = {
        "model": "helix", "stream": True,
        "messages": [{"role": "user", "content": f"{text}\n {QUESTION}"}],
    }  # fmt: skip
    with a_reader(store, text):
        told = client.post("/v1/chat/completions", json=body).text
    assert "observatory" in told and told.endswith("data: [DONE]\n\n")


def test_an_earlier_text_is_left_out_of_the_history(client: httpx.Client, wire: GeminiWire) -> None:
    messages = [
        {"role": "user", "content": f"{QUESTION}\n\n{FILLING} Hippopotamus."},
        {"role": "assistant", "content": "In the observatory."},
        {"role": "user", "content": "How long is a refund accepted?"},
    ]
    wire.requests.clear()
    told = client.post("/v1/chat/completions", json={"model": "helix", "messages": messages})
    assert told.status_code == 200, told.text
    for asked in (rewritten_and_answered := wire.received("generate")):
        assert "Hippopotamus" not in str(asked.body) and QUESTION in str(asked.body)
    assert len(rewritten_and_answered) == 2


def test_what_cannot_be_read_or_told_apart_names_the_clients_key(
    client: httpx.Client, store: ChunkStore
) -> None:
    unread = f"{QUESTION}\n\n{FILLING} Unreadable."
    with a_reader(store, "", "there is no text in it"):
        for ask, key in ((_completion, "messages"), (_responses, "input")):
            for message, reason in (
                (unread, "the pasted text cannot be read: there is no text in it"),
                ("x" * 4001, "the last message has 4001 characters; the limit is 4000"),
            ):
                refused = ask(client, message)
                error = refused.json()["error"]
                assert (refused.status_code, error["param"]) == (400, key)
                assert error["message"] == reason


def test_the_ai_sdk_pastes_into_a_turn_or_into_its_conversation(
    client: httpx.Client, store: ChunkStore
) -> None:
    text = f"{FACT}\n\n{FILLING} For the SDK."
    message = f"{text}\n\n{QUESTION}"
    with a_reader(store, text):
        parts = parts_of(client.post("/v1/ui/chat", json=chat(message)))
        kept = parts_of(client.post("/v1/ui/chat", json=chat(message, chat_id="zoo", resume=True)))
    for told in (parts, kept):
        assert FACT.partition(",")[0] in text_of(told)
    (path,) = client.get("/v1/conversations/zoo").json()["path"]
    assert path["question"] == QUESTION
    (listed,) = client.get("/v1/conversations/zoo/attachments").json()["documents"]
    assert listed["status"] == "ready" and space_of("default", "zoo")


def test_a_text_that_no_question_had_for_a_day_is_deleted(
    client: httpx.Client, store: ChunkStore
) -> None:
    text = f"{FACT}\n\n{FILLING} For a day."
    with a_reader(store, text):
        assert _completion(client, f"{text}\n\n{QUESTION}").status_code == 200
    tenants = TenantStore(
        store.connections.url, "gemini:gemini-embedding-001:1536", ef_search=100, pool_size=1
    )
    with psycopg.connect(store.connections.url, autocommit=True) as connection:
        tidy(tenants, 30)
        spaces = {space for (space,) in connection.execute(SPACES).fetchall()}
        old = spaces.pop()
        connection.execute(
            "UPDATE documents SET updated_at = now() - interval '25 hours' WHERE tenant_id = %s",
            (old,),
        )
        tidy(tenants, 30)
        assert {space for (space,) in connection.execute(SPACES).fetchall()} == spaces
        left = "SELECT count(*) FROM chunks WHERE tenant_id = %s"
        assert connection.execute(left, (old,)).fetchone() == (0,)
