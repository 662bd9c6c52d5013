"""Every page asks this server alone; the API's description works without any other host."""

from __future__ import annotations

from typing import Literal

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.conftest import serious, watched

GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(28, 32, 34)"}
VIEWS = {
    "": ".welcome h1",
    "#/library": ".document",
    "#/evals": "h1",
    "#/privacy": ".seal",
    "#/nowhere": ".notice",
}


@pytest.mark.parametrize("place", VIEWS)
def test_a_view_asks_no_other_host(context: BrowserContext, site: str, place: str) -> None:
    with watched(context, site, place) as page:  # at its end it fails where another was asked
        page.wait_for_selector(VIEWS[place])


def test_a_document_and_an_answer_ask_no_other_host(context: BrowserContext, site: str) -> None:
    asked = {"question": "How long do I have to request a refund?"}
    answer = httpx.post(f"{site}/v1/query", json=asked, timeout=60).json()
    document = answer["citations"][0]["document_id"]
    with watched(context, site, f"#/source/{document}") as page:
        page.wait_for_selector(".source-body")
    with watched(context, site, f"#/answer/{answer['answer_id']}") as page:
        page.wait_for_selector(".turn")


@pytest.mark.parametrize(("place", "colours"), [("docs", "light"), ("redoc", "dark")])
def test_the_description_of_the_api_can_be_tried_out(
    context: BrowserContext, site: str, place: str, colours: Literal["light", "dark"]
) -> None:
    with watched(context, site, place) as page:
        expect(page).to_have_url(f"{site}/docs")
        expect(page.locator(".opblock-summary-path", has_text="/v1/query")).to_be_visible()
        page.locator(".opblock-summary", has_text="/v1/about").click()
        page.get_by_role("button", name="Try it out").click()
        page.get_by_role("button", name="Execute").click()
        told = page.locator(".live-responses-table .response").first
        page.emulate_media(color_scheme=colours)
        expect(page.locator("body")).to_have_css("background-color", GROUND[colours])
        expect(told).to_contain_text('"tenant": "default"')
        assert serious(page) == []
