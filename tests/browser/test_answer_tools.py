"""An answer's tools: copying, sharing, rating, its use elsewhere, and its trace id."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Page, expect

from helix.conversations.receipts.verify_answer import verified
from tests.browser.conftest import ask, serious
from tests.browser.test_ask import REFUND


def test_copy_share_and_rate(page: Page, context: BrowserContext, site: str) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, REFUND)
    page.get_by_label("Copy the answer with its sources").click()
    expect(page.locator(".toast")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "within 30 days of purchase" in copied
    assert "Refund Policy" in copied
    assert f"{site}/#/source/" in copied
    page.get_by_label("Good answer").click()
    page.locator("dialog textarea").fill("Just so.")
    with page.expect_response("**/feedback"):  # "Thank you" is told once the server has it
        page.get_by_role("button", name="Send", exact=True).click()
    expect(page.locator("dialog textarea")).to_be_hidden()
    page.get_by_label("Copy a link to this answer").click()
    expect(page.locator("#announced")).to_have_text("Link copied")
    shared = page.evaluate("navigator.clipboard.readText()")
    page.goto(shared)
    expect(page.locator(".turn")).to_contain_text("within 30 days")
    expect(page.get_by_label("Good answer")).to_have_attribute("aria-pressed", "true")
    page.evaluate("localStorage.clear()")  # another browser of the tenant
    page.goto(shared)
    page.reload()
    expect(page.get_by_label("Good answer")).to_have_attribute("aria-pressed", "true")


def _elsewhere(page: Page, way: str, announced: str) -> str:
    page.get_by_role("button", name="Export this answer").click()
    page.get_by_role("button", name=way).click()
    expect(page.locator("#announced")).to_have_text(f"{announced} copied")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_an_answer_is_used_elsewhere(page: Page, context: BrowserContext, site: str) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, REFUND)
    expect(page.locator(".actions")).to_be_visible()
    markdown = _elsewhere(page, "Copy as Markdown", "Markdown")
    assert markdown.startswith(f"## {REFUND}\n")
    assert re.search(r"purchase\. \[\\\[\d+\\\]\]\(" + re.escape(f"{site}/#/source/"), markdown)
    assert "### Sources" in markdown and "[Refund Policy](" in markdown
    assert _elsewhere(page, "Copy as rich text with links", "Rich text") == markdown
    rich = page.evaluate(
        "navigator.clipboard.read().then(([item]) => item.getType('text/html'))"
        ".then((blob) => blob.text())"
    )
    assert f'href="{site}/#/source/' in rich and "<button" not in rich and "class=" not in rich
    line = _elsewhere(page, "Copy sources in APA style", "Bibliography")
    assert "Refund Policy. (n.d.). [" in line
    entry = _elsewhere(page, "Copy sources as BibTeX", "BibTeX")
    assert entry.startswith("@misc{helix") and "title = {{Refund Policy}}" in entry
    page.get_by_role("button", name="Export this answer").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save a signed copy").click()
    assert saved.value.suggested_filename.endswith(".json")
    proof, _ = verified(saved.value.path().read_bytes())
    assert proof["question"] == REFUND and proof["statements"][0]["spans"]
    page.get_by_role("button", name="Export this answer").click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(page.locator(".prose")).to_be_visible()
    for part in (".top", ".ask-box", ".actions", ".sidebar"):
        expect(page.locator(part).first).to_be_hidden()


def test_the_trace_id_is_copied_by_one_click(
    page: Page, context: BrowserContext, site: str
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    with page.expect_response("**/messages") as answer:
        ask(page, REFUND)
    trace = answer.value.headers["x-trace-id"]
    button = page.get_by_role("button", name="Copy the trace id")
    expect(button).to_contain_text(trace[:8])
    button.click()
    expect(page.locator("#announced")).to_contain_text("Trace id copied")
    assert page.evaluate("navigator.clipboard.readText()") == trace
    page.reload()
    expect(button).to_contain_text(trace[:8])
    assert serious(page) == []
