"""One tenant's slow files keep no other tenant's waiting."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from functools import partial
from hashlib import sha256
from typing import Any

import psycopg
import pytest

from helix.library.uploads import Upload, store_uploads
from helix.settings import load_settings
from pipelines.runs.worker import open_worker
from pipelines.sandbox import Sandbox
from tests.support.fake_embedder import rows
from tests.support.service_process import eventually

pytestmark = pytest.mark.processes

STATUSES = """
SELECT r.tenant_id, f.status FROM run_files f JOIN runs r ON r.id = f.run_id ORDER BY r.id, f.n
"""


def uploaded(url: str, tenant: str, *texts: bytes) -> None:
    """Upload ``texts``, a file each, in one run."""
    files = [Upload(f"{n}.txt", "text", len(text), sha256(text).hexdigest(), partial(bytes, text))
             for n, text in enumerate(texts)]  # fmt: skip
    with psycopg.connect(url) as connection:
        store_uploads(connection, files, tenant)


async def test_one_tenants_slow_files_keep_no_others_waiting(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = load_settings(
        database_url=database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline"
    )
    going_on, read = asyncio.Event(), Sandbox.read

    async def slow_read(self: Sandbox, kind: str, data: bytes, *rest: Any) -> Any:
        if data.startswith(b"slow"):
            await going_on.wait()
        return await read(self, kind, data, *rest)

    monkeypatch.setattr(Sandbox, "read", slow_read)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # as many files are read at once

    def are(**statuses: dict[str, int]) -> bool:
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for tenant, status in rows(database_url, STATUSES):
            found[tenant][status] += 1
        return found == statuses

    uploaded(database_url, "greedy", *(b"slow %d" % n for n in range(4)))
    async with open_worker(settings, files_at_once=2):
        slow = {"reading": 1, "queued": 3}
        waits = partial(are, greedy=slow)
        assert await asyncio.to_thread(eventually, waits), rows(database_url, STATUSES)
        uploaded(database_url, "modest", b"Crate 2 holds 8 lanterns.")
        passes = partial(are, greedy=slow, modest={"added": 1})
        assert await asyncio.to_thread(eventually, passes), rows(database_url, STATUSES)
        going_on.set()
        all_done = partial(are, greedy={"added": 4}, modest={"added": 1})
        assert await asyncio.to_thread(eventually, all_done), rows(database_url, STATUSES)
