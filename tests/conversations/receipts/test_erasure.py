"""Erasing a tenant: nothing of it is left, nor written after. Offline models."""

from __future__ import annotations

from functools import partial

import pytest

from helix.conversations.receipts.erasure import (
    StillRunning,
    erase_person,
    erase_tenant,
)
from helix.conversations.receipts.receipt_store import rate
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
