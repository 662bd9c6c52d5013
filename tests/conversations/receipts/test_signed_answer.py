"""Signed answers: what is in one, what none is made of, whose key signs. Offline models."""

from __future__ import annotations

import asyncio
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from helix.conversations.receipts.signed_answer import signed_answer
from helix.conversations.receipts.verify_answer import compare, verified
from helix.domain.contract import REFUSAL
from helix.errors import BadRequest
from helix.library.errors import Conflict, NotFound
from helix.library.keys import create_key
from helix.library.signing_keys import (
    SigningKey,
    listed_keys,
    renew_own_key,
    signing_key,
    withdraw_key,
)
from helix.services import Services
from helix.settings import load_settings
from helix.storage.statements.sessions import ROLE
from helix.store import ChunkStore
from tests.conversations.test_attachments import SECRET, WHERE, attached
from tests.conversations.test_routes import ask as ask_in
from tests.conversations.test_routes import begun
from tests.support.fake_embedder import rows
from tests.support.live_server import OFFLINE, live
from tests.support.receipt_corpus import ask, bring_in, document, fact, question, services
from tests.support.scripted_model import delete, saying

Json = dict[str, Any]
CONFIGURED = "5e" * 32


async def made(opened: Services, reference: str, tenant: str = "default") -> Json:
    """The proof of an answer, whose signature holds."""
    signed = await signed_answer(opened.library.of(tenant), reference, opened.settings)
    proof, _ = verified(json.dumps(signed).encode())
    assert proof == signed["proof"]
    return proof


async def test_it_has_the_answer_its_spans_and_the_hashes_of_their_texts(database_url: str) -> None:
    async with services(database_url, HELIX_URL="https://docs.example.com") as opened:
        await bring_in(opened, *map(document, range(4)))
        asked = question(2)
        done = await ask(opened, asked)
        proof = await made(opened, done.question.answer_id)
        text = f"About depots.\n\n{fact(2)}"
        (stored,) = rows(database_url, "SELECT id, content_hash FROM documents WHERE title = 'D2'")
        assert (proof["question"], proof["answer"]) == (asked, done.text)
        assert (proof["answer_id"], proof["abstained"]) == (done.question.answer_id, False)
        assert proof["issuer"] == "https://docs.example.com"
        assert proof["made_by"]["model"].startswith("offline")
        spans = [span for one in proof["statements"] for span in one["spans"]]
        assert all(one["supported"] and one["numbers"] == [1] for one in proof["statements"])
        assert spans and all(text[one["start"] : one["end"]] == one["quote"] for one in spans)
        (citation,) = proof["citations"]
        assert (citation["title"], citation["quote"]) == ("D2", spans[0]["quote"])
        (listed,) = proof["documents"]
        assert (listed["document_id"], listed["title"]) == (stored[0], "D2")
        assert listed["text_sha256"] == sha256(text.encode()).hexdigest()
        assert listed["characters"] == len(text)
        assert "every quote in its place" in compare(proof, text.encode())
        assert "/2.txt" not in json.dumps(proof), "where it lies on the server is nobody's business"


async def test_a_refusal_is_signed_too(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, document(1))
        refused = await ask(opened, "zebra quagga okapi")
        proof = await made(opened, refused.question.answer_id)
        assert (proof["answer"], proof["abstained"], proof["reason"]) == (
            REFUSAL,
            True,
            "below_gate",
        )
        assert (proof["statements"], proof["citations"], proof["documents"]) == ([], [], [])
        assert proof["made_by"]["model"] is None and proof["issuer"] is None


async def test_odd_characters_are_signed_as_they_are(database_url: str) -> None:
    said = "There were 114 crates stored at the depot 2 in Cadiz. [1] \x00 \ud800 𝕏"
    async with services(database_url, saying(said)) as opened:
        await bring_in(opened, document(2))
        done = await ask(opened, f"{question(2)}\udfff")
        proof = await made(opened, done.question.answer_id)
        assert proof["question"] == f"{question(2)}\udfff"
        assert "\x00 \ud800 𝕏" in proof["answer"]


async def test_numbers_are_those_that_its_reader_saw(database_url: str) -> None:
    said = "At the depot 2 in Cadiz there were 114 crates stored last spring. [2]"
    async with services(database_url, saying(said)) as opened:
        await bring_in(opened, *map(document, range(4)))
        done = await ask(opened, question(2))
        proof = await made(opened, done.question.answer_id)
        assert "[2]" in done.text and "[1]" in proof["answer"]
        assert [one["n"] for one in proof["citations"]] == [1, 2]  # the second has the words
        for statement in proof["statements"]:
            assert (statement["status"], statement["numbers"]) == ("misattributed", [1])
            assert [span["n"] for span in statement["spans"]] == [2]
            said = proof["answer"][statement["start"] : statement["end"]]
            assert said.startswith("At the depot 2") and said.endswith("[1]")


