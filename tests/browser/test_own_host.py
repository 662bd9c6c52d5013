"""Every page asks this server alone; the API's description works without any other host."""

from __future__ import annotations

from typing import Literal

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import fits, serious, watched
from tests.browser.test_conversations import begun

GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(28, 32, 34)"}
VIEWS = {
    "#/ask": ".welcome h1",
    "#/library": ".document",
    "#/study": ".study h1",
    "#/evals": ".plot",
    "#/privacy": ".seal",
    "#/progress": "button:has-text('Turn on')",
    "#/search": "#search",
    "#/sources": ".sources-head button",
    "#/prompts": ".prompts a",
    "#/prompts/answering_style": "textarea",
    "#/nowhere": ".notice",
}
OPENED = {"c", "source", "answer"}
"""Views of one conversation, document or answer."""
OF_ACCOUNTS = {"people", "spaces", "shared", "usage"}
"""Views for who signed in: test_two_people.py, test_sharing.py and test_usage.py go there."""


def _is_accessible(page: Page) -> None:
    """It has no serious fault, in either colours, and fits a phone."""
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        assert serious(page) == []
    assert fits(page)
    assert serious(page) == []


def test_no_view_is_left_out(page: Page) -> None:
    names = "import('/web/views/index.js').then(({ VIEWS }) => VIEWS.map(({ name }) => name))"
    shown = {place.split("/")[1] for place in VIEWS} - {"nowhere"}
    assert set(page.evaluate(names)) == shown | OPENED | OF_ACCOUNTS


@pytest.mark.parametrize("place", VIEWS)
def test_a_view_asks_no_other_host(context: BrowserContext, site: str, place: str) -> None:
    with watched(context, site, place) as page:  # at its end it fails where another was asked
        page.wait_for_selector(VIEWS[place])
        _is_accessible(page)


def test_a_document_and_an_answer_ask_no_other_host(context: BrowserContext, site: str) -> None:
    asked = "How long do I have to request a refund?"
    answer = httpx.post(f"{site}/v1/query", json={"question": asked}, timeout=60).json()
    document = answer["citations"][0]["document_id"]
    for place, what in (
        (f"#/source/{document}", ".source-body"),
        (f"#/answer/{answer['answer_id']}", ".turn .chip"),
        (f"#/c/{begun(site, asked)}", ".turn .chip"),
    ):
        with watched(context, site, place) as page:
            page.wait_for_selector(what)
            _is_accessible(page)


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
