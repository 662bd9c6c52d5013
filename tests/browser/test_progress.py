"""Progress by day with its badges; a prompt that is changed, refused, tried and put back."""

from __future__ import annotations

import httpx
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import ask, fits, screenshots, serious, watched


def test_progress_shows_ninety_days_and_the_badges(page: Page, site: str) -> None:
    page.goto(f"{site}/#/progress")
    expect(page.get_by_text("Nothing is recorded yet.")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    page.goto(f"{site}/#/ask")
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".prose")).to_contain_text("within 30 days")
    page.goto(f"{site}/#/progress")
    expect(page.locator(".heat button")).to_have_count(90)
    expect(page.locator(".badge")).to_have_count(25)
    expect(page.locator(".badge.earned").first).to_contain_text("First question")
    page.locator(".heat button").last.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".day-data li")).to_have_count(1)
    expect(page.locator(".day-data")).to_contain_text("question asked")
    expect(page.locator(".earned-then")).to_contain_text("First question")
    page.keyboard.press("ArrowUp")
    assert serious(page) == []
    page.screenshot(path=screenshots() / "progress.png")
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []
    assert fits(page)


def test_all_progress_is_forgotten_on_request_and_not_before(page: Page, site: str) -> None:
    httpx.patch(f"{site}/v1/progress", json={"on": True})
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".prose")).to_contain_text("within 30 days")
    page.goto(f"{site}/#/progress")
    earned = page.locator(".badge.earned")
    expect(earned.first).to_be_visible()
    page.get_by_role("button", name="Delete all progress").click()
    page.get_by_role("button", name="Cancel").click()
    expect(earned.first).to_be_visible()
    page.get_by_role("button", name="Delete all progress").click()
    assert serious(page) == []
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Nothing is recorded yet.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Nothing is recorded yet.")).to_be_visible()
    expect(page.locator(".badge")).to_have_count(0)


def test_a_prompt_is_changed_refused_tried_and_put_back(context: BrowserContext, site: str) -> None:
    with watched(context, site, "#/prompts") as page:
        page.get_by_role("link", name="Answering style").click()
        text = page.get_by_role("textbox", name="Text")
        shipped = text.input_value()
        text.fill(f"{shipped}\nUse {{{{nothing}}}}.")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("alert")).to_contain_text("Line 1")
        own = f"{shipped}\nWrite plainly.".strip()
        text.fill(own)
        page.get_by_label("Try it on a question").fill("How long do I have to request a refund?")
        page.get_by_role("button", name="Try").click()
        expect(page.locator(".trial [role=status]")).to_contain_text("30 days")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("1. your own")).to_be_visible()
        page.get_by_text("Changes from the default text").click()
        expect(page.locator(".diff .added")).to_contain_text("Write plainly.")
        assert serious(page) == []
        assert fits(page)
        page.get_by_role("button", name="Restore the default text").click()
        expect(text).to_have_value(shipped)
        page.get_by_role("button", name="Restore", exact=True).click()
        expect(text).to_have_value(own)
        page.get_by_role("button", name="Restore the default text").click()
        expect(text).to_have_value(shipped)
