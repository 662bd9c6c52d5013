"""Signing in with a real provider: npm's oidc-provider on loopback, by its own forms."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest
from joserfc.jwk import RSAKey

from tests.serving.accounts.conftest import Accounts, fill
from tests.support.live_server import live

pytestmark = pytest.mark.node
NODE = Path(__file__).parent / "node"
_NAVIGATES = {"Origin": "", "Sec-Fetch-Site": "none"}


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


@contextmanager
def provider(port: int, address: str, key: str) -> Iterator[None]:
    """The provider at ``port``, which signs with a new key called ``key``."""
    assert (NODE / "node_modules").is_dir(), "npm's oidc-provider is missing: run `make node`"
    private = RSAKey.generate_key(2048, {"kid": key, "alg": "RS256", "use": "sig"})
    given = {
        "port": port, "redirect": f"{address}/v1/sign-in/corp/callback",
        "logout": f"{address}/web/sign-in.html", "keys": [private.as_dict(private=True)],
    }  # fmt: skip
    process = subprocess.Popen(
        ["node", "provider.mjs", json.dumps(given)],
        cwd=NODE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any(line == "listening\n" for line in lines), "the provider did not start"
        yield
    finally:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@dataclass
class Corp:
    """Helix with a provider at ``port``."""

    accounts: Accounts
    port: int


@pytest.fixture
def corp(database_url: str) -> Iterator[Corp]:
    port = free_port()
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    given = {
        "name": "corp", "title": "The corporation", "issuer": f"http://127.0.0.1:{port}",
        "client_id": "helix", "client_secret": "a secret of the client's", "tenant": "acme",
        "scopes": "openid email profile groups", "groups": "groups", "role": "reader",
    }  # fmt: skip
    with live(database_url, auth="accounts", oidc=[given]) as client:
        yield Corp(Accounts(str(client.base_url).rstrip("/"), database_url), port)


def brought_back(browser: httpx.Client, login: str) -> str:
    """The address at Helix that the provider leads to, after its forms were filled in."""
    told = browser.get("/v1/sign-in/corp", params={"next": "/#/library"})
    for _ in range(12):
        if told.is_redirect:
            place = told.headers["Location"]
            if "/callback?" in place:
                return str(place)
            told = browser.get(told.url.join(place), headers=_NAVIGATES)
            continue
        action = re.search(r'action="([^"]+)"', told.text)
        assert action, told.text
        asks = 'name="login"' in told.text
        form = {"prompt": "login", "login": login, "password": "any"} if asks else {
            "prompt": "consent"
        }  # fmt: skip
        told = browser.post(told.url.join(action[1]), data=form, headers=_NAVIGATES)
    raise AssertionError("the provider's forms had no end")


def signed_in(browser: httpx.Client, login: str) -> str:
    """The place that Helix leads the browser to at last."""
    place = brought_back(browser, login)
    back = browser.get(place, headers={"Sec-Fetch-Site": "cross-site"})
    assert back.status_code == 303
    return str(back.headers["Location"])


def test_people_sign_in_with_their_provider_and_out_of_both(corp: Corp) -> None:
    with provider(corp.port, corp.accounts.address, "one"):
        browser = corp.accounts.browser()
        (listed,) = browser.get("/v1/sign-in").json()["providers"]
        assert listed == {"name": "corp", "title": "The corporation"}
        assert signed_in(browser, "ada") == "/#/library"
        who = browser.get("/v1/session").json()
        assert (who["person"]["email"], who["role"]) == ("ada@example.com", "owner")
        names = [each["name"] for each in browser.get("/v1/groups").json()["groups"]]
        assert names == ["research", "staff"]
        place = browser.delete("/v1/session").json()["next"]
        assert place.startswith(f"http://127.0.0.1:{corp.port}/session/end?id_token_hint=")
        asked = browser.get(place, headers=_NAVIGATES)
        assert asked.status_code == 200 and "sign-out" in asked.text
        assert browser.get("/v1/session").status_code == 401


def test_strangers_of_the_provider_become_readers_and_liars_nothing(corp: Corp) -> None:
    with provider(corp.port, corp.accounts.address, "one"):
        stranger, liar = corp.accounts.browser(), corp.accounts.browser()
        signed_in(stranger, "new")
        assert stranger.get("/v1/session").json()["role"] == "reader"
        assert "problem" in signed_in(liar, "liar")
        assert liar.get("/v1/session").status_code == 401


def test_a_code_is_good_once_and_for_its_browser_alone(corp: Corp) -> None:
    with provider(corp.port, corp.accounts.address, "one"):
        browser, thief = corp.accounts.browser(), corp.accounts.browser()
        place = brought_back(browser, "ada")
        assert "problem" in thief.get(place).headers["Location"]
        kept = browser.cookies["helix_sign_in"]
        assert browser.get(place).headers["Location"] == "/#/library"
        assert "helix_sign_in" not in browser.cookies
        assert "problem" in browser.get(place).headers["Location"]
        thief.cookies["helix_sign_in"] = kept  # with all that the browser had
        assert "problem" in thief.get(place).headers["Location"]
        assert thief.get("/v1/session").status_code == 401


def test_a_rotated_key_and_a_provider_that_is_away(corp: Corp) -> None:
    for key in ("one", "two"):
        with provider(corp.port, corp.accounts.address, key):
            browser = corp.accounts.browser()
            assert signed_in(browser, "ada") == "/#/library"
    assert browser.delete("/v1/session").status_code == 200  # without it too
