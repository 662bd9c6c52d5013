"""Erased documents: no table, cache or object has a word of one; a signed record of what went."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql as composed

from helix.conversations.receipts.document_erasure import clearing_of
from helix.storage.connections import Connections
from helix.storage.file_moves import move_next_file
from helix.storage.tenant_connections import TenantConnections
from tests.conversations.test_routes import ask, begun
from tests.support.bucket import bucket, objects
from tests.support.fake_embedder import rows
from tests.support.sample_documents import pdf
from tests.support.server_processes import served
from tests.support.service_process import Service, eventually, run
from tests.support.signed_answers import verifier
from tests.support.wire.gemini import GeminiWire

WORD = "zyxquorv"
QUESTION = "How many crates were stored at the depot in Haifa?"
FACTS = (
    f"At the depot in Haifa there were 149 crates of {WORD} stored last spring.",
    f"The keeper of the depot in Haifa, who counts the {WORD}, is paid monthly.",
    f"A crate of {WORD} weighs 30 kilograms and costs 12 euros.",
)
DOCUMENT = f"# The {WORD} of Haifa\n\n" + "\n\n".join(FACTS) + "\n"
OTHER = """# Bergen

At the depot in Bergen there were 12 barrels of oil stored last winter.

The keeper of the depot in Bergen is paid weekly, and lives in the harbour master's house.
"""
EXPECTED = {
    "documents", "chunks", "document_names", "document_values", "suggested_questions", "files",
    "run_files", "answers", "messages", "message_events", "study_items", "study_sources",
}  # fmt: skip
"""The tables that the word is found in before."""
_SUGGESTED = """
INSERT INTO suggested_questions (document_id, question, is_supported, library)
VALUES (%s, %s, true, '') RETURNING 1
"""
_PLANTED = """
WITH planted AS (INSERT INTO documents (title, source_uri, content_hash)
    SELECT 'The zyxquorv ' || n, 'zyxquorv/' || n, '' FROM generate_series(1, 3) n
    RETURNING id, title)
INSERT INTO suggested_questions (document_id, question, is_supported, library)
SELECT id, 'What is ' || title, true, '' FROM planted RETURNING 1
"""
_SAMPLED = """
SELECT tablename, attname FROM pg_stats
WHERE histogram_bounds::text ~ 'zyxquorv' ORDER BY 1, 2
"""
_TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema <> 'information_schema'
    AND (table_schema <> 'pg_catalog' OR table_name = 'pg_statistic')
"""


def found_in(url: str, word: str) -> set[str]:
    """The tables, of any schema, with a row that has the word: as text, or as bytes."""
    found = set()
    with psycopg.connect(url) as connection:
        for schema, table in connection.execute(_TABLES).fetchall():
            query = composed.SQL(
                "SELECT EXISTS (SELECT FROM {} t WHERE lower(t::text) ~ %s)"
            ).format(composed.Identifier(schema, table))
            pattern = f"{word}|{word.encode().hex()}"
            ((has,),) = connection.execute(query, (pattern,)).fetchall()
            found |= {table} if has else set()
        if "pg_statistic" in found:  # of which columns
            sampled = (
                "SELECT starelid::regclass::text, staattnum FROM pg_statistic s"
                " WHERE lower(s::text) ~ %s"
            )
            found |= {f"{one}.{n}" for one, n in connection.execute(sampled, (pattern,)).fetchall()}
    return found


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with bucket() as address:
        yield address


@pytest.fixture(scope="module")
def service(
    module_database_url: str, address: str, wire: GeminiWire,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:  # fmt: skip
    log = tmp_path_factory.mktemp("server") / "log"
    values = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini",
        "GEMINI_API_KEY": "wire-test-key", "GOOGLE_GEMINI_BASE_URL": wire.base_url,
        "RETRIEVAL_MAX_DISTANCE": "0.95", "HELIX_WORKERS": "1", "HELIX_FILES": address,
    }  # fmt: skip
    with served(log, **values) as service:
        yield service


