"""Open WebUI from its package, in a browser: its page asks, and shows where the answer stands."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import browser
from tests.support.repository import ROOT
from tests.support.service_process import end, environment, eventually

__all__ = ["browser"]
pytestmark = [pytest.mark.clients, pytest.mark.timeout(900)]
PROGRAM = ROOT / "build" / "clients-webui" / "bin" / "open-webui"
QUESTION = "How long do I have to request a refund?"
TOLD = "Refunds are accepted within 30 days of purchase."
UNKNOWN = "Who won the chess tournament of 1951?"
REFUSED = "I don't have that in the provided documents."
OWN = {
    "WEBUI_AUTH": "False", "OPENAI_API_KEY": "none", "ENABLE_OLLAMA_API": "False",
    "WEBUI_SECRET_KEY": "of a test",
    # else it fetches a model when it starts, and asks for a newer version of itself
    "RAG_EMBEDDING_ENGINE": "openai", "OFFLINE_MODE": "True",
}  # fmt: skip
"""Its variables for one user, as its documentation has them."""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def webui(server: str, folder: Path) -> Iterator[str]:
    """The address of an Open WebUI whose only models are Helix's."""
    port = _free_port()
    address, log = f"http://127.0.0.1:{port}", folder / "open-webui.log"
    values = OWN | {"DATA_DIR": str(folder / "open-webui"), "OPENAI_API_BASE_URL": f"{server}/v1"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(PROGRAM), "serve", "--host", "127.0.0.1", "--port", str(port)],
            env={**environment(), **values}, cwd=folder, stdout=output, stderr=output,
        )  # fmt: skip

    def is_up() -> bool:
        assert process.poll() is None, log.read_text()[-3000:]
        with suppress(httpx.TransportError):
            return httpx.get(f"{address}/health", timeout=5).status_code == 200
        return False

    try:
        assert eventually(is_up, 500), log.read_text()[-3000:]
        yield address
    finally:
        end(process)


def test_its_page_asks_and_leads_to_the_characters(webui: str, browser: Browser) -> None:
    expect.set_options(timeout=60_000)
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(webui)
    page.get_by_role("button", name="Okay, Let's Go!").click()  # what is new in its version
    page.goto(f"{webui}/?models=helix")
    page.locator("#chat-input").click()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    answer = page.locator("#response-content-container")
    expect(answer.first).to_contain_text(TOLD)
    # the chat's title: a task that Helix answers itself
    expect(page.get_by_role("heading", name=QUESTION, level=1)).to_be_visible()
    page.get_by_label("View source: Refund Policy").first.click()
    link = page.locator('a[href*="/#/source/"]').first
    place = link.get_attribute("href")
    assert place is not None
    if shots := os.environ.get("HELIX_SCREENSHOTS"):
        page.screenshot(path=f"{shots}/open-webui.png")
    page.keyboard.press("Escape")
    page.locator("#chat-input").click()
    page.keyboard.type(UNKNOWN)
    page.keyboard.press("Enter")
    expect(answer.last).to_contain_text(REFUSED)
    page.goto(place)
    expect(page.locator("mark.quote").first).to_have_text(TOLD)
    page.close()
