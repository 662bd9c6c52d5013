"""The audit log before it is written: alike events are one, and none is lost without a count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from helix.library.audit import (
    AuditLog,
    Event,
    delete_old_events,
    list_events,
    record_command,
    store_events,
)

REFUSED = Event("refusal", "GET /v1/runs", address="192.0.2.7", status=401)


def test_alike_events_are_one_with_a_count() -> None:
    log = AuditLog()
    for _ in range(7):
        log.record(REFUSED)
    log.record(Event("write", "DELETE /v1/documents/{document_id}", "acme", 3, object="document 1"))
    (first, _, n), (second, _, once) = log.drain()
    assert (first, n, second.tenant, once) == (REFUSED, 7, "acme", 1)
    assert log.drain() == []


def test_what_has_no_room_is_counted_and_told() -> None:
    dropped: list[int] = []
    log = AuditLog(dropped.append, most=3)
    for number in range(10):
        log.record(Event("refusal", "GET /v1/runs", address=f"192.0.2.{number}", status=401))
    log.record(Event("refusal", "GET /v1/runs", address="192.0.2.1", status=401))
    taken = log.drain()
    assert [(event.kind, n) for event, _, n in taken] == [
        ("refusal", 1), ("refusal", 2), ("refusal", 1), ("dropped", 7),
    ]  # fmt: skip
    assert sum(dropped) == 7
    log.requeue(taken)  # the database was away
    log.record(REFUSED)
    assert [n for _, _, n in log.drain()] == [1, 2, 1, 8]
    assert sum(dropped) == 8


def test_a_key_is_told_of_once_an_hour_for_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("helix.library.audit.time.monotonic", lambda: now)
    log = AuditLog()
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1"):
        log.record_key_use(1, "acme", address)
    log.record_key_use(2, "acme", "192.0.2.1")
    assert len(log.drain()) == 3
    now += 3599
    log.record_key_use(1, "acme", "192.0.2.1")
    assert log.drain() == []
    now += 2
    log.record_key_use(1, "acme", "192.0.2.1")
    assert len(log.drain()) == 1


def test_events_are_listed_by_time_and_tenant_and_kept_for_so_long(database_url: str) -> None:
    now = datetime.now(UTC)
    old = Event("write", "POST /v1/documents", "acme", 1, "192.0.2.7", "run 4", 202)
    with psycopg.connect(database_url, autocommit=True) as connection:
        store_events(connection, [(old, now - timedelta(days=3), 1), (REFUSED, now, 5)])
        record_command(connection, "helix keys create", "acme", "key 1")
        day, week = timedelta(days=1), timedelta(days=7)
        assert [e.kind for e in list_events(connection, week)] == ["write", "refusal", "command"]
        assert [e.kind for e in list_events(connection, day)] == ["refusal", "command"]
        assert [e.n for e in list_events(connection, week, most=2)] == [5, 1]
        (first, second) = list_events(connection, week, "acme")
        assert (first.key_id, first.object, first.status) == (1, "run 4", 202)
        assert (second.action, second.object) == ("helix keys create", "key 1")
        assert delete_old_events(connection, 2) == 1
        assert [e.kind for e in list_events(connection, week)] == ["refusal", "command"]
