"""Hostile and very long text in answers and documents: nothing runs, the page stays usable."""

from __future__ import annotations

import httpx
from playwright.sync_api import Page, expect

from tests.browser.adversary import TOKENS
from tests.browser.conftest import ask, fits, until

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


def test_a_table_of_millions_of_cells_is_shown_as_it_is(page: Page) -> None:
    ask(page, f"wide: {SUBJECT}")
    expect(page.locator(".prose")).to_contain_text("The end.")
    assert page.locator(".prose td").count() == 0
    _alive(page)


def test_a_line_of_a_megabyte(page: Page) -> None:
    ask(page, f"endless: {SUBJECT}")
    expect(page.locator(".actions")).to_be_visible()
    assert len(page.locator(".as-it-is").all_text_contents()) == 50
    assert sum(map(len, page.locator(".as-it-is .unsupported").all_text_contents())) == 1_000_000
    until(page, "document.documentElement.scrollWidth <= 1280")
    _alive(page)


def test_a_document_of_one_line(page: Page, site: str) -> None:
    found = httpx.get(f"{site}/v1/documents", params={"q": "line.txt"}).json()["documents"]
    page.goto(f"{site}/#/source/{found[0]['id']}?start=0&end=39")
    expect(page.locator("mark")).to_have_text("The tram depot in Ghent keeps 41 trams.")
    # of a million characters those near the mark
    assert page.evaluate("document.querySelector('.document-text').textContent.length") < 40_000
    page.locator(".source-body").press("/")
    page.keyboard.type("41 trams")
    expect(page.locator("mark.now")).to_have_text("41 trams")
    expect(page.locator(".find")).to_contain_text("1 of 1")
    page.keyboard.press("Escape")
    expect(page.locator("mark")).to_have_count(1)
    page.get_by_text("Ask this document").click()
    expect(page.locator(".chosen")).to_contain_text("Line")


def test_hostile_documents_in_the_library_are_text(page: Page, site: str) -> None:
    page.goto(f"{site}/#/library?sort=title")
    title = page.locator(".document", has_text="onerror=window.ran='title'")
    expect(title).to_be_visible()
    page.get_by_label("Search", exact=True).fill("line.txt")
    expect(page.locator(".document")).to_have_count(1)
    page.get_by_label("Search", exact=True).fill("")
    rows = page.locator(".documents")
    expect(rows).to_contain_text("Hostile")
    assert rows.locator("script, img, iframe, [onerror], [onload]").count() == 0
    title.get_by_label("Delete ").click()
    expect(page.get_by_role("dialog")).to_contain_text("<img src=x")
    page.keyboard.press("Escape")
    assert fits(page)
    title.locator("a").first.click()
    text = page.locator(".document-text")
    expect(text).to_contain_text("<script>window.ran='heading'</script>")
    expect(text).to_contain_text("[press](javascript:window.ran='link')")
    assert page.locator("main").locator("script, img, iframe, a[href^=javascript]").count() == 0
    assert fits(page)


def test_hostile_words_of_a_source_are_text(page: Page) -> None:
    ask(page, "How many kinds of waffle does the kiosk in Namur sell?")
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark")).to_contain_text("19 kinds of waffle")
    expect(page.locator(".source-title")).to_contain_text("<img src=x")
    page.get_by_label("Close the source").click()
    page.get_by_text("Why this answer").click()
    expect(page.locator(".why .read")).to_contain_text("<img src=x")
    page.get_by_text("Scores and timings").click()
    expect(page.locator(".why .table").last).to_contain_text("<img src=x")
    assert page.locator("main").locator("script, img, iframe, a[href^=javascript]").count() == 0
    _alive(page)


_WORK = """
() => {
  window.work = [];  // characters drawn in one task
  window.growing = 0;  // of them, those of the block that may still grow
  new MutationObserver((records) => {
    const drawn = records.flatMap((record) => [...record.addedNodes])
      .filter((node) => node.parentElement?.closest(".prose") && node.nodeType === 1
        && node.classList.contains("block"))
      .reduce((sum, node) => sum + node.textContent.length, 0);
    if (!drawn) return;
    window.work.push(drawn);
    window.growing += [...document.querySelectorAll(".prose .block")].at(-1).textContent.length;
  }).observe(document.body, { childList: true, subtree: true });
}
"""


def test_an_answer_of_20_000_tokens_is_drawn_in_slices(page: Page) -> None:
    page.evaluate(_WORK)
    ask(page, f"lengthy: {SUBJECT}")
    expect(page.locator(".actions")).to_be_visible(timeout=60_000)
    expect(page.locator(".prose h2")).to_have_count(TOKENS // 200)
    work = page.evaluate("window.work")
    whole = len(page.locator(".prose").text_content() or "")
    assert whole > 90_000
    # drawn as it comes, and once, but for the block that still grows: how often that is drawn is
    # the machine's load
    assert len(work) > 1
    assert sum(work) - page.evaluate("window.growing") <= whole
    _alive(page)
