"""Outages: a full disk is waited for as a silent database is, and told as what it is."""

from __future__ import annotations

import psycopg
import pytest

from helix.errors import StoreUnavailable
from helix.storage.connections import unavailable
from pipelines import outages
from pipelines.outages import through_outages


def _failing(error: psycopg.Error, times: int) -> list[StoreUnavailable]:
    failures = []
    for _ in range(times):
        told = unavailable(error)
        told.__cause__ = error
        failures.append(told)
    return failures


async def _carried(failures: list[StoreUnavailable]) -> int:
    async def operation() -> int:
        if failures:
            raise failures.pop()
        return 7

    return await through_outages(operation)


async def test_work_goes_on_when_somebody_made_room() -> None:
    failures = _failing(psycopg.errors.DiskFull("no space left on device"), 2)
    assert "the database's disk is full: make room there" in str(failures[0])
    assert await _carried(failures) == 7
    assert failures == []


async def test_a_database_that_takes_no_writes_is_waited_for() -> None:
    failures = _failing(psycopg.errors.ReadOnlySqlTransaction("cannot execute INSERT"), 2)
    assert "the database takes no writes" in str(failures[0])
    assert await _carried(failures) == 7


async def test_a_limit_of_the_server_is_not_waited_for() -> None:
    failures = _failing(psycopg.errors.OutOfMemory("out of memory"), 2)
    with pytest.raises(StoreUnavailable):
        await _carried(failures)
    assert len(failures) == 1


async def test_what_is_waited_for_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    full = psycopg.errors.DiskFull("no space left on device")
    outages._notice = outages._Notice()
    for _ in range(2):
        assert await _carried(_failing(full, 2)) == 7
    told = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert told == ["waiting: the database's disk is full: make room there, then try again"]
