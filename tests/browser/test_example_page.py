"""examples/chat.html: a page of another site that asks, with the AI SDK's stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, expect

from helix.domain.contract import REFUSAL
from tests.browser.conftest import serving
from tests.support.repository import ROOT


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def files() -> Iterator[str]:
    handler = partial(_Quiet, directory=str(ROOT / "examples"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_page_of_ones_own_shows_answer_and_source(
    browser: Browser, library_url: str, files: str
) -> None:
    with (
        serving(library_url, cors_origins=(files,)) as site,
        closing(browser.new_context()) as context,
    ):
        page = context.new_page()
        page.goto(f"{files}/chat.html?server={site}")
        page.get_by_label("Question").fill("How long do I have to request a refund?")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#answer")).to_contain_text("Refunds are accepted within 30 days")
        link = page.locator("#sources a")
        expect(link).to_have_text("Refund Policy")
        expect(page.locator("blockquote")).to_contain_text("Refunds are accepted within 30 days")
        assert (link.get_attribute("href") or "").startswith(f"{site}/#/source/")
        page.get_by_label("Question").fill("Who painted the ceiling of the chapel?")
        page.get_by_role("button", name="Ask").click()
        expect(page.locator("#answer.refused")).to_have_text(REFUSAL)
        expect(page.locator("#sources a")).to_have_count(0)