async def test_none_is_made_of_what_changed_or_went(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        done = await ask(opened, question(2))
        number, cited = done.question.answer_id, done.cited_documents[0]
        await made(opened, number)
        await bring_in(opened, document(2, f"About all depots, moved down.\n\n{fact(2)}"))
        with pytest.raises(Conflict, match=f"document {cited} was changed since; ask again"):
            await made(opened, number)
        # the quote is where it was, and the file is another
        await bring_in(opened, document(2, f"About depots.\n\n{fact(2)}\n\nMore."))
        with pytest.raises(Conflict, match=f"document {cited} was changed"):
            await made(opened, number)
        await delete(opened, cited)
        with pytest.raises(Conflict, match="its words went with a document that was deleted"):
            await made(opened, number)
        assert (await made(opened, (await ask(opened, question(3))).question.answer_id))["answer"]


async def test_it_is_found_by_its_text(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        first, last = [await ask(opened, question(2)) for _ in range(2)]
        await bring_in(opened, document(2), tenant="other")
        await ask(opened, question(2), "other")
        digest = sha256(first.text.encode()).hexdigest()
        assert first.text == last.text
        assert (await made(opened, digest))["answer_id"] == last.question.answer_id
        with pytest.raises(NotFound, match="no answer with this text: receipts are kept for 30"):
            await made(opened, digest[::-1])
        with pytest.raises(NotFound):
            await made(opened, digest, "third")


async def test_receipts_that_are_not_kept_prove_nothing(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, document(1))
        done = await ask(opened, question(1))
        number = done.question.answer_id
        with pytest.raises(BadRequest, match="an answer's id has 32 hex characters"):
            await made(opened, "no id")
        with pytest.raises(NotFound, match=f"no answer {number}: receipts are kept"):
            await made(opened, number, "other")
        rows(
            database_url,
            "UPDATE answers SET created_at = now() - interval '30 days' RETURNING id",
        )
        for reference in (number, sha256(done.text.encode()).hexdigest()):
            with pytest.raises(NotFound, match="receipts are kept for 30 days"):
                await made(opened, reference)
    async with services(database_url, receipt_days=0) as opened:
        with pytest.raises(NotFound, match="HELIX_RECEIPT_DAYS=0 keeps none"):
            await made(opened, number)


def test_a_document_of_a_conversation_is_proved_too(
    client: httpx.Client, store: ChunkStore
) -> None:
    conversation = begun(client)
    read = attached(client, store, conversation, SECRET)
    answered = ask_in(client, conversation, question=WHERE).json()
    told = client.get(f"/v1/answers/{answered['answer_id']}/proof")
    assert told.status_code == 200, told.text
    proof, _ = verified(told.content)
    assert [one["document_id"] for one in proof["documents"]] == [read]
    assert "every quote in its place" in compare(proof, SECRET.encode())


def test_only_the_tenant_s_key_with_the_scope_gets_it_and_anybody_the_public_keys(
    database_url: str,
) -> None:
    """Another tenant's answer is one that never was, as it is of receipts."""

    async def answered() -> str:
        async with services(database_url) as opened:
            await bring_in(opened, document(1), tenant="acme")
            return (await ask(opened, question(1), "acme")).question.answer_id

    place = f"/v1/answers/{asyncio.run(answered())}/proof"
    with psycopg.connect(database_url) as connection:
        asks = create_key(connection, "acme", scopes=["ask"])[1]
        reads = create_key(connection, "acme", scopes=["read"])[1]
        others = create_key(connection, "other")[1]
    with live(database_url, auth="keys") as client:
        assert client.get(place).status_code == 401
        told = {
            key: client.get(place, headers={"Authorization": f"Bearer {key}"})
            for key in (asks, reads, others)
        }
        assert [one.status_code for one in told.values()] == [200, 403, 404]
        key = told[asks].json()["signature"]["public_key"]
        listed = client.get("/.well-known/helix-keys.json").json()["keys"]
        assert [one["public_key"] for one in listed] == [key]


def test_the_role_of_requests_reads_public_keys_and_no_private_one(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        signing_key(connection, None)
        connection.execute(f"SET ROLE {ROLE}")
        assert len(connection.execute("SELECT public_key FROM signing_keys").fetchall()) == 1
        for statement in (
            "SELECT FROM signing_secret", "UPDATE signing_secret SET private_key = 'x'",
            "DELETE FROM signing_keys", "INSERT INTO signing_keys VALUES ('x', 'y')",
        ):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


def test_servers_that_start_at_once_sign_with_one_key(database_url: str) -> None:
    def key(_: int) -> str:
        with psycopg.connect(database_url) as connection:
            return signing_key(connection, None).private

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(key, range(8)))) == 1


def test_former_keys_stay_listed_and_a_withdrawn_one_does_not(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert not renew_own_key(connection) and not withdraw_key(connection, "0" * 16)
        first = signing_key(connection, None)
        assert signing_key(connection, None) == first
        assert renew_own_key(connection)
        second = signing_key(connection, None)
        given = signing_key(connection, SecretStr(CONFIGURED))
        assert given == SigningKey(CONFIGURED) and len({first.key_id, second.key_id}) == 2
        listed = {one["key_id"] for one in listed_keys(connection)}
        assert listed == {one.key_id for one in (first, second, given)}
        assert withdraw_key(connection, first.key_id) and withdraw_key(connection, second.key_id)
        assert [one["key_id"] for one in listed_keys(connection)] == [given.key_id]
        third = signing_key(connection, None)
        assert third.key_id not in listed, "a withdrawn key signs no more"


async def test_a_private_key_is_in_no_log_and_no_text_of_settings(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    settings = load_settings(database_url="embedded", signing_key=CONFIGURED, **OFFLINE)
    assert CONFIGURED not in repr(settings) + str(settings) + repr(SigningKey(CONFIGURED))
    async with services(database_url, signing_key=CONFIGURED) as opened:
        await bring_in(opened, document(1))
        done = await ask(opened, question(1))
        signed = await signed_answer(opened.library, done.question.answer_id, opened.settings)
        assert signed["signature"]["key_id"] == SigningKey(CONFIGURED).key_id
        assert CONFIGURED not in json.dumps(signed) + caplog.text
        assert rows(database_url, "SELECT count(*) FROM signing_secret") == [(0,)]