def brought_in(client: httpx.Client, name: str, data: bytes, **fields: str) -> int:
    told = client.post("/v1/documents", files={"file": (name, data)}, data=fields)
    assert told.status_code in (200, 202), told.text
    number = told.json()["documents"][0]["id"]
    ready = lambda: client.get(f"/v1/documents/{number}").json().get("status") == "ready"  # noqa: E731
    assert eventually(ready, 90)
    return int(number)


def planted(client: httpx.Client, url: str) -> dict[str, Any]:
    """A document with the word, and one of each thing that may have words of a document.

    Most tables have rows of that document alone, and are empty once it is erased.
    """
    brought_in(client, "bergen.md", OTHER.encode())
    document = brought_in(
        client, f"{WORD}.md", DOCUMENT.encode(), metadata=json.dumps({"goods": WORD})
    )
    answer = client.post("/v1/query", json={"question": QUESTION}).json()
    assert WORD in answer["answer"], answer
    assert WORD in client.get("/ask", params={"q": QUESTION}).text
    agent = client.post("/v1/query", json={"question": QUESTION, "mode": "agent"}).json()
    conversation = begun(client)
    for question in (QUESTION, "And who is the keeper of it paid by?", "Why that?"):
        assert ask(client, conversation, question=question).status_code == 200
    streamed = ask(client, conversation, question="What does a crate weigh?", stream=True)
    assert WORD in streamed.text
    made = study_set(client, document)
    rows(url, _SUGGESTED, document, f"How heavy is {WORD}?")  # unasked, none costs money here
    return {"document": document, "answer": answer["answer_id"], "agent": agent["answer_id"],
            "conversation": conversation, "study": made["id"]}  # fmt: skip


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_no_word_of_an_erased_document_is_anywhere(
    service: Service, module_database_url: str, address: str, tmp_path: Path
) -> None:
    url = module_database_url
    with httpx.Client(base_url=service.url, timeout=60) as client:
        made = planted(client, url)
        number = made["document"]
        text = client.get(f"/v1/documents/{number}").json()["text"]
        analyze(url)
        before = found_in(url, WORD)
        assert before >= EXPECTED - {"files"}, EXPECTED - before
        keys = [key for (key,) in rows(url, "SELECT metadata_ ->> 'embedding_key' FROM chunks"
                                       " WHERE document_id = %s", number)]  # fmt: skip
        cached = "SELECT count(*)::int FROM embedding_cache WHERE key = ANY(%s)"
        assert rows(url, cached, keys) == [(len(set(keys)),)]
        move_files(url, address)
        assert any(WORD.encode() in data for data in objects(address).values())

        told = client.post("/v1/erasures", json={"document_id": number})
        assert told.status_code == 200, told.text
        assert WORD not in told.text
        assert found_in(url, WORD) == set()
        assert rows(url, cached, keys) == [(0,)]
        assert not any(WORD.encode() in data for data in objects(address).values())
        marks_and_answers(client, made)
        record_holds(client, tmp_path, told.content, number, text)
        again = client.post("/v1/erasures", json={"document_id": number, "names": True}).json()
        assert again["proof"]["removed"] == told.json()["proof"]["removed"]
        assert again["proof"]["names"] is None, "they went with it"
        assert client.post("/v1/erasures", json={"document_id": 10**9}).status_code == 404
    assert WORD not in service.logged()
    export = tmp_path / "export"
    done = run("-m", "helix.cli", "export", str(export), DATABASE_URL=url, HELIX_FILES=address)
    assert done.returncode == 0, done.stderr
    files = [path for path in export.rglob("*") if path.is_file()]
    assert files and not any(WORD.encode() in path.read_bytes().lower() for path in files)


