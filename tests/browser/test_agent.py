"""An agent on the page: what it does is told as it happens, folded, and there after a reload."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import ask, fits, screenshots, serious, serving, watched

REFUND = "How long do I have to request a refund?"


@pytest.fixture(scope="module")
def agency(library_url: str) -> Iterator[str]:
    with serving(library_url) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, agency: str) -> Iterator[Page]:
    with watched(context, agency) as opened:
        opened.wait_for_selector(".welcome h1")
        yield opened


def test_an_agent_shows_what_it_did_and_the_passages_that_it_brought(page: Page) -> None:
    switch = page.get_by_role("group", name="How to answer")
    expect(switch.get_by_role("button", name="Answer")).to_have_attribute("aria-pressed", "true")
    switch.get_by_role("button", name="Agent").click()
    ask(page, REFUND)
    steps = page.locator(".steps")
    expect(page.locator(".chip:enabled").first).to_be_visible()
    expect(steps.locator("summary")).to_contain_text("passage")
    expect(steps.locator("ol")).not_to_be_visible()
    steps.locator("summary").press("Enter")
    expect(steps.locator("ol > li").first).to_contain_text(" ms")
    assert serious(page) == []
    page.screenshot(path=screenshots() / "agent.png")
    calls = steps.locator("ol > li").count()
    steps.locator("li li button").first.click()
    expect(page.locator(".panel h2")).to_be_visible()
    page.get_by_label("Close the source").click()
    page.reload()
    expect(steps.locator("summary")).to_contain_text("passage")
    expect(steps.locator("ol > li")).to_have_count(calls)
    expect(switch.get_by_role("button", name="Agent")).to_have_attribute("aria-pressed", "true")
    switch.get_by_role("button", name="Answer").click()
    ask(page, REFUND)
    expect(page.locator(".turn").last.locator(".prose")).to_contain_text("30 days")
    expect(steps).to_have_count(1)
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []
    assert fits(page)


def test_a_number_that_stands_in_no_source_shows_how_it_was_calculated(page: Page) -> None:
    page.get_by_role("button", name="Agent").click()
    ask(page, "What is the difference between the monthly price of Forest and of Grove?")
    calculated = page.locator(".calculated")
    expect(calculated).to_contain_text(" = ")
    operand = calculated.get_by_role("button").first
    quote = (operand.text_content() or "").split(" (")[0]
    operand.click()
    expect(page.locator(".panel mark").first).to_contain_text(quote)
