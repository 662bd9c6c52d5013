"""Results of tools and written code on the page: chips that open nothing, names that are marked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from helix.providers.factories import build_llm
from helix.settings import load_settings
from tests.browser.conftest import ask, serious, serving, watched
from tests.support.wire.gemini import GeminiWire, gemini_wire
from tests.support.wire.gemini_replies import Answer, call_part, calling

CODE = '```python\ndays = purchase["day"][1]\nprint(days, unknown)\n```\n'
WRITTEN = Answer(deltas=("It prints the days [1]:\n\n", CODE, "No more."))


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as opened:
        yield opened


@pytest.fixture
def page(context: BrowserContext, wire: GeminiWire, library_url: str) -> Iterator[Page]:
    settings = load_settings(
        database_url=library_url, llm="gemini", embedder="offline", gemini_api_key="wire-test-key"
    )
    with serving(library_url, build_llm(settings)) as url, watched(context, url) as opened:
        opened.wait_for_selector(".welcome h1")
        yield opened


def test_the_result_of_a_tool_is_a_source_that_opens_nothing(page: Page, wire: GeminiWire) -> None:
    page.get_by_role("button", name="Agent").click()
    call = calling(call_part("calculator", {"expression": "15% * 2,340"}))
    said = Answer(deltas=("15% of 2,340 is 351 [1].",))
    wire.script(call, Answer(deltas=("DONE",)), said, on="generate")
    ask(page, "What is 15% of 2,340?")
    card = page.locator(".sources .card")
    expect(card).to_contain_text("Calculation")
    expect(card.locator(".tool-chip")).to_have_text("Tool")
    expect(card).to_contain_text("15% × 2,340 = 351")
    expect(card.locator("button")).to_have_count(0)
    page.locator(".chip:enabled").first.click()
    expect(page.locator(".panel h2")).to_have_count(0)
    assert serious(page) == []


def test_names_in_code_are_linked_or_marked(page: Page, wire: GeminiWire) -> None:
    page.get_by_role("button", name="Write").click()
    wire.script(WRITTEN, on="generate")
    ask(page, "Write a script that prints within how many days of purchase refunds are accepted")
    known = page.locator(".code-name.documented")
    expect(known).to_have_text("purchase")
    expect(page.locator(".code-name.undocumented")).to_have_text("unknown")
    expect(page.locator(".code-name.undocumented")).to_have_attribute(
        "title", "unknown: not in the documents"
    )
    expect(page.locator("pre")).to_contain_text('days = purchase["day"][1]')
    assert serious(page) == []
    known.click()
    expect(page.locator(".panel h2")).to_be_visible()