def study_set(client: httpx.Client, document: int) -> dict[str, Any]:
    """Cards of a document."""
    asked = {"kind": "cards", "count": 5, "document_ids": [document]}
    made = client.post("/v1/study", json=asked).json()
    done = lambda: client.get(f"/v1/study/{made['id']}").json()["status"] == "done"  # noqa: E731
    assert eventually(done, 90)
    found: dict[str, Any] = client.get(f"/v1/study/{made['id']}").json()
    assert found["items"]
    return found


def analyze(url: str) -> None:
    """Have the planner take samples of what is there, as it does by itself now and then."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")


def move_files(url: str, address: str) -> None:
    """Move original files to the bucket now, and not within half a minute."""
    store = TenantConnections(Connections(url, pool_size=1), "default")
    while move_next_file(store, address):
        continue


def marks_and_answers(client: httpx.Client, made: dict[str, Any]) -> None:
    """Old answers say that a source of theirs was removed, and when; no new one has it."""
    number = made["document"]
    for answer in (made["answer"], made["agent"]):
        receipt = client.get(f"/v1/answers/{answer}").json()
        assert receipt["answer"] is None
        (mark,) = receipt["removed"]
        assert mark["document_id"] == number and mark["removed_at"].startswith("20")
    path = client.get(f"/v1/conversations/{made['conversation']}").json()["path"]
    assert path[0]["response"]["answer"] is None
    (stale,) = path[0]["stale"]
    assert (stale["document_id"], stale["change"], stale["title"]) == (number, "deleted", None)
    assert stale["removed_at"].startswith("20")
    for message in path:
        told = client.get(
            f"/v1/conversations/{made['conversation']}/messages/{message['id']}/events"
        )
        assert WORD not in told.text
    assert client.get(f"/v1/documents/{number}").status_code == 404
    assert WORD not in client.get("/ask", params={"q": QUESTION}).text
    items = client.get(f"/v1/study/{made['study']}").json()["items"]
    assert not any(source["document_id"] == number for one in items for source in one["sources"])


def record_holds(
    client: httpx.Client, folder: Path, content: bytes, number: int, text: str
) -> None:
    """The record is verified by one file without a package, and tells what went."""
    signed, original = folder / "erasure.json", folder / "text.txt"
    signed.write_bytes(content)
    original.write_text(text)
    keys = folder / "keys.json"
    keys.write_bytes(client.get("/.well-known/helix-keys.json").content)
    checked = verifier(signed, "--text", original, "--key", keys)
    assert checked.returncode == 0, checked.stdout
    assert f"document {number} removed at 20" in checked.stdout
    assert "the text of the document that was removed" in checked.stdout
    assert verifier(signed, "--text", keys).returncode == 1
    changed = content.replace(b'"chunks":', b'"chunks" :').replace(
        b'"characters":', b'"characters":1'
    )
    (folder / "altered.json").write_bytes(changed)
    assert "NOT VERIFIED" in verifier(folder / "altered.json").stdout
    proof = json.loads(content)["proof"]
    assert proof["text_sha256"] == sha256(text.encode()).hexdigest()
    assert proof["file_sha256"] == sha256(DOCUMENT.encode()).hexdigest()
    assert proof["removed"].keys() >= {
        "documents", "chunks", "answers", "messages", "study_items", "suggested_questions", "files",
        "embedding_cache", "run_files",
    }  # fmt: skip
    assert proof["remaining"] == {"backups": []} and "names" not in proof


@pytest.mark.parametrize("version", [160_010, 180_004])
def test_the_samples_of_an_emptied_table_go(database_url: str, version: int) -> None:
    """Of a library whose one document was erased; each way, as the version of Postgres has it."""
    clearing = clearing_of(version, is_superuser=version < 180_000)
    assert clearing and clearing_of(160_010, is_superuser=False) is None
    rows(database_url, _PLANTED)
    analyze(database_url)
    sampled = rows(database_url, _SAMPLED)
    assert {("documents", "title"), ("suggested_questions", "question")} <= set(sampled)
    rows(database_url, "DELETE FROM documents RETURNING 1")
    analyze(database_url)
    assert rows(database_url, _SAMPLED) == sampled, "ANALYZE keeps them"
    with psycopg.connect(database_url) as connection:
        connection.execute(clearing)
    assert found_in(database_url, WORD) == set()


@pytest.mark.processes
def test_an_image_of_a_page_goes(service: Service, module_database_url: str) -> None:
    with httpx.Client(base_url=service.url, timeout=60) as client:
        number = brought_in(client, "print.pdf", pdf("The plorvanq was printed in Haifa."))
        page = f"/v1/documents/{number}/pages/1.png"
        drawn = client.get(page)
        assert drawn.status_code == 200
        assert client.delete(f"/v1/documents/{number}").status_code == 204
        assert client.get(page, headers={"If-None-Match": drawn.headers["etag"]}).status_code == 404
        record = client.post("/v1/erasures", json={"document_id": number}).json()["proof"]
        assert record["removed"]["document_pages"] == 1, "it was deleted before, and is told of"
        assert found_in(module_database_url, "plorvanq") == set()


@pytest.mark.processes
def test_what_is_put_to_a_conversation_goes_with_it(
    service: Service, module_database_url: str
) -> None:
    with httpx.Client(base_url=service.url, timeout=60) as client:
        word, text = "grumbelto", DOCUMENT.replace(WORD, "grumbelto")
        conversation = begun(client)
        attached = f"/v1/conversations/{conversation}/attachments"
        told = client.post(attached, files={"file": ("note.md", text.encode())}).json()
        (one,) = told["documents"]
        ready = lambda: client.get(attached).json()["documents"][0]["status"] == "ready"  # noqa: E731
        assert eventually(ready, 90)
        assert word in ask(client, conversation, question=QUESTION).text
        assert word in ask(client, conversation, question="And who keeps it?", stream=True).text
        assert {"messages", "answers"} <= found_in(module_database_url, word)
        assert client.delete(f"{attached}/{one['id']}").status_code == 204
        gone = lambda: found_in(module_database_url, word) <= {"pg_statistic"}  # noqa: E731
        assert eventually(gone, 60), found_in(module_database_url, word)


@pytest.mark.processes
def test_the_command_names_the_backups_that_remain(
    service: Service, module_database_url: str, tmp_path: Path
) -> None:
    values = {
        "DATABASE_URL": module_database_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"
    }  # fmt: skip
    with httpx.Client(base_url=service.url, timeout=60) as client:
        number = brought_in(client, "kept.md", OTHER.replace("Bergen", "Narvik").encode())
    for name, *more in (("a.zip", "--keep-days", "30"), ("b.zip",), ("c.zip",)):
        done = run("-m", "helix.cli", "backup", str(tmp_path / name), *more, **values)
        assert done.returncode == 0, done.stderr
    done = run("-m", "helix.cli", "backup", str(tmp_path / "c.zip"), "--gone", **values)
    assert done.returncode == 0, done.stderr
    listed = run("-m", "helix.cli", "backup", **values).stdout
    assert re.findall(r"\w\.zip", listed) == ["b.zip", "a.zip"]
    command = ("-m", "helix.cli", "erasure", str(number), "--yes", "--names")
    done = run(*command, **values)
    assert done.returncode == 0, done.stderr
    proof = json.loads(done.stdout)["proof"]
    assert [one["file"] for one in proof["remaining"]["backups"]] == ["a.zip", "b.zip"]
    assert "it remains in the backup b.zip until it is deleted" in done.stderr
    assert proof["names"]["file_name"] == "kept.md"
    record = tmp_path / "record.json"
    record.write_text(done.stdout)
    assert run("-m", "helix.cli", "prove", str(record)).returncode == 0
    assert run(*command, **values).returncode == 0, "it is known what went"
