"""Chips and source cards: each leads to the sentence that its own statement rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import ask, fits, serious, watched
from tests.browser.test_relevance import at, document_of, tell

QUESTION = "What does the shop accept?"
RETURNS = "Refunds are accepted within 30 days of purchase."
CARDS = "Gift cards, opened software and personalised items cannot be refunded."
FREE = "Shipping is free for orders over 50 euros."
ANSWER = f"{RETURNS} [1] 🦓 {CARDS} [1] {FREE} [1]"


def told(page: Page, policy: dict[str, Any]) -> None:
    """Three statements of one source, the last of which nothing bears out; the first is asked."""
    statements = []
    position = 0
    for text, supported in ((RETURNS, True), (f"🦓 {CARDS}", True), (FREE, False)):
        end = position + len(f"{text} [1]")
        spans = [{"n": 1, **at(policy, text.removeprefix("🦓 "))}] if supported else []
        statements.append(
            {
                "start": position, "end": end, "supported": supported, "relevant": True,
                "problem": None if supported else "claim", "reason": None, "spans": spans,
            }
        )  # fmt: skip
        position = end + 1
    citation = {"n": 1, **at(policy, RETURNS)}
    tell(page, ANSWER, citations=[citation], support={"ratio": 0.6667, "statements": statements})
    ask(page, QUESTION)
    expect(page.locator(".chip:enabled")).to_have_count(3)


@pytest.fixture
def policy(site: str) -> dict[str, Any]:
    return document_of(site, "refund-policy")


@pytest.fixture
def answered(page: Page, policy: dict[str, Any]) -> Page:
    told(page, policy)
    return page


@pytest.fixture
def phone(browser: Browser, site: str, policy: dict[str, Any]) -> Iterator[Page]:
    """The same answer on a phone in the dark."""
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    context.set_default_timeout(20_000)
    with watched(context, site) as page:
        told(page, policy)
        yield page
    context.close()


def _chip(page: Page, n: int) -> Locator:
    return page.locator(".chip").nth(n)


def test_each_chip_opens_the_sentence_of_its_own_statement(answered: Page) -> None:
    for n, sentence in ((1, CARDS), (0, RETURNS)):
        _chip(answered, n).click()
        expect(answered.locator("mark.quote")).to_have_text(sentence)
    _chip(answered, 2).click()
    # nothing bears the third out: the whole passage is shown, and no sentence is said to
    expect(answered.locator("mark.quote").first).to_have_text("Refund and shipping policy")


def test_a_chip_previews_its_quote(answered: Page) -> None:
    preview = answered.get_by_role("tooltip")
    _chip(answered, 1).hover()
    expect(preview.locator("blockquote")).to_have_text(CARDS)
    expect(preview).to_contain_text("Refund Policy")
    expect(preview).to_contain_text("page 12 (printed 9)")
    expect(_chip(answered, 1)).to_have_attribute("aria-describedby", "preview")
    preview.hover()  # it stays while the pointer is in it
    expect(preview).to_be_visible()
    assert serious(answered) == []
    answered.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    answered.mouse.move(0, 0)
    _chip(answered, 2).hover()
    expect(preview).to_contain_text("No sentence of this passage was found")
    answered.mouse.move(0, 0)
    expect(preview).to_have_count(0)


def test_by_keyboard_a_chip_previews_and_opens(answered: Page) -> None:
    answered.locator("#question").press("Escape")
    answered.locator(".question").focus()
    answered.keyboard.press("Tab")
    preview = answered.get_by_role("tooltip")
    expect(preview.locator("blockquote")).to_have_text(RETURNS)
    answered.keyboard.press("Tab")
    expect(preview.locator("blockquote")).to_have_text(CARDS)
    answered.keyboard.press("Escape")
    expect(preview).to_have_count(0)
    expect(_chip(answered, 1)).to_be_focused()
    answered.keyboard.press("Enter")
    expect(answered.locator("mark.quote")).to_have_text(CARDS)
    answered.keyboard.press("Escape")
    expect(answered.locator(".panel")).to_have_count(0)
    expect(_chip(answered, 1)).to_be_focused()
    expect(preview).to_have_count(0)


def test_by_touch_the_first_press_previews_and_the_next_opens(phone: Page) -> None:
    quoted = phone.get_by_role("group", name="Cited passage")
    _chip(phone, 1).tap()
    expect(quoted.locator("blockquote")).to_have_text(CARDS)
    expect(phone.locator(".panel")).to_have_count(0)
    assert serious(phone) == []
    assert fits(phone)
    phone.locator(".question").tap()
    expect(quoted).to_have_count(0)
    _chip(phone, 1).tap()
    quoted.get_by_role("button").tap()
    expect(phone.locator("mark.quote")).to_have_text(CARDS)
    phone.go_back()
    expect(phone.locator(".panel")).to_have_count(0)
    expect(phone.locator(".turn")).to_be_visible()


def test_a_card_has_every_quote_of_its_source(answered: Page) -> None:
    card = answered.locator(".sources .card")
    expect(card).to_have_count(1)
    quotes = card.get_by_role("button")
    expect(quotes).to_have_count(2)
    expect(quotes.nth(1)).to_contain_text(CARDS)
    expect(quotes.nth(1)).to_contain_text("page 12 (printed 9)")
    quotes.nth(1).click()
    expect(answered.locator("mark.quote")).to_have_text(CARDS)
    expect(answered.locator(".among")).to_contain_text("2 of 2")
    answered.get_by_label("Previous source").click()
    expect(answered.locator("mark.quote")).to_have_text(RETURNS)


def test_a_copy_has_every_quote_with_its_place(answered: Page, context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    answered.get_by_label("Copy the answer with its sources").click()
    expect(answered.locator("#announced")).to_have_text("Answer copied with its sources")
    copied = answered.evaluate("navigator.clipboard.readText()")
    for sentence in (RETURNS, CARDS):
        assert f"page 12 (printed 9): “{sentence}”" in copied
    assert copied.count("/#/source/") == 2


@pytest.mark.parametrize("marked", [CARDS, f"{CARDS} [1]"])
def test_a_source_that_helix_found_is_a_dotted_chip(
    page: Page, policy: dict[str, Any], marked: str
) -> None:
    """The second statement has no marker, or one of Helix's own; the third has the model's."""
    text = f"{RETURNS} [1] {marked} {RETURNS} [1]"
    middle = len(f"{RETURNS} [1] ")
    end = middle + len(marked)
    places = [(0, middle - 1), (middle, end), (end + 1, len(text))]
    statements: list[dict[str, Any]] = [
        {
            "start": start, "end": end, "supported": True, "relevant": True, "problem": None,
            "reason": None, "numbers": [1], "spans": [{"n": 1, **at(policy, quote)}],
        }
        for (start, end), quote in zip(places, (RETURNS, CARDS, RETURNS), strict=True)
    ]  # fmt: skip
    statements[1]["by"] = "helix"
    support = {"ratio": 1.0, "statements": statements}
    tell(page, text, citations=[{"n": 1, **at(policy, RETURNS)}], support=support)
    ask(page, QUESTION)
    expect(page.locator(".chip:enabled")).to_have_count(3)
    expect(page.locator(".chip.by-proof")).to_have_count(1)
    found = _chip(page, 1)
    expect(found).to_have_class(re.compile("by-proof"))
    expect(found).to_have_accessible_name(re.compile("found by Helix"))
    found.click()
    expect(page.locator("mark.quote")).to_have_text(CARDS)
