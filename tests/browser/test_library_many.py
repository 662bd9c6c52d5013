"""The Library view with many documents: collections, what is done at once, other tabs, samples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import ask, fits, screenshots, serious, until, watched
from tests.browser.library_page import SLOW, add, file, row
from tests.support.live_server import make_ready
from tests.support.service_process import eventually
from tests.support.web_site import Website, links
from tests.support.web_site import page as web_page

TEXTS = {
    "fold.txt": b"Sheets are folded twice.",
    "leaders.txt": b"Salomon Andersson led the polar balloon.",
    "mill.txt": b"The lamp oil is kept in the cellar of the mill.",
    "notes.txt": b"The lighthouse keeper trims the wick at dusk.",
}


@pytest.fixture(scope="module")
def filled(desk: str, web: Website) -> Iterator[str]:
    """The server with four texts and three pages of the web, labelled hive."""
    web.routes["/docs/"] = web_page("Hive Docs", links("/docs/wax", "/docs/smoke"))
    web.routes["/docs/wax"] = web_page("Wax", "Wax is melted at 64 degrees.")
    web.routes["/docs/smoke"] = web_page("Smoke", "Smoke calms bees for ten minutes.")
    files = [("file", (name, data)) for name, data in TEXTS.items()]
    assert httpx.post(f"{desk}/v1/documents", files=files).status_code == 202
    crawl = {"url": f"http://{web.host}/docs/", "tags": ["hive"]}
    assert httpx.post(f"{desk}/v1/documents/crawl", json=crawl).status_code == 202

    def ready() -> bool:
        counts = httpx.get(f"{desk}/v1/library").json()
        return bool(counts["statuses"] == {"ready": 7})

    assert eventually(ready), httpx.get(f"{desk}/v1/documents").text
    yield desk


@pytest.fixture
def page(filled: str, shelf: Page) -> Page:
    return shelf


def test_a_list_that_changes_faster_than_it_comes_is_shown(
    context: BrowserContext, filled: str
) -> None:
    page = context.new_page()
    slow = "(f) => (url, o) => f(url, o).then((r) => new Promise((d) => setTimeout(d, 1500, r)))"
    page.add_init_script(f"window.fetch = ({slow})(window.fetch.bind(window))")
    page.goto(f"{filled}/#/library")
    page.evaluate(
        "import('/web/library/follow.js').then(({ touched }) => setInterval(touched, 100))"
    )
    expect(page.locator(".document")).to_have_count(7)


def test_back_from_a_document_the_list_is_where_it_was_left(page: Page) -> None:
    page.set_viewport_size({"width": 1000, "height": 400})
    last = page.locator(".document").last.get_by_role("link").first
    last.scroll_into_view_if_needed()
    until(page, "scrollY > 300")
    left = page.evaluate("scrollY")
    last.click()
    expect(page.locator(".document-text")).to_be_visible()
    assert page.evaluate("scrollY") == 0
    page.go_back()
    until(page, f"Math.abs(scrollY - {left}) < 3")
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page.locator(".document")).to_have_count(7)
    assert page.evaluate("scrollY") == 0  # a step of its own


def test_a_collection_has_a_page_and_is_asked(page: Page, desk: str) -> None:
    shelf = page.get_by_role("navigation", name="Collections")
    shelf.get_by_role("link", name=re.compile("^hive")).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("hive")
    expect(page.locator(".collection-head")).to_contain_text("3 documents have this label")
    expect(page.locator(".document")).to_have_count(3)
    add(page, file("propolis.txt", b"Propolis seals every crack of a hive."))
    expect(row(page, "Propolis").locator(".label")).to_have_text(["hive"], timeout=SLOW)
    page.screenshot(path=screenshots() / "collection.png")
    for title in ("Wax", "Smoke"):
        page.get_by_label(f"Select {title}").check()
    page.get_by_role("button", name="Read again", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Read again").click()
    expect(page.locator(".run").first).to_contain_text("2 pages read", timeout=SLOW)
    page.get_by_role("button", name="Rename", exact=True).click()
    dialog = page.get_by_role("dialog", name="Rename the collection")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill("apiary, bees")
    expect(dialog.get_by_role("button", name="Rename")).to_be_enabled()  # it knows which
    dialog.get_by_label("Name").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("without commas")
    dialog.get_by_label("Name").fill("#hive")  # its own name: pressed, it would be taken away
    expect(dialog.get_by_role("button", name="Rename")).to_be_disabled()
    dialog.get_by_label("Name").fill("#apiary")
    dialog.get_by_label("Name").press("Enter")
    expect(page).to_have_url(re.compile("tag=apiary$"))
    expect(page.locator(".document")).to_have_count(4)
    assert serious(page) == []
    assert fits(page)
    page.get_by_role("link", name="Ask this collection").click()
    expect(page.locator(".chosen")).to_contain_text("apiary")
    ask(page, "At how many degrees is wax melted?")
    expect(page.locator(".prose")).to_contain_text("64")
    page.get_by_role("button", name="Ask all").click()
    page.get_by_role("button", name="All documents").click()
    page.locator(".picker .tag", has_text="apiary").locator("input").check()
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".chosen")).to_have_text(re.compile("apiary"))
    page.goto(f"{desk}/#/library?tag=apiary")
    page.get_by_role("button", name="Delete label", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Delete label").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Library")
    expect(shelf.get_by_text("apiary")).to_have_count(0)
    expect(row(page, "Wax")).to_be_visible()


def test_many_are_chosen_labelled_and_renamed_at_once(page: Page, desk: str) -> None:
    page.goto(f"{desk}/#/library?sort=title")
    page.reload()  # else the list is still in its old order
    boxes = page.locator(".choose input")
    expect(boxes.nth(4)).to_be_visible()
    boxes.nth(1).click()
    boxes.nth(3).click(modifiers=["Shift"])
    many = page.get_by_role("region", name="Selected documents")
    expect(many).to_contain_text("3 selected")
    boxes.nth(3).focus()
    page.keyboard.press("Shift+ArrowDown")
    expect(many).to_contain_text("4 selected")
    page.keyboard.press("Space")
    expect(many).to_contain_text("3 selected")
    page.screenshot(path=screenshots() / "many.png")
    assert serious(page) == []
    many.get_by_role("button", name="Label").click()
    dialog = page.get_by_role("dialog", name="Label 3 documents")
    expect(dialog.get_by_label("Add labels")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("Type a label to add")
    page.keyboard.type("box 7")
    page.keyboard.press("Enter")
    expect(page.locator(".document", has=page.get_by_text("box 7", exact=True))).to_have_count(3)
    expect(many).to_have_count(0)
    page.get_by_label("Select Fold").check()
    page.get_by_label("Select Leaders").check()
    many.get_by_role("button", name="Rename").click()
    dialog = page.get_by_role("dialog", name="Rename 2 documents")
    dialog.get_by_label("Replace").fill("Fold")
    dialog.get_by_label("with", exact=True).fill("Abacus")
    dialog.get_by_role("button", name="Replace in all").click()
    dialog.get_by_role("button", name="Rename 1 document").click()
    expect(row(page, "Abacus")).to_have_count(1)
    boxes.nth(0).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(page.get_by_role("dialog", name=re.compile(r"Delete \d+ documents"))).to_be_visible()
    page.keyboard.press("Escape")
    boxes.nth(0).focus()
    page.keyboard.press("Escape")
    expect(many).to_have_count(0)


def test_a_chosen_document_that_is_deleted_alone_is_chosen_no_more(page: Page) -> None:
    add(page, file("weir.txt", b"The weir is opened in May."))
    expect(row(page, "Weir").locator("a").first).to_be_visible(timeout=SLOW)
    page.get_by_label("Select Weir").check()
    page.get_by_label("Select Mill").check()
    page.get_by_role("button", name="Delete Weir").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    many = page.get_by_role("region", name="Selected documents")
    expect(many).to_contain_text("1 selected")
    page.get_by_role("button", name="Clear selection").click()


def test_what_could_not_be_done_is_told_one_by_one(page: Page, desk: str) -> None:
    page.goto(f"{desk}/#/library?sort=title")
    gone = page.locator(".document").nth(0)
    expect(gone).to_be_visible()
    page.route("**/v1/documents/batch", lambda route: _with_a_stranger(route))
    page.locator(".choose input").nth(0).click()
    page.get_by_role("button", name="Read again", exact=True).click()
    dialog = page.get_by_role("dialog", name="Read 1 document again?")
    dialog.get_by_role("button", name="Read again").click()
    expect(dialog.get_by_role("alert")).to_contain_text("1 document done, 1 not.")
    expect(dialog.get_by_role("alert")).to_contain_text("there is no document 987654")
    page.unroute("**/v1/documents/batch")
    page.route("**/v1/documents/batch", lambda route: route.abort())
    dialog.get_by_role("button", name="Read again").click()
    expect(dialog.get_by_role("alert")).to_contain_text("0 of 1 done.")


def _with_a_stranger(route: Route) -> None:
    body = json.loads(route.request.post_data or "")
    route.continue_(post_data=json.dumps({**body, "ids": [*body["ids"], 987_654]}))


HIDE = """(state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange")); }"""


def test_every_tab_shows_what_is_changed_elsewhere(
    page: Page, context: BrowserContext, desk: str
) -> None:
    with watched(context, desk, "#/library") as other:
        expect(row(other, "Mill")).to_be_visible()
        add(page, file("tide.txt", b"The tide turns at six."))
        expect(row(other, "Tide").locator("a").first).to_be_visible(timeout=SLOW)
        (tide,) = httpx.get(f"{desk}/v1/documents", params={"q": "tide"}).json()["documents"]
        changed = httpx.patch(f"{desk}/v1/documents/{tide['id']}", json={"tags": ["sea"]})
        assert changed.status_code == 200, "a client that is no page"
        for tab in (page, other):
            expect(row(tab, "Tide").locator(".label")).to_have_text(["sea"], timeout=SLOW)
        with other.expect_event("requestfailed", lambda one: "events" in one.url):
            other.evaluate(HIDE, "hidden")
        with other.expect_request("**/v1/library/events"):
            other.evaluate(HIDE, "visible")


def test_a_tab_that_may_not_follow_yet_follows_later(context: BrowserContext, desk: str) -> None:
    answers = iter([429])

    def busy(route: Route) -> None:
        status = next(answers, None)
        route.fulfill(status=status, json={"error": "later"}) if status else route.continue_()

    context.route("**/v1/library/events", busy)
    with watched(context, desk, "#/library") as page:
        page.wait_for_event("response", lambda one: "events" in one.url and one.ok, timeout=SLOW)


def test_all_are_deleted_with_their_count_and_the_samples_come(
    page: Page, context: BrowserContext
) -> None:
    head = page.locator(".list-head [role=status]")
    expect(head).to_contain_text("documents")
    total = int((head.text_content() or "").split()[0])
    page.get_by_role("button", name="Select all shown").click()
    page.get_by_role("region", name="Selected documents").get_by_text("Delete").click()
    dialog = page.get_by_role("dialog", name=f"Delete {total} documents?")
    expect(dialog).to_contain_text(f"and {total - 5} more")
    dialog.get_by_role("button", name=f"Delete {total} documents").click()
    expect(page.get_by_text("The library is empty.")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Add the samples").press("Enter")
    expect(page.locator(".document")).to_have_count(7, timeout=SLOW)
    expect(page.locator(".document .state")).to_have_count(0, timeout=SLOW)
    policy = row(page, "refund-policy.txt")
    with context.expect_page() as opened:
        policy.get_by_label("Open the original of Refund Policy").click()
    expect(opened.value.locator("body")).to_contain_text("within 30 days of purchase")
    assert "/file?inline=true" in opened.value.url
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []
    assert fits(page)
    page.screenshot(path=screenshots() / "library-phone.png")


def test_a_long_list_keeps_its_place_and_is_asked(
    context: BrowserContext, desk: str, module_database_url: str
) -> None:
    made = (
        "WITH made AS (INSERT INTO documents (tenant_id, title, source_uri, content_hash, size)"
        " SELECT 'default', 'Row ' || n, n || '.md', '', 40 FROM generate_series(100, 399) n"
        " RETURNING id) SELECT id FROM made"
    )
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        connection.execute("SELECT set_config('helix.tenant', 'default', false)")
        ids = [number for (number,) in connection.execute(made)]
        for number in ids:
            make_ready(connection, number, "The weir is open.", [(0, 17)])
    with watched(context, desk, "#/library?sort=title&q=Row") as page:
        rows = page.locator(".document")
        expect(rows).to_have_count(50)
        while rows.count() < len(ids):
            page.mouse.wheel(0, 20_000)
            page.wait_for_timeout(50)
        place = page.evaluate("scrollY")
        with page.expect_response("**/v1/documents?*"):
            httpx.patch(f"{desk}/v1/documents/{ids[0]}", json={"tags": ["changed"]})
        expect(rows.first.locator(".label")).to_have_text(["changed"])
        expect(rows).to_have_count(len(ids))
        assert page.evaluate("scrollY") > place - 500  # a list that had been shorter is further up
        page.goto(f"{desk}/#/ask?docs={','.join(map(str, ids))}")
        expect(page.get_by_text("and 294 more")).to_be_visible()
        with page.expect_response("**/v1/suggestions?*") as told:
            page.reload()
        assert told.value.ok
