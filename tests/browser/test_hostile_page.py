"""Hostile and very long text in answers and documents: nothing runs, the page stays usable."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.browser.adversary import TOKENS
from tests.browser.conftest import ask

SUBJECT = "how long do I have to request a refund?"


def _alive(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".turn").last).to_contain_text("within 30 days")


def test_markup_in_an_answer_is_text(page: Page) -> None:
    ask(page, f"hostile: {SUBJECT}")
    prose = page.locator(".prose")
    expect(page.locator(".actions")).to_be_visible()
    expect(prose).to_contain_text("<script>")
    assert (
        prose.locator("script, img, svg, iframe, style, [style], [onclick], [onerror]").count() == 0
    )
    links = prose.locator("a").evaluate_all("links => links.map((link) => link.href)")
    assert [link for link in links if not link.startswith("http://far.example/")] == []
    expect(prose.locator(".chip:enabled").first).to_be_visible()
    prose.get_by_text("press", exact=False).first.click()
    _alive(page)


def test_deep_nesting_is_survived(page: Page) -> None:
    ask(page, f"deeply: {SUBJECT}")
    expect(page.locator(".prose")).to_contain_text("The end.")
    _alive(page)


def test_a_line_of_a_megabyte(page: Page) -> None:
    ask(page, f"endless: {SUBJECT}")
    expect(page.locator(".actions")).to_be_visible()
    assert len(page.locator(".as-it-is").all_text_contents()) == 50
    assert sum(map(len, page.locator(".as-it-is .unsupported").all_text_contents())) == 1_000_000
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    _alive(page)


def test_a_document_of_one_line(page: Page, site: str) -> None:
    found = httpx.get(f"{site}/v1/documents", params={"q": "line.txt"}).json()["documents"]
    page.goto(f"{site}/#/source/{found[0]['id']}?start=0&end=39")
    expect(page.locator("mark")).to_have_text("The tram depot in Ghent keeps 41 trams.")
    assert page.evaluate("document.querySelector('.document-text').textContent.length") < 10_000
    page.get_by_label("Next passage").click()
    expect(page.locator("mark")).not_to_contain_text("The tram depot")
    page.get_by_text("Ask this document").click()
    expect(page.locator(".chosen")).to_contain_text("Line")


def test_an_answer_of_20_000_tokens_stays_smooth(page: Page) -> None:
    page.evaluate(
        """() => { window.longest = 0; let last = performance.now();
        const tick = (now) => { window.longest = Math.max(window.longest, now - last); last = now;
        requestAnimationFrame(tick); }; requestAnimationFrame(tick); }"""
    )
    ask(page, f"lengthy: {SUBJECT}")
    expect(page.locator(".actions")).to_be_visible(timeout=60_000)
    longest = page.evaluate("window.longest")
    assert page.locator(".prose h2").count() == TOKENS // 200
    assert longest < 1000, f"a frame took {longest:.0f} ms"
    _alive(page)
