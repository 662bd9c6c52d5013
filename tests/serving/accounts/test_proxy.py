"""A proxy's header: believed from its own address, and nothing from any other."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.serving.accounts.conftest import Accounts, email_of, fill
from tests.support.live_server import live

PLACE = "/v1/sign-in/proxy"


@pytest.mark.parametrize(
    ("settings", "believed"),
    [
        ({"proxy_addresses": "127.0.0.1"}, True),
        ({"proxy_addresses": "10.0.0.0/8, 127.0.0.0/8"}, True),
        ({"proxy_addresses": "10.0.0.7"}, False),
        ({}, False),
    ],
    ids=str,
)
def test_a_header_counts_from_its_proxy_alone(
    database_url: str, settings: dict[str, Any], believed: bool
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    with live(database_url, auth="accounts", **settings) as client:
        accounts = Accounts(str(client.base_url).rstrip("/"), database_url)
        header = {"Remote-Email": "Ada@example.com", "X-Forwarded-For": "10.0.0.7"}
        browser = accounts.browser()
        assert browser.get("/v1/documents", headers=header).status_code == 401
        told = browser.get(PLACE, params={"next": "//evil.example"}, headers=header)
        assert told.headers["Location"] == (
            "/" if believed else "/web/sign-in.html?problem=provider"
        )
        assert (browser.get("/v1/session").status_code == 200) == believed


def test_the_session_is_of_the_person_that_the_proxy_names_and_ends_with_them(
    database_url: str,
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        fill(connection)
    options = {"proxy_addresses": "127.0.0.1", "proxy_header": "X-Forwarded-Email"}
    with live(database_url, auth="accounts", **options) as client:
        accounts = Accounts(str(client.base_url).rstrip("/"), database_url)
        assert client.get("/v1/sign-in").json()["providers"] == [
            {"name": "proxy", "title": "single sign-on"}
        ]
        bob, cat = ({"X-Forwarded-Email": email_of(name)} for name in ("bob", "cat"))
        browser = accounts.browser()
        assert browser.get(PLACE, headers=bob).headers["Location"] == "/"
        who = browser.get("/v1/session", headers=bob).json()
        assert (who["person"]["email"], who["role"]) == (email_of("bob"), "editor")
        assert browser.get("/v1/session", headers=cat).status_code == 401
        stranger = {"X-Forwarded-Email": "stranger@example.com"}
        for headers in (stranger, {"Remote-Email": email_of("ada")},
                        {"X-Forwarded-Email": ""}):  # fmt: skip
            fresh = accounts.browser()
            assert "problem" in fresh.get(PLACE, headers=headers).headers["Location"]
            assert fresh.get("/v1/session").status_code == 401
        accounts.sql("UPDATE people SET disabled_at = now() WHERE id = 2")
        assert "problem" in accounts.browser().get(PLACE, headers=bob).headers["Location"]
