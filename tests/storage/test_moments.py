"""Questions of a moment are answered as they were then, whatever was replaced since."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import httpx
import psycopg
import pytest

from helix.conversations.receipts.replay import replay
from helix.conversations.receipts.signed_answer import signed_answer
from helix.conversations.receipts.stored_sources import rebuild_prompt, verify_citations
from helix.domain.records import DocumentRecord
from helix.domain.scope import Scope
from helix.library.documents import remove_document
from helix.storage.statements.moments import DROP_OLD
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.receipt_corpus import ask, bring_in, document, fact, question, services
from tests.support.scripted_model import receipt_of

KEPT: dict[str, Any] = {"keep_versions_days": 30}


def edited(number: int, edit: int) -> DocumentRecord:
    """The document with other figures, a paragraph in front, and now and then a title."""
    text = f"Note {edit} of {edit % 7} words.\n\n{fact(number + 1000 * (edit + 1))}\n\nSee {edit}."
    return document(number, text)


def changed(url: str, count: int, edits: int, more: int) -> None:
    """Replace documents, add some, and remove none."""

    async def change() -> None:
        draw = random.Random(7)
        async with services(url, **KEPT) as opened:
            for edit in range(edits):
                await bring_in(opened, edited(draw.randrange(count), edit))
            await bring_in(opened, *(document(number) for number in range(count, count + more)))

    asyncio.run(change())


def asked(client: httpx.Client, numbers: Sequence[int], moment: str | None = None) -> list[bytes]:
    params = {} if moment is None else {"as_of": moment}
    found = []
    for number in numbers:
        told = client.get("/ask", params={"q": question(number), **params})
        assert told.status_code == 200, told.text
        found.append(told.content)
    return found


def otherwise_than_then(url: str, count: int, edits: int) -> list[int]:
    """The numbers of questions whose answer of then is not what it was before the edits."""

    async def fill() -> None:
        async with services(url, **KEPT) as opened:
            await bring_in(opened, *map(document, range(count)))

    asyncio.run(fill())
    numbers = list(range(count))
    with live(url, **KEPT) as client:
        before = asked(client, numbers)
        assert sum(b"crates stored" in one for one in before) > 0.9 * count
        moment = datetime.now(UTC).isoformat()
        changed(url, count, edits, min(20, count))
        now = asked(client, numbers)
        assert sum(one != other for one, other in zip(before, now, strict=True)) > count // 3
        then = asked(client, numbers, moment)
        return [n for n in numbers if then[n] != before[n]]


def test_answers_are_those_of_then(database_url: str) -> None:
    assert otherwise_than_then(database_url, 10, 15) == []


async def test_a_receipt_of_then_holds_and_is_replayed(database_url: str) -> None:
    async with services(database_url, **KEPT) as opened:
        await bring_in(opened, *map(document, range(6)))
        done = await ask(opened, question(3))
        receipt = await receipt_of(opened, done)
        await bring_in(opened, *(edited(number, 50) for number in range(6)))

        now = await replay(opened.answering, opened.library, receipt, opened.configuration)
        assert not now.identical and now.causes[0].kind == "index changed"
        then = await replay(
            opened.answering, opened.library, receipt, opened.configuration, of_then=True
        )
        assert then.identical and then.causes == []

        moment = datetime.fromisoformat(receipt["created_at"])
        again = await ask(opened, question(3), scope=Scope("default", as_of=moment))
        assert (again.text, again.citations) == (done.text, done.citations)
        kept = await receipt_of(opened, again)
        assert kept["scope"]["as_of"] == moment.isoformat()
        assert (await verify_citations(opened.library, kept))["status"] == "holds"
        assert (await rebuild_prompt(opened.library, kept)).lost is None
        assert (await signed_answer(opened.library, kept["answer_id"], opened.settings))["proof"]


async def test_what_may_be_read_is_said_by_now_and_erased_is_erased(database_url: str) -> None:
    async with services(database_url, **KEPT) as opened:
        await bring_in(opened, *map(document, range(6)))
        moment = datetime.now(UTC)
        await bring_in(opened, *(edited(number, 50) for number in range(6)))
        rows(database_url, "INSERT INTO spaces (tenant_id, id, name) VALUES ('default', 7, 'Board')"
                           " RETURNING 1")  # fmt: skip
        rows(database_url, "UPDATE documents SET spaces = '{7}' WHERE title = 'D3' RETURNING 1")
        for number, spaces, found in ((3, (0,), False), (3, (7,), True), (2, (0,), True)):
            scope = Scope("default", spaces=spaces, as_of=moment)
            assert (fact(number)[:40] in (await ask(opened, question(number), scope=scope)).text
                    ) is found, (number, spaces)  # fmt: skip
        ((number,),) = rows(database_url, "SELECT id FROM documents WHERE title = 'D2'")
        kept = "SELECT count(*)::int FROM chunk_versions WHERE document_id = %s"
        assert rows(database_url, kept, number)[0][0] > 0
        await opened.library.change(
            lambda connection: remove_document(connection, number, "default")
        )
        assert rows(database_url, kept, number) == [(0,)]
        scope = Scope("default", as_of=moment)
        assert fact(2)[:40] not in (await ask(opened, question(2), scope=scope)).text


def test_a_moment_that_is_not_kept_is_refused(database_url: str) -> None:
    begun = datetime.now(UTC)

    async def fill(**more: Any) -> None:
        async with services(database_url, **more) as opened:
            await bring_in(opened, *(edited(number, 50) for number in range(3)))

    asyncio.run(fill())
    old = datetime.now(UTC)
    asyncio.run(fill())
    assert rows(database_url, "SELECT count(*)::int FROM document_versions") == [(0,)]
    asyncio.run(fill(**KEPT))
    assert rows(database_url, "SELECT count(*)::int FROM document_versions") == [(3,)]
    with live(database_url, **KEPT) as client:
        for moment, said in (
            (old, "is not kept whole"), (datetime.now(UTC) + timedelta(hours=1), "not been yet"),
            (begun - timedelta(days=31), "is not kept whole"),
        ):  # fmt: skip
            for path, body in (("/v1/query", {"question": "x?", "as_of": moment.isoformat()}),):
                told = client.post(path, json=body)
                assert (told.status_code, said in told.text) == (400, True), told.text
        assert client.get("/ask", params={"q": "x?", "as_of": "yesterday"}).status_code == 400
        latest = datetime.now(UTC).isoformat()
        assert client.get("/v1/search", params={"q": "crates", "as_of": latest}).json()["results"]
        far = datetime.fromisoformat(latest).astimezone(timezone(timedelta(hours=23))).isoformat()
        assert client.get("/v1/search", params={"q": "crates", "as_of": far}).json()["results"]
        empty = client.get("/v1/search", params={"q": "crates", "as_of": begun.isoformat()})
        assert empty.json()["results"] == [], "nothing was there yet"
        told = client.post("/v1/query", json={"question": "x?", "as_of": begun.isoformat()}).json()
        assert told["reason"] == "no_documents" and begun.isoformat() in told["reason_text"]
        conversation = client.post("/v1/conversations", json={}).json()["id"]
        asked = {"question": question(51000), "as_of": latest, "stream": False}
        told = client.post(f"/v1/conversations/{conversation}/messages", json=asked)
        assert told.status_code == 200 and told.json()["citations"], told.text
        path = client.get(f"/v1/conversations/{conversation}").json()["path"]
        assert path[0]["scope"] == {"as_of": latest}
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert connection.execute(DROP_OLD, (30,)).rowcount == 0
        assert connection.execute(DROP_OLD, (0,)).rowcount == 3
        assert connection.execute("SELECT count(*) FROM chunk_versions").fetchone() == (0,)


@pytest.mark.soak
def test_three_hundred_answers_before_a_thousand_edits(database_url: str) -> None:
    assert otherwise_than_then(database_url, 300, 1000) == []
