"""The Library view over a server with a worker: bring in, look at, label, read again, delete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.conftest import ask, fits, screenshots, serious, watched
from tests.browser.library_page import SLOW, add, file, row
from tests.support.sample_documents import Heading, docx, pdf, xlsx

TRAVEL = docx(
    Heading("Travel"), Heading("Hotels", 2), "A hotel room may cost 140 euros a night at most."
)
LEADERS = xlsx({"Expeditions": [("Expedition", "Leader"), ("Polar balloon", "Salomon Andersson")]})
# a file waits here for whoever holds the lock of the status that it is about to have
GATE = """
CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext(NEW.status));
    RETURN NEW;
END $$;
CREATE TRIGGER gate BEFORE UPDATE OF status ON run_files FOR EACH ROW
    WHEN (NEW.status <> OLD.status) EXECUTE FUNCTION gate();
"""


@pytest.fixture
def page(shelf: Page) -> Page:
    return shelf


@contextmanager
def held(url: str, *statuses: str) -> Iterator[psycopg.Connection]:
    """No file gets as far as these statuses until their locks are let go of."""
    with psycopg.connect(url, autocommit=True) as connection:
        for status in statuses:
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (status,))
        yield connection


def let_go(connection: psycopg.Connection, status: str) -> None:
    connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (status,))


def test_an_empty_library_says_what_to_do(page: Page, desk: str) -> None:
    expect(page.get_by_text("The library is empty.")).to_be_visible()
    expect(page.locator(".filters")).to_have_count(0)
    assert serious(page) == []
    page.goto(f"{desk}/#/ask")
    expect(page.get_by_text("The library is empty.")).to_be_visible()
    page.screenshot(path=screenshots() / "empty.png")
    page.get_by_role("link", name="Add documents").click()
    expect(page.get_by_text("Drop files or folders anywhere")).to_be_visible()


def test_a_phone_that_drops_nothing_is_not_told_to(browser: Browser, desk: str) -> None:
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    with watched(phone, desk, "#/library") as page:
        expect(page.locator(".drop strong")).to_have_text("Add documents")
        assert serious(page) == []
    phone.close()


def test_a_library_is_not_called_empty_while_documents_come(page: Page, desk: str) -> None:
    held: list[Route] = []
    page.route("**/v1/documents?partial=*", lambda route: held.append(route))
    page.goto(f"{desk}/#/ask")
    expect(page.get_by_text("The library is empty.")).to_be_visible()
    with page.expect_request(lambda one: one.method == "POST" and "partial" in one.url):
        page.evaluate(DROP, ["dragenter", "drop"])
    expect(page.get_by_text("Documents are being read.")).to_be_visible()
    expect(page.get_by_text("The library is empty.")).to_have_count(0)
    held[0].abort()
    expect(page.get_by_text("The library is empty.")).to_be_visible()


def test_an_upload_shows_each_stage_and_can_be_asked(
    page: Page, desk: str, module_database_url: str
) -> None:
    with closing(psycopg.connect(module_database_url, autocommit=True)) as admin:
        admin.execute(GATE)
    with held(module_database_url, "embedding", "writing", "added") as gate:
        add(page, file("travel.docx", TRAVEL), file("leaders.xlsx", LEADERS))
        travel = page.locator(".file", has_text=re.compile("travel", re.IGNORECASE))
        progress = travel.locator("progress")
        expect(travel.locator(".file-stage")).to_have_text(re.compile("^reading"), timeout=SLOW)
        reading = float(progress.get_attribute("value") or 0)
        let_go(gate, "embedding")
        expect(travel.locator(".file-stage")).to_have_text(re.compile("^indexing"), timeout=SLOW)
        embedding = float(progress.get_attribute("value") or 0)
        let_go(gate, "writing")
        expect(travel.locator(".file-stage")).to_have_text(re.compile("^storing"), timeout=SLOW)
        page.screenshot(path=screenshots() / "library.png")
        assert 0 < reading < embedding < float(progress.get_attribute("value") or 0) < 1
        expect(row(page, "Travel")).to_contain_text("Processing")
        assert serious(page) == []
        let_go(gate, "added")
        expect(page.locator(".run")).to_contain_text("2 files read", timeout=SLOW)
    expect(row(page, "Travel").locator("a").first).to_be_visible()
    row(page, "Travel").get_by_role("link", name="Travel", exact=True).click()
    expect(page.locator(".document-text")).to_contain_text("140 euros a night")
    page.get_by_text("Ask this document").click()
    ask(page, "How much may a hotel room cost a night?")
    expect(page.locator(".prose")).to_contain_text("140 euros")


DROP = """(names) => { const transfer = new DataTransfer();
    const text = "The lamp oil is kept in the cellar of the mill.";
    transfer.items.add(new File([text], "mill.txt"));
    transfer.items.add(new File([new Uint8Array(200)], "strange.bin"));
    for (const name of names) document.querySelector("main").dispatchEvent(
      new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true })); }"""


def test_files_are_dropped_on_any_view_and_a_bad_one_keeps_no_other_out(
    page: Page, desk: str
) -> None:
    page.wait_for_selector(".overlay, body > div > input[type=file]", state="attached")
    for place in ("library", "ask", "study", "evals"):
        page.goto(f"{desk}/#/{place}")
        expect(page.locator("h1")).to_be_visible()
        page.evaluate(DROP, ["dragenter", "dragover"])
        expect(page.locator(".overlay")).to_contain_text("Drop to add 2 items to the library")
        page.evaluate(DROP, ["dragleave"])
        expect(page.locator(".overlay")).to_have_count(0)
    page.goto(f"{desk}/#/privacy")
    expect(page.get_by_role("heading", name="What leaves this machine")).to_be_visible()
    page.evaluate(DROP, ["dragenter", "dragover"])
    expect(page.locator(".overlay")).to_contain_text("Drop to add 2 items to the library")
    page.screenshot(path=screenshots() / "drop.png")
    page.evaluate(DROP, ["drop"])
    expect(page.locator(".overlay")).to_have_count(0)
    expect(page.locator(".tray")).to_contain_text("1 file read, 1 refused", timeout=SLOW)
    assert serious(page) == []
    page.get_by_role("link", name="Open the library").click()
    card = page.locator(".run")
    expect(card).to_have_count(1)
    expect(card).to_contain_text("1 file read, 1 refused")
    expect(card.locator(".refused")).to_contain_text("Binary data")
    page.reload()
    expect(card).to_have_count(1)
    expect(card).to_contain_text("1 file read, 1 refused", timeout=SLOW)
    expect(card.locator(".refused")).to_contain_text("Binary data")
    expect(row(page, "Mill")).to_be_visible()
    again = file("mill-again.txt", b"The lamp oil is kept in the cellar of the mill.")
    add(page, again)
    expect(card.first).to_contain_text("in the library already")
    add(page, again, file("quay.txt", b"The quay has nine lamps."))
    expect(card.first).to_contain_text("1 file read", timeout=SLOW)
    expect(card.first).to_contain_text("One file is in the library already")
    assert serious(page) == []


def test_files_on_their_way_show_how_far_they_are_and_can_be_stopped(page: Page, desk: str) -> None:
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 200_000}
    line.send("Network.emulateNetworkConditions", slow)
    add(page, *(file(f"reef{n}.txt", b"The reef is far. " * 60_000) for n in range(8)))
    card = page.locator(".run", has_text="Sending 8 files")
    expect(card.get_by_role("progressbar", name="Sent")).to_have_attribute(
        "value", re.compile(r"^0\.[0-9]*[1-9]")
    )
    card.get_by_role("button", name="Stop").click()
    expect(page.locator(".run", has_text="Stopped")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_count(0)
    assert httpx.get(f"{desk}/v1/documents", params={"q": "reef"}).json()["total"] == 0


def test_a_file_that_cannot_be_read_says_why_and_is_tried_again(page: Page) -> None:
    add(page, file("locked.pdf", pdf("Nobody reads this.", password="secret")))
    run = page.locator(".run")
    expect(run).to_contain_text("1 file failed", timeout=SLOW)
    reason = run.locator(".reason").text_content() or ""
    assert "password" in reason
    failed = row(page, "locked")
    expect(failed.locator(".state")).to_have_text("Failed")
    page.get_by_label("Status", exact=True).select_option("failed")
    expect(page.locator(".document")).to_have_count(1)
    expect(page).to_have_url(re.compile("status=failed"))
    with page.expect_response("**/reingest") as answer:
        failed.get_by_text("Try again").click()
    assert answer.value.status == 202
    expect(page.locator(".run")).to_have_count(2)
    expect(page.locator(".run").first).to_contain_text("1 file failed", timeout=SLOW)


def test_a_text_is_pasted_and_kept(page: Page) -> None:
    page.get_by_role("button", name="Paste text").click()
    dialog = page.get_by_role("dialog", name="Paste text")
    expect(dialog.get_by_label("Text")).to_be_focused()
    dialog.get_by_role("button", name="Add the text").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("There is no text yet")
    dialog.get_by_label("Title").fill("Lighthouse notes")
    dialog.get_by_label("Text").fill("The lighthouse keeper trims the wick at dusk.")
    assert serious(page) == []
    dialog.get_by_label("Title").press("Enter")
    expect(page.locator(".run")).to_contain_text("1 file read", timeout=SLOW)
    expect(row(page, "Lighthouse notes")).to_contain_text("Lighthouse notes.txt")
    page.evaluate(
        """() => { const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "Second watch at midnight.");
        document.body.dispatchEvent(
          new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })); }"""
    )
    expect(dialog.get_by_label("Text")).to_have_value("Second watch at midnight.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.evaluate(
        """() => { const clipboardData = new DataTransfer();
        clipboardData.items.add(new File(["The bell rings in fog."], "bell.txt"));
        document.querySelector(".search input").dispatchEvent(
          new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })); }"""
    )
    expect(row(page, "Bell").locator("a").first).to_be_visible(timeout=SLOW)


def test_what_ended_well_folds_away_by_itself(page: Page) -> None:
    add(page, file("fold.txt", b"This card will not stay for long."))
    finished = page.locator(".finished")
    expect(finished).to_contain_text("1 finished: 1 file read", timeout=SLOW)
    expect(page.locator(".runs > .run")).to_have_count(0)
    finished.locator("summary").press("Enter")
    expect(finished.locator(".run")).to_contain_text("added")
    finished.get_by_role("button", name="Dismiss all").click()
    expect(page.locator(".runs")).to_have_count(0)


def test_search_sort_and_labels(page: Page, desk: str) -> None:
    page.get_by_label("Search", exact=True).fill("trav")
    expect(page.locator(".document")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=trav"))
    page.get_by_role("button", name="Label Travel").press("Enter")
    page.keyboard.type("2026, #travel, 2026")
    page.keyboard.press("Enter")
    expect(page.locator(".label")).to_have_text(["2026", "travel"])
    expect(page.locator(".document", has_text="Travel").locator(".label-edit")).to_be_focused()
    page.reload()
    expect(page.locator(".label")).to_have_text(["2026", "travel"])
    page.locator(".label").last.click()
    expect(page).to_have_url(re.compile("#/library\\?tag=travel$"))
    page.goto(f"{desk}/#/library?sort=title")
    titles = page.locator(".document-title > :first-child").all_text_contents
    expect(page.locator(".document").nth(2)).to_be_visible()
    from_a = titles()
    assert from_a == sorted(from_a, key=str.lower)
    page.get_by_label("Order", exact=True).select_option("Title, Z to A")
    expect(page).to_have_url(re.compile("sort=title&order=desc"))
    expect(page.locator(".document-title > :first-child").first).to_have_text(from_a[-1])
    page.get_by_label("Order", exact=True).select_option("Largest first")
    expect(page.locator(".document-title").first).not_to_have_text(from_a[-1])
    expect(page).to_have_url(re.compile("sort=size"))
    page.get_by_label("Kind", exact=True).select_option(label="Word (1)")
    expect(page.locator(".document")).to_have_count(1)
    expect(page).to_have_url(re.compile("format=docx"))
    page.get_by_label("Added", exact=True).select_option("Custom range")
    page.get_by_label("To", exact=True).fill("2020-01-01")
    expect(page.get_by_text("No documents match.")).to_be_visible()
    page.get_by_label("Added", exact=True).select_option("Today")
    expect(page.locator(".document")).to_have_count(1)
    page.get_by_text("Clear filters", exact=True).click()
    expect(page.locator(".document").nth(5)).to_be_visible()
    assert serious(page) == []
    assert fits(page)
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []


def test_delete_says_what_goes_and_it_is_gone(page: Page, desk: str) -> None:
    page.get_by_label("Delete Travel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("the uploaded file")
    dialog.get_by_text("Cancel").click()
    expect(row(page, "Travel")).to_be_visible()
    before = httpx.get(f"{desk}/v1/documents").json()["total"]
    page.get_by_label("Delete Travel").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(row(page, "Travel")).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()  # the button that had the focus is gone
    left = httpx.get(f"{desk}/v1/documents").json()
    assert left["total"] == before - 1
    assert "Travel" not in [one["title"] for one in left["documents"]]


def test_a_server_that_does_not_answer_and_then_does(page: Page, desk: str) -> None:
    page.route("**/v1/documents?*", lambda route: route.abort())
    page.get_by_label("Search", exact=True).fill("mill")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.unroute("**/v1/documents?*")
    page.get_by_role("alert").get_by_role("button", name="Try again").click()
    expect(page.locator(".document")).to_have_count(1)


def test_a_long_name_widens_neither_the_library_nor_a_dialog(page: Page) -> None:
    name = "inventory_of_" + "regulations_" * 12 + ".md"
    add(page, file(name, b"# Inventory\n\nThe inventory is counted in May."))
    expect(row(page, "Inventory")).to_be_visible(timeout=SLOW)
    assert fits(page, 1000)
    assert fits(page, 320)
    page.get_by_label("Select Inventory").check()
    page.get_by_role("button", name="Rename", exact=True).click()
    dialog = page.get_by_role("dialog", name="Rename 1 document")
    expect(dialog).to_contain_text(name)
    assert dialog.evaluate("(it) => it.scrollWidth <= it.clientWidth")


def test_a_press_beside_a_dialog_does_not_lose_what_was_written(page: Page) -> None:
    dialog = page.get_by_role("dialog", name="Paste text")
    page.get_by_role("button", name="Paste text").click()
    dialog.get_by_label("Text", exact=True).press_sequentially("Ten minutes of work.")
    page.mouse.click(5, 5)
    page.mouse.click(5, 5)
    expect(dialog.get_by_label("Text", exact=True)).to_have_value("Ten minutes of work.")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Paste text").click()
    expect(dialog).to_be_visible()
    page.mouse.click(5, 5)  # nothing is lost
    expect(dialog).to_be_hidden()


def test_what_is_asked_alone_has_its_present_title(page: Page) -> None:
    add(page, file("wick.txt", b"The wick of the lamp is trimmed at dusk."))
    expect(row(page, "Wick").locator(".labels")).to_be_visible(timeout=SLOW)
    page.get_by_label("Ask Wick").click()
    chosen = page.locator(".chosen")
    expect(chosen).to_contain_text("Wick")
    page.go_back()
    page.get_by_label("Edit title, facts and metadata of Wick").click()
    page.get_by_role("dialog").get_by_label("Title").fill("Lamps")
    page.keyboard.press("Enter")
    page.get_by_label("Ask Lamps").click()
    expect(chosen).to_contain_text("Lamps")
    page.go_back()
    page.get_by_label("Delete Lamps").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(page, "Lamps")).to_have_count(0)
    page.go_forward()
    expect(chosen).to_contain_text("(gone)")
