"""The question box: its keys, its height, its length, and the questions that are suggested."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.browser.conftest import ask, serious, until
from tests.browser.test_ask import REFUND


def test_questions_that_come_after_the_documents_are_shown(page: Page, site: str) -> None:
    told: list[dict[str, object]] = []
    answer = {"status": 200, "content_type": "application/json"}
    page.route(
        "**/v1/suggestions*",
        lambda route: route.fulfill(**answer, body=json.dumps({"questions": told})),
    )
    page.clock.install()
    page.goto(f"{site}/#/ask")
    page.reload()
    expect(page.get_by_text("documents to ask.")).to_be_visible()
    expect(page.locator(".examples")).to_have_count(0)
    told.append({"question": REFUND, "document_id": 1, "title": "Refund Policy"})
    page.clock.fast_forward(5000)
    expect(page.locator(".examples")).to_contain_text(REFUND)


def test_shift_enter_breaks_the_line(page: Page) -> None:
    page.fill("#question", "one")
    page.press("#question", "Shift+Enter")
    page.keyboard.type("two")
    expect(page.locator("#question")).to_have_value("one\ntwo")
    expect(page.locator(".turn")).to_have_count(0)


def test_the_box_is_seen_whole_below_the_first_examples(page: Page) -> None:
    asked = [{"question": f"{REFUND} {n}", "document_id": 1, "title": "Refunds"} for n in range(6)]
    page.route("**/v1/suggestions*", lambda route: route.fulfill(json={"questions": asked}))
    page.reload()
    expect(page.locator(".examples button")).to_have_count(6)
    for width, height in ((1280, 600), (390, 640)):
        page.set_viewport_size({"width": width, "height": height})
        until(page, "document.documentElement.scrollHeight > innerHeight")
        expect(page.locator(".composer")).to_be_in_viewport(ratio=1)


def test_the_box_is_as_high_as_its_text_when_the_device_is_turned(page: Page) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    page.fill("#question", "How long do I have to request a refund of what I bought? " * 3)
    lying = page.evaluate("question.clientHeight")
    page.set_viewport_size({"width": 390, "height": 844})
    until(page, f"question.clientHeight > {lying}")
    assert page.evaluate("question.scrollHeight - question.clientHeight") <= 0
    page.set_viewport_size({"width": 844, "height": 390})
    until(page, f"question.clientHeight === {lying}")


def test_a_question_that_is_too_long_stays_whole_in_the_box(page: Page) -> None:
    ask(page, "word " * 1_000)
    expect(page.locator(".toast")).to_contain_text("4000 characters at most, not 4999")
    page.wait_for_timeout(3000)  # ms: a sentence is not read in two seconds
    expect(page.locator(".toast")).to_be_visible()
    expect(page.locator("#question")).to_have_value("word " * 1_000)
    expect(page.locator(".turn")).to_have_count(0)
    ask(page, "How many vacation days do employees get?")
    page.get_by_label("Edit the question").click()
    edited = page.locator("#edited")
    edited.fill("word " * 1_000)
    edited.press("Enter")
    expect(page.locator(".toast")).to_contain_text("4000 characters at most, not 4999")
    expect(edited).to_have_value("word " * 1_000)


def test_a_long_question_leaves_its_answer_in_view(page: Page) -> None:
    ask(page, "How long do I have to request a refund? " + "I was away for some time. " * 120)
    expect(page.locator(".turn .prose")).to_be_in_viewport()
    question = page.locator(".question")
    question.focus()
    page.keyboard.press("End")  # what is not seen is reached by keys
    until(page, "document.activeElement.scrollTop > 100")
    assert serious(page) == []
