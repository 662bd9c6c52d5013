"""Passages are found as one types, in the palette and on a page of their own."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fits, serious, watched


def test_the_palette_finds_passages_and_opens_them_where_they_stand(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("zebra quarantine")
    found = page.get_by_role("option").filter(has_text="77 days in the harbour of Ostend").first
    expect(found.locator("mark")).to_have_text(["zebra", "quarantine"])
    assert serious(page) == []
    found.click()
    expect(page.locator("mark.quote").first).to_contain_text(
        "The zebra 🦓 quarantine takes 77 days"
    )


def test_the_palette_finds_conversations_and_study_sets(page: Page) -> None:
    page.route(
        "**/v1/study",
        lambda route: route.fulfill(
            json={"sets": [{"id": 7, "kind": "quiz", "title": "Refunds for beginners"}]}
        ),
    )
    page.keyboard.press("Control+k")
    page.keyboard.type("refunds for beginners")
    expect(page.get_by_role("option", name="Refunds for beginners quiz")).to_be_visible()


def test_a_search_page_with_filters(page: Page) -> None:
    page.get_by_role("link", name="Search", exact=True).click()
    field = page.get_by_role("searchbox", name="Search for")
    expect(field).to_be_focused()
    page.keyboard.type("refunds 30 days")
    first = page.locator(".found li").first
    expect(first).to_contain_text("Refund Policy")
    expect(first.locator("mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"#/search\?q=refunds"))
    assert serious(page) == []
    page.reload()
    expect(field).to_have_value("refunds 30 days")
    page.get_by_label("Added").select_option("week")  # a run may begin before midnight
    expect(page.locator(".found li").first).to_contain_text("Refund Policy")
    page.locator(".found a").first.click()
    expect(page.locator("mark.quote").first).to_contain_text("30 days")
    page.go_back()
    page.get_by_role("button", name="Ask this as a question").click()
    expect(page.locator(".turn h2")).to_contain_text("refunds 30 days")


def test_what_is_not_there_is_said_calmly_on_a_phone_in_the_dark(
    browser: Browser, site: str
) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 760}, is_mobile=True, has_touch=True, color_scheme="dark"
    )
    with watched(phone, site, "#/search?q=capital+of+Mongolia") as page:
        expect(page.get_by_role("status").filter(has_text="No good match")).to_be_visible()
        assert fits(page)
        assert serious(page) == []
    phone.close()
