"""A server that asks people to sign in, and has no account yet, says how the first is made."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.support.cli_runner import helix
from tests.support.server_processes import served

VALUES = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline", "HELIX_AUTH": "accounts",
          "HELIX_WORKERS": "0"}  # fmt: skip


@pytest.mark.processes
def test_the_first_account_is_made_by_a_link_of_the_start(
    database_url: str, tmp_path: Path
) -> None:
    values = {"DATABASE_URL": database_url, **VALUES}
    with served(tmp_path / "log", "serve", "--host", "127.0.0.1", **values) as service:
        printed = (tmp_path / "log").read_text()
        link = re.search(rf"^{service.url}/web/sign-in\.html#link=([\w-]{{43}})$", printed, re.M)
        assert link, printed
        with httpx.Client(base_url=service.url, headers={"Origin": service.url}) as browser:
            assert browser.get("/v1/documents").status_code == 401
            body = {"link": link[1], "email": "ada@example.com", "password": "correct horse"}
            made = browser.post("/v1/links/use", json=body)
            assert (made.status_code, made.json()["role"]) == (200, "owner")
            assert browser.get("/v1/documents").status_code == 200
    with served(tmp_path / "again", "serve", **values) as service:
        assert "link=" not in (tmp_path / "again").read_text()


def test_beyond_loopback_accounts_are_asked_for_and_nothing_is_open(database_url: str) -> None:
    values = {"DATABASE_URL": database_url, **VALUES, "HELIX_AUTH": "off"}
    refused = helix("serve", "--host", "0.0.0.0", **values)
    assert refused.returncode != 0 and "HELIX_AUTH=accounts" in refused.stderr
