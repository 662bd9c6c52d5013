"""A mailbox of Dovecot by tokens of OAuth, which a provider on loopback gives and takes back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from helix.domain.scope import DEFAULT_TENANT
from helix.library.source_secrets import seal, unseal
from helix.library.sources import change_source, load_source, reseal
from pipelines.sources.base import SourceError
from pipelines.sources.stored_source import open_source
from tests.servers.test_imap import mail, put
from tests.support.free_ports import free_port
from tests.support.ingest_command import become_a_user
from tests.support.mail_server import MailServer, mail_server
from tests.support.synced_source import SyncedSource
from tests.support.token_server import TokenServer, token_server
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def provider() -> Iterator[TokenServer]:
    with token_server() as running:
        yield running


@pytest.fixture(autouse=True)
def as_it_was(provider: TokenServer) -> None:
    """The provider as it was before any test."""
    fresh = TokenServer(url=provider.url)
    for name, value in vars(fresh).items():
        setattr(provider, name, value)


@pytest.fixture(scope="module", params=["xoauth2", "oauthbearer xoauth2"])
def server(request: pytest.FixtureRequest, provider: TokenServer) -> Iterator[MailServer]:
    with (
        mail_server(f"{provider.url}/introspect", request.param) as running,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("SSL_CERT_FILE", str(running.folder / "server.pem"))
        yield running


def signed_in(server: MailServer, secrets: dict[str, str]) -> int:
    """The messages of the mailbox, opened by these secrets."""
    source = open_source("imap", server.address, {}, secrets)
    try:
        return len(list(source.entries()))
    finally:
        source.close()


def test_a_token_is_had_and_kept_until_it_ends(server: MailServer, provider: TokenServer) -> None:
    secrets = provider.secrets()
    assert signed_in(server, secrets) == 0
    assert provider.forms == [
        {
            "grant_type": "refresh_token", "client_id": "helix-client",
            "client_secret": "secret-of-the-client", "refresh_token": "refresh-0",
        }
    ]  # fmt: skip
    assert secrets["access_token"] == "access-1"
    assert abs(float(secrets["access_token_ends"]) - time.time() - 3600) < 60
    assert signed_in(server, secrets) == 0 and provider.given == 1
    secrets["access_token_ends"] = str(int(time.time()) + 30)  # at its end
    assert signed_in(server, secrets) == 0 and provider.given == 2


def test_a_token_that_is_refused_before_its_end_is_renewed_once(
    server: MailServer, provider: TokenServer
) -> None:
    secrets = provider.secrets()
    signed_in(server, secrets)
    provider.active.clear()
    assert signed_in(server, secrets) == 0
    assert (provider.given, secrets["access_token"]) == (2, "access-2")
    provider.refresh = {"refresh-0": "somebody else"}  # whose mailbox it is not
    provider.active.clear()
    with pytest.raises(SourceError, match="does not let anna in") as caught:
        signed_in(server, secrets)
    assert provider.given == 3
    assert not {"access-2", "access-3", "refresh-0"} & set(str(caught.value).split())


def test_a_refresh_token_that_was_revoked_is_told_plainly(
    server: MailServer, provider: TokenServer
) -> None:
    provider.refresh.clear()
    with pytest.raises(SourceError) as caught:
        signed_in(server, provider.secrets())
    assert str(caught.value) == (
        "the token address at 127.0.0.1 refuses: the refresh token is not accepted any more, it"
        " was revoked or is too old: sign in there again, and give the source the new one"
    )


def test_a_client_that_is_none_and_an_address_that_is_away_are_told(
    server: MailServer, provider: TokenServer
) -> None:
    with pytest.raises(SourceError, match="refuses: it does not accept client_id") as caught:
        signed_in(server, provider.secrets(client_secret="wrong-secret"))
    assert "wrong-secret" not in str(caught.value)
    away = f"http://127.0.0.1:{free_port()}/token"
    with pytest.raises(SourceError, match=r"token address at 127\.0\.0\.1 cannot be reached"):
        signed_in(server, provider.secrets(token_url=away))
    provider.status = 500
    with pytest.raises(SourceError, match="it answered 500"):
        signed_in(server, provider.secrets())
    provider.status = 503
    with pytest.raises(SourceError, match="is busy: try again later"):
        signed_in(server, provider.secrets())


def test_what_is_missing_or_would_go_in_the_open_is_told(
    server: MailServer, provider: TokenServer
) -> None:
    with pytest.raises(SourceError, match="wants the secrets token_url, client_id too"):
        signed_in(server, {"refresh_token": "refresh-0"})
    with pytest.raises(SourceError, match="token_url is no https:// address"):
        signed_in(server, provider.secrets(token_url="http://login.example.com/token"))
    assert provider.forms == []


def test_a_token_address_of_the_network_is_refused_to_those_who_may_not(
    server: MailServer, provider: TokenServer
) -> None:
    with pytest.raises(SourceError, match="is loopback"):
        open_source(
            "imap", server.address, {"allow_hosts": ("localhost",)}, provider.secrets()
        ).close()
    assert provider.forms == []


def test_a_password_is_taken_by_the_same_server(server: MailServer) -> None:
    assert signed_in(server, {"password": "correct horse"}) == 0


def test_a_sync_keeps_its_token_and_a_refresh_token_of_one_use(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, provider: TokenServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    provider.rotates = True
    given = settings(durable_database_url)
    with mail_server(f"{provider.url}/introspect", "xoauth2") as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.folder / "server.pem"))
        with server.client() as client:
            put(client, mail("Pump", "The pump is emptied in May.", id="1@x"))
        sealed = seal(given, provider.secrets())
        source = SyncedSource(durable_database_url, "imap", server.address, secrets=sealed)
        assert source.sync()["last_error"] == "" and len(source.documents()) == 1

        def kept() -> dict[str, str]:
            with psycopg.connect(durable_database_url) as connection:
                return unseal(
                    given, load_source(connection, DEFAULT_TENANT, source.id).secrets or b""
                )

        assert (kept()["access_token"], kept()["refresh_token"]) == ("access-1", "refresh-1")
        assert source.sync()["last_error"] == "" and provider.given == 1
        provider.active.clear()
        assert source.sync()["last_error"] == "" and kept()["refresh_token"] == "refresh-2"

        provider.active.clear()
        provider.refresh.clear()
        assert "refresh token is not accepted any more" in source.sync()["last_error"]
        assert len(source.documents()) == 1


def test_secrets_that_were_given_meanwhile_stay(
    durable_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    given = settings(durable_database_url)
    opened, other, renewed = (seal(given, {"refresh_token": name}) for name in "abc")
    source = SyncedSource(durable_database_url, "imap", "imaps://a@b", secrets=opened)
    with psycopg.connect(durable_database_url) as connection:
        change_source(connection, DEFAULT_TENANT, source.id, {"secrets": other}, trusted=True)
        reseal(connection, DEFAULT_TENANT, source.id, renewed, before=opened)
        found = load_source(connection, DEFAULT_TENANT, source.id).secrets
        assert unseal(given, found or b"") == {"refresh_token": "b"}
        reseal(connection, DEFAULT_TENANT, source.id, renewed, before=other)
        found = load_source(connection, DEFAULT_TENANT, source.id).secrets
        assert unseal(given, found or b"") == {"refresh_token": "c"}
