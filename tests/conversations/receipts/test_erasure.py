"""Erasing a tenant: nothing of it is left, nor written after. Offline models."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import psycopg
import pytest

from helix.conversations.receipts.erasure import (
    StillRunning,
    erase_person,
    erase_tenant,
)
from helix.conversations.receipts.receipt_store import rate
from helix.study.progress.actions import Learner, RecordedAction
from helix.study.progress.storage import store
from tests.support.fake_embedder import rows
from tests.support.receipt_corpus import ask, bring_in, document, question, services


async def test_erasing_a_tenant_leaves_nothing_of_it_and_all_of_others(database_url: str) -> None:
    tables = ("documents", "chunks", "chunk_terms", "term_changes", "answers", "feedback",
              "api_keys", "runs")  # fmt: skip
    count = " UNION ALL ".join(
        f"SELECT '{table}', count(*) FROM {table} WHERE tenant_id = $tenant$" for table in tables
    )

    def counts(tenant: str) -> dict[str, int]:
        return dict(rows(database_url, count.replace("$tenant$", f"'{tenant}'")))

    async with services(database_url) as opened:
        for tenant in ("gone", "stays"):
            await bring_in(opened, document(1), tenant=tenant)
            done = await ask(opened, question(1), tenant)
            library = opened.library.of(tenant)
            rating = partial(rate, answer_id=done.question.answer_id, rating="up", note="a\x00",
                             days=30, tenant=tenant)  # fmt: skip
            added = await library.change(rating)
            assert added["note"] == "a\x00"
            rows(
                database_url,
                "INSERT INTO api_keys (tenant_id, name, hint, key_hash) VALUES (%s, 'n', 'h', %s)"
                " RETURNING id",
                tenant, tenant,
            )  # fmt: skip
            rows(
                database_url,
                "INSERT INTO runs (tenant_id, kind, status) VALUES (%s, 'upload', 'running')"
                " RETURNING id",
                tenant,
            )
        before = counts("stays")
        assert all(before.values())
        with opened.store.connection() as connection:
            with pytest.raises(StillRunning, match="helix runs --tenant gone cancel"):
                erase_tenant(connection, "gone")
            connection.execute("UPDATE runs SET status = 'done'")
            with connection.transaction():
                told = erase_tenant(connection, "gone")
        assert told == {"answers": 1, "documents": 1, "runs": 1, "keys": 1}
        assert not any(counts("gone").values())
        assert counts("stays") == before
        assert (await ask(opened, question(1), "gone")).reason == "no_documents"
        assert not (await ask(opened, question(1), "stays")).abstained


async def test_what_is_being_answered_while_its_tenant_is_erased_is_not_kept(
    database_url: str,
) -> None:
    async with services(database_url) as opened:
        assert opened.receipts
        asked = {tenant: await ask(opened, question(1), tenant) for tenant in ("gone", "stays")}
        with opened.store.connection() as connection, connection.transaction():
            erase_tenant(connection, "gone")
            assert await opened.receipts.save(asked["gone"], "", 5.0), "it waits for no erasure"
        assert await opened.receipts.save(asked["gone"], "", 60.0)
        kept = "SELECT count(*)::int FROM answers WHERE tenant_id = %s"
        assert rows(database_url, kept, "gone") == [(0,)]
        assert rows(database_url, kept, "stays") == [(1,)]
        await ask(opened, question(2), "gone")
        assert rows(database_url, kept, "gone") == [(1,)], "a tenant of the same name begins anew"


async def test_what_is_being_answered_while_its_asker_is_erased_is_not_kept(
    database_url: str,
) -> None:
    async with services(database_url) as opened:
        assert opened.receipts
        answer = await ask(opened, question(1))
        with opened.store.connection() as connection, connection.transaction():
            erase_person(connection, 7)
        rows(database_url, "DELETE FROM answers RETURNING 1")
        for owner, count in (("person:7", 0), ("person:8", 1)):
            assert await opened.receipts.save(answer, owner, 60.0)
            assert rows(database_url, "SELECT count(*)::int FROM answers") == [(count,)]


_STUDIED = """
WITH made AS (INSERT INTO study_sets (kind, wanted, owner) VALUES ('quiz', 1, 'person:8')
    RETURNING tenant_id, id),
item AS (INSERT INTO study_items (tenant_id, set_id, n, kind, body)
    SELECT tenant_id, id, 1, 'card', '{}' FROM made RETURNING tenant_id, id),
who (learner) AS (VALUES ('person 7'), ('person 8')),
tried AS (INSERT INTO study_attempts (tenant_id, set_id, learner)
    SELECT tenant_id, id, learner FROM made, who),
card AS (INSERT INTO study_cards (tenant_id, item_id, learner, card, due_at)
    SELECT tenant_id, id, learner, '{}', now() FROM item, who),
used AS (INSERT INTO usage_counts (tenant_id, subject, kind, day, n)
    SELECT tenant_id, learner, 'tokens', current_date, 1 FROM made, who)
INSERT INTO study_reviews (tenant_id, item_id, learner, rating)
SELECT tenant_id, id, learner, 'good' FROM item, who RETURNING 1
"""
_WHOSE = """
SELECT learner, count(*)::int FROM (SELECT learner FROM study_attempts
    UNION ALL SELECT learner FROM study_cards UNION ALL SELECT learner FROM study_reviews
    UNION ALL SELECT subject FROM usage_counts) found GROUP BY 1 ORDER BY 1
"""


def test_what_the_erased_answered_in_study_sets_of_others_goes(database_url: str) -> None:
    rows(database_url, _STUDIED)
    assert rows(database_url, _WHOSE) == [("person 7", 4), ("person 8", 4)]
    with psycopg.connect(database_url) as connection:
        erase_person(connection, 7)
    assert rows(database_url, _WHOSE) == [("person 8", 4)]


def test_no_progress_is_written_of_who_was_erased(database_url: str) -> None:
    done = [RecordedAction(datetime.now(UTC), "question_asked", 1)]
    with psycopg.connect(database_url) as connection:
        erase_person(connection, 7)
        connection.commit()
        for name in ("person 7", "person 8"):
            store(connection, Learner("default", name), done, timedelta(minutes=15))
    assert rows(database_url, "SELECT learner FROM progress_totals") == [("person 8",)]
