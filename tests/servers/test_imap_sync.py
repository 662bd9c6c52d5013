"""A mailbox of Dovecot brought in by syncs: a folder that is numbered anew keeps its documents."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import pytest

from helix.library.source_secrets import seal
from tests.servers.test_imap import mail, put
from tests.support.ingest_command import become_a_user
from tests.support.mail_server import PASSWORD, mail_server
from tests.support.synced_source import SyncedSource
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

pytestmark = pytest.mark.servers


def test_a_folder_numbered_anew_keeps_its_documents_and_their_chunks(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", secrets.token_hex(32))
    kept = [mail(f"Pump {n}", f"Pump {n} is emptied in May.", id=f"{n}@x") for n in range(6)]
    with mail_server() as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.folder / "server.pem"))
        with server.client() as client:
            client.folder.create("Team")
            put(client, *kept, mail("Boiler", "The boiler is old.", id="9@x"), folder="Team")
        given: dict[str, Any] = {
            "secrets": seal(settings(durable_database_url), {"password": PASSWORD})
        }
        source = SyncedSource(durable_database_url, "imap", server.address, **given)
        assert source.sync()["last_error"] == ""
        before, chunks = source.documents(), source.chunks()
        assert len(before) == 7
        assert source.sync()["counts"]["unchanged"] == 7

        with server.client() as client:
            client.folder.delete("Team")
            client.folder.create("Team")
            put(client, *kept, folder="Team")
        row = source.sync()
        assert row["last_error"] == "" and row["counts"]["moved"] == 6
        after = source.documents()
        assert len(after) == 6 and set(after.values()) < set(before.values())
        assert not after.keys() & before.keys()
        assert set(source.chunks()) < set(chunks) and len(source.chunks()) == len(chunks) - 1
