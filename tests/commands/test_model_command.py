"""`helix model`: fetched from a hub on loopback, listed, removed; and the hosts it contacted."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from helix.library.privacy.contacts import store_kept_contacts
from helix.store import ChunkStore
from tests.support.cli_runner import helix
from tests.support.model_hub import REPOSITORY, model_hub


async def test_a_model_is_fetched_listed_and_removed(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with model_hub({"small-Q4_K_M.gguf": b"GGUF" + bytes(1_000_000)}) as hub:
        variables = {"HF_ENDPOINT": hub.url, "XDG_DATA_HOME": str(tmp_path)}
        done = helix("model", "pull", REPOSITORY, **variables)
        assert done.returncode == 0, done.stderr
        path = tmp_path / "helix/models/small-Q4_K_M.gguf"
        assert done.stdout.strip() == str(path) and path.stat().st_size == 1_000_004
        assert "licence: apache-2.0" in done.stderr
        assert "helix up --model local:small-Q4_K_M.gguf" in done.stderr
    listed = helix("model", "list", **variables)
    assert "local:small-Q4_K_M.gguf" in listed.stdout and "apache-2.0" in listed.stdout

    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    store = ChunkStore(database_url, "offline")
    store_kept_contacts(store)
    store_kept_contacts(store)  # each is counted once
    await store.close()
    port = int(hub.url.rpartition(":")[2])
    with psycopg.connect(database_url) as connection:
        found = connection.execute(
            "SELECT process, host, n FROM contacts WHERE port = %s", [port]
        ).fetchall()
    assert found == [("fetching", "127.0.0.1", len(hub.asked))]
    assert list((tmp_path / "helix/contacts").iterdir()) == []

    assert "is deleted" in helix("model", "rm", "small-Q4_K_M", **variables).stdout
    gone = helix("model", "rm", "small-Q4_K_M", **variables)
    assert gone.returncode == 1 and "no model is named small-Q4_K_M" in gone.stderr
    assert "none in" in helix("model", "list", **variables).stderr
