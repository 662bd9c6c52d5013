"""Runs of a worker in this process: small files that are uploaded, and what came of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256

import psycopg

from helix.domain.scope import DEFAULT_TENANT
from helix.library.uploads import Upload, UploadResult, store_uploads
from helix.settings import Settings, load_settings
from pipelines.runs.worker import open_worker
from tests.support.fake_embedder import rows
from tests.support.service_process import eventually

PAID = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "gemini", "GEMINI_API_KEY": "test-key"}
ENDED = "SELECT id, status, error FROM runs WHERE finished_at IS NOT NULL ORDER BY id"


def upload(text: str, name: str = "a.txt", source_uri: str | None = None) -> Upload:
    data = text.encode()
    return Upload(
        name, "text", len(data), sha256(data).hexdigest(), lambda: data, source_uri=source_uri
    )


def stored(url: str, *uploads: Upload) -> UploadResult:
    with psycopg.connect(url) as connection:
        return store_uploads(connection, uploads, DEFAULT_TENANT)


def crates(count: int) -> list[Upload]:
    """Small files that differ in name and content."""
    return [upload(f"Crate {n} holds {n + 7} lanterns.", f"{n}.txt") for n in range(count)]


def statuses(url: str, run_id: int | None) -> list[str]:
    found = rows(url, "SELECT status FROM run_files WHERE run_id = %s ORDER BY n", run_id)
    return [status for (status,) in found]


async def comes_true(holds: Callable[[], bool], seconds: float = 60) -> bool:
    """``eventually``, while the worker of this loop goes on."""
    return await asyncio.to_thread(eventually, holds, seconds)


async def carried_out(url: str) -> None:
    """A worker of this process has done all there was to do."""
    async with open_worker(settings(url), until_idle=True) as (_, attending):
        await asyncio.wait_for(attending, 60)


def settings(url: str) -> Settings:
    return load_settings(
        database_url=url, gemini_api_key="test-key", HELIX_LLM="offline", HELIX_EMBEDDER="gemini"
    )
