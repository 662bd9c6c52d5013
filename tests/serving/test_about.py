"""GET /v1/about: the tenant of who asks, and whether the model sees."""

from __future__ import annotations

import psycopg

from helix import __version__
from helix.library.keys import create_key
from tests.support.live_server import live


def test_without_keys_the_named_tenant_is_told(database_url: str) -> None:
    with live(database_url) as client:
        told = client.get("/v1/about").json()
        assert told == {
            "tenant": "default", "auth": "off", "version": __version__, "images": False,
            "voice": False, "study": True, "mode": "answer", "model": "offline",
            "models": [{
                "name": "offline", "title": "No model: quotes only",
                "identity": "offline:extractive-1", "quotes_only": True,
                "images": False,
            }],
        }  # fmt: skip
        assert client.get("/v1/about", params={"tenant_id": "acme"}).json()["tenant"] == "acme"


def test_a_key_learns_its_own_tenant_and_a_model_that_sees_says_so(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        secret = create_key(connection, "umbra")[1]
    values = {"auth": "keys", "llm": "gemini", "gemini_api_key": "wire-test-key"}
    with live(database_url, **values) as client:
        assert client.get("/v1/about").status_code == 401
        told = client.get("/v1/about", headers={"Authorization": f"Bearer {secret}"}).json()
    assert (told["tenant"], told["auth"], told["images"]) == ("umbra", "keys", True)
    assert told["voice"] is True
