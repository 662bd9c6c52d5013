"""Suggested questions: asked once beside everything else, shown only where they are answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import psycopg
import pytest

from helix.domain.records import Section
from helix.domain.suggestions import Suggestion
from helix.library.suggestions import list_suggestions, read_materials
from helix.services import Services
from helix.serving import suggested_questions
from helix.serving.suggested_questions import is_strong, renew, suggest
from helix.storage.document_deletes import delete_one
from tests.support.fake_embedder import record
from tests.support.live_server import live
from tests.support.receipt_corpus import ask, bring_in, services

POLICY = (
    "Returns\n\nRefunds are accepted within 30 days of purchase. Gift cards are not returned.\n\n"
    "Invoices are paid within 14 days of delivery."
)
NOTICE = "The harbour of Bergen is closed in winter."
UNANSWERED = "Who painted the ceiling of the chapel?"


@pytest.fixture
async def opened(database_url: str) -> AsyncIterator[Services]:
    async with services(database_url, receipt_days=30) as found:
        yield found


async def shown(services: Services, tenant: str = "default") -> list[str]:
    rows = await list_suggestions(services.library.of(tenant), None, None)
    return [row["question"] for row in rows]


def counted(url: str, statement: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(statement).fetchone()
    return int(row[0]) if row else 0


async def test_only_what_is_answered_with_proof_is_shown(
    opened: Services, database_url: str
) -> None:
    await bring_in(opened, record("policy.txt", POLICY, "Refund Policy"))
    notice = record("notice.txt", NOTICE, "Notice")
    headed = Section(0, len(NOTICE), heading_path=(UNANSWERED,))
    await bring_in(opened, replace(notice, sections=(headed,)))
    await bring_in(opened, record("other.txt", POLICY, "Refund Policy"), tenant="other")
    await renew(opened, "default", "2", pause=0)
    found = await shown(opened)
    assert "Within how many days are refunds accepted?" in found
    assert UNANSWERED not in found
    assert counted(database_url, "SELECT count(*) FROM suggested_questions") > len(found)
    assert await shown(opened, "other") == []
    # no receipt, and nothing in the metrics
    assert counted(database_url, "SELECT count(*) FROM answers") == 0
    body, _ = await opened.metrics.scrape("")
    assert b"helix_answers_total{" not in body
    assert b"helix_first_token_seconds_count 0" in body


LIMITS = (
    "Berths", "{0} berths are booked within 5 days of the request.",
    "{0} fees are paid within 14 days of arrival.", "{0} cranes are checked within 30 days of use.",
)  # fmt: skip


async def test_they_are_of_different_documents_as_far_as_there_are_any(opened: Services) -> None:
    for harbour in ("Bergen", "Ostend", "Cadiz"):
        text = "\n\n".join(LIMITS).format(harbour)
        await bring_in(opened, record(f"{harbour}.txt", text, f"Harbour of {harbour}"))
    await renew(opened, "default", "3", pause=0)
    rows = await list_suggestions(opened.library.of("default"), None, None)
    assert len(rows) > 3
    assert len({row["document_id"] for row in rows[:3]}) == 3, "the first ones are of all three"


async def test_documents_are_read_all_over_the_library(opened: Services, database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO documents (source_uri, title, content_hash, text, status, updated_at)"
            " SELECT n || '.txt', 'Document ' || n, repeat('0', 64), '', 'ready',"
            " now() - n * interval '1 day' FROM generate_series(0, 99) n"
        )
    titles = [one.title for one in await read_materials(opened.library.of("default"))]
    assert 12 < len(titles) <= 24
    assert titles[0] == "Document 0", "the newest is among them"
    assert titles == [f"Document {n}" for n in range(0, 100, 5)]


async def test_an_answer_beside_the_document_or_the_point_is_not_strong(
    opened: Services,
) -> None:
    await bring_in(opened, record("policy.txt", POLICY, "Refund Policy"))
    answer = await ask(opened, "Within how many days are refunds accepted?")
    (number,) = answer.cited_documents
    own = Suggestion(number, answer.question.text)
    assert is_strong(answer, own)
    assert not is_strong(answer, replace(own, document_id=number + 1)), "another document answers"
    doubtful = replace(answer, proof=replace(answer.proof, answers=0.2))
    assert not is_strong(doubtful, own)
    assert is_strong(doubtful, replace(own, value="30")), "the very number that is known"
    assert not is_strong(answer, replace(own, value="31"))


async def test_an_answer_under_the_heading_asked_about_may_be_less_sure(opened: Services) -> None:
    await bring_in(opened, record("policy.txt", POLICY, "Refund Policy"))
    answer = await ask(opened, "Within how many days are refunds accepted?")
    (number,) = answer.cited_documents
    for citation in answer.citations:
        citation["heading_path"] = ["Rules", "Returns of goods"]
    fair = replace(answer, proof=replace(answer.proof, answers=0.6))
    own = Suggestion(number, answer.question.text, heading="Returns of goods")
    assert is_strong(fair, own)
    assert not is_strong(fair, replace(own, heading="Letters")), "it stands elsewhere"
    assert not is_strong(fair, replace(own, heading="")), "it is not known where it stands"
    assert not is_strong(replace(fair, proof=replace(fair.proof, answers=0.3)), own)


async def test_suggestions_follow_the_documents(
    opened: Services, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suggested_questions, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(suggested_questions, "_PAUSE_SECONDS", 0.0)
    await bring_in(opened, record("policy.txt", POLICY, "Refund Policy"))
    task = asyncio.create_task(suggest(opened))
    try:
        await until(opened, lambda found: any("refunds" in one for one in found))
        with opened.store.connection() as connection, connection.transaction():
            (row,) = connection.execute("SELECT id FROM documents").fetchall()
            assert delete_one(connection, "default", row[0], "policy.txt")
        assert await shown(opened) == []
        await bring_in(opened, record("new.txt", POLICY.replace("Invoices", "Letters"), "New"))
        await until(opened, lambda found: any("letters" in one for one in found))
    finally:
        task.cancel()


async def until(services: Services, wanted: object) -> None:
    assert callable(wanted)
    async with asyncio.timeout(60):
        while not wanted(await shown(services)):
            await asyncio.sleep(0.05)


async def test_a_service_that_costs_money_is_not_asked_unasked(database_url: str) -> None:
    async with services(database_url, suggestions="off") as opened:
        async with asyncio.timeout(60):  # it ends at once
            await suggest(opened)


def test_suggestions_are_narrowed_by_document_and_tag(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for number in (1, 2):
            connection.execute(
                "INSERT INTO documents (source_uri, title, content_hash, text, tags)"
                " VALUES (%s, %s, repeat('0', 64), '', %s)",
                (f"{number}.txt", f"Document {number}", [f"tag {number}"]),
            )
        connection.execute(
            "INSERT INTO suggested_questions (document_id, question, is_supported, library)"
            " SELECT id, 'About ' || title || '?', title <> 'Document 3', '' FROM documents"
        )
        connection.execute(
            "INSERT INTO suggested_questions (document_id, question, is_supported, library)"
            " SELECT min(id), 'Unanswered?', false, '' FROM documents"
        )
        ids = [row[0] for row in connection.execute("SELECT id FROM documents ORDER BY id")]
    with live(database_url) as client:

        def asked(**params: object) -> list[str]:
            answer = client.get("/v1/suggestions", params=params)  # type: ignore[arg-type]
            return [one["question"] for one in answer.json()["questions"]]

        assert asked() == ["About Document 1?", "About Document 2?"]
        assert asked(document_id=ids[1]) == ["About Document 2?"]
        assert asked(document_id=ids) == ["About Document 1?", "About Document 2?"]
        assert asked(tag="tag 1") == ["About Document 1?"]
        assert asked(tag=["tag 1", "tag 2"]) == []
        assert asked(tenant_id="other") == []
        for wrong in ({"document_id": 2**63}, {"document_id": -1}, {"tag": "a\x00b"}, {"tag": ""}):
            assert client.get("/v1/suggestions", params=wrong).status_code == 400
