"""The Library view over a server with a worker: bring in, look at, label, read again, delete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, FilePayload, Locator, Page, expect

from tests.browser.conftest import ask, fits, screenshots, serious, serving, watched
from tests.support.sample_documents import Heading, docx, pdf, xlsx
from tests.support.server_processes import website
from tests.support.web_site import Website
from tests.support.web_site import page as web_page

SLOW = 60_000  # ms: a worker starts, and others may have the machine
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


@pytest.fixture(scope="module")
def web() -> Iterator[Website]:
    with website({}) as site:
        yield site


@pytest.fixture(scope="module")
def desk(module_database_url: str, web: Website) -> Iterator[str]:
    """A server with a worker over an empty database."""
    with serving(module_database_url, workers=1, allow_hosts=(web.host,)) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, desk: str) -> Iterator[Page]:
    with watched(context, desk, "#/library") as opened:
        opened.wait_for_selector(".library h1")
        yield opened


@contextmanager
def held(url: str, *statuses: str) -> Iterator[psycopg.Connection]:
    """No file gets as far as these statuses until their locks are let go of."""
    with psycopg.connect(url, autocommit=True) as connection:
        for status in statuses:
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (status,))
        yield connection


def let_go(connection: psycopg.Connection, status: str) -> None:
    connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", (status,))


def file(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def add(page: Page, *files: FilePayload) -> None:
    page.get_by_label("Files to add").set_input_files(list(files))


def row(page: Page, title: str) -> Locator:
    return page.locator(".document", has_text=title)


def test_an_empty_library_says_what_to_do(page: Page, desk: str) -> None:
    expect(page.get_by_text("Nothing is here yet.")).to_be_visible()
    assert page.locator(".filters").count() == 0
    assert serious(page) == []
    page.goto(f"{desk}/#/ask")
    expect(page.get_by_text("The library is empty.")).to_be_visible()
    page.screenshot(path=screenshots() / "empty.png")
    page.get_by_role("link", name="Add documents").click()
    expect(page.get_by_text("Drop files or folders here")).to_be_visible()


def test_an_upload_shows_each_stage_and_can_be_asked(
    page: Page, desk: str, module_database_url: str
) -> None:
    with closing(psycopg.connect(module_database_url, autocommit=True)) as admin:
        admin.execute(GATE)
    with held(module_database_url, "embedding", "writing", "added") as gate:
        add(page, file("travel.docx", TRAVEL), file("leaders.xlsx", LEADERS))
        travel = page.locator(".file", has_text=re.compile("travel", re.IGNORECASE))
        progress = travel.locator("progress")
        expect(travel.locator(".file-stage")).to_contain_text("read", timeout=SLOW)
        reading = float(progress.get_attribute("value") or 0)
        let_go(gate, "embedding")
        expect(travel.locator(".file-stage")).to_contain_text("embed", timeout=SLOW)
        embedding = float(progress.get_attribute("value") or 0)
        let_go(gate, "writing")
        expect(travel.locator(".file-stage")).to_contain_text("write", timeout=SLOW)
        page.screenshot(path=screenshots() / "library.png")
        assert 0 < reading < embedding < float(progress.get_attribute("value") or 0) < 1
        expect(row(page, "Travel")).to_contain_text("Being read")
        assert serious(page) == []
        let_go(gate, "added")
        expect(page.locator(".run")).to_contain_text("2 files read", timeout=SLOW)
    expect(row(page, "Travel").locator("a").first).to_be_visible()
    row(page, "Travel").get_by_role("link", name="Travel", exact=True).click()
    expect(page.locator(".document-text")).to_contain_text("140 euros a night")
    page.get_by_text("Ask this document").click()
    ask(page, "How much may a hotel room cost a night?")
    expect(page.locator(".prose")).to_contain_text("140 euros")


def test_files_are_dropped_and_a_bad_one_keeps_no_other_out(page: Page) -> None:
    page.evaluate(
        """() => { const transfer = new DataTransfer();
        const text = "The lamp oil is kept in the cellar of the mill.";
        transfer.items.add(new File([text], "mill.txt"));
        transfer.items.add(new File([new Uint8Array(200)], "strange.bin"));
        const drop = document.querySelector(".drop");
        for (const name of ["dragover", "drop"]) drop.dispatchEvent(
          new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true })); }"""
    )
    expect(page.get_by_role("alert")).to_contain_text("strange.bin")
    expect(page.locator(".run").first).to_contain_text("1 file read", timeout=SLOW)
    expect(row(page, "Mill")).to_be_visible()
    add(page, file("mill-again.txt", b"The lamp oil is kept in the cellar of the mill."))
    expect(page.locator(".add")).to_contain_text("in the library already")


def test_a_file_that_cannot_be_read_says_why_and_is_tried_again(page: Page) -> None:
    add(page, file("locked.pdf", pdf("Nobody reads this.", password="secret")))
    run = page.locator(".run")
    expect(run).to_contain_text("1 file failed", timeout=SLOW)
    reason = run.locator(".reason").text_content() or ""
    assert "password" in reason
    failed = row(page, "locked")
    expect(failed.locator(".state")).to_have_text("Failed")
    page.get_by_label("Status").select_option("failed")
    expect(page.locator(".document")).to_have_count(1)
    expect(page).to_have_url(re.compile("status=failed"))
    with page.expect_response("**/reingest") as answer:
        failed.get_by_text("Try again").click()
    assert answer.value.status == 202
    expect(page.locator(".run")).to_have_count(2)
    expect(page.locator(".run").first).to_contain_text("1 file failed", timeout=SLOW)


def test_a_page_of_the_web_fails_with_its_reason_and_then_comes(page: Page, web: Website) -> None:
    address = page.get_by_label("The address of a page")
    address.fill("ftp://example.com/x")
    page.get_by_role("button", name="Fetch").click()
    expect(page.get_by_role("alert")).to_contain_text("http:// or https://")
    address.fill(f"http://{web.host}/bees")
    address.press("Enter")
    expect(page.locator(".run .reason")).to_contain_text("404", timeout=SLOW)
    web.routes["/bees"] = web_page("Beekeeping", "<h2>Feeding</h2>Sugar dough in winter.")
    page.locator(".run").get_by_text("Try again").click()
    expect(page.locator(".run")).to_contain_text("1 file read", timeout=SLOW)
    expect(page.locator(".run")).to_have_count(1)
    expect(row(page, "Beekeeping")).to_be_visible()
    page.get_by_label("Read Beekeeping again").click()
    expect(page.locator(".run").first).to_contain_text("1 file read", timeout=SLOW)


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
    expect(page.locator(".chosen")).to_contain_text("travel")
    page.goto(f"{desk}/#/library?sort=title")
    titles = page.locator(".document-title > :first-child").all_text_contents
    expect(page.locator(".document").nth(2)).to_be_visible()
    assert titles() == sorted(titles(), key=str.lower)
    page.get_by_label("Order").select_option("size")
    expect(page.locator(".document-title").first).not_to_have_text("Beekeeping")
    expect(page).to_have_url(re.compile("sort=size"))
    assert serious(page) == []
    assert fits(page)
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []


def test_delete_says_what_goes_and_it_is_gone(page: Page, desk: str) -> None:
    page.get_by_label("Delete Travel").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("the uploaded file itself")
    dialog.get_by_text("Keep it").click()
    expect(row(page, "Travel")).to_be_visible()
    page.get_by_label("Delete Beekeeping").click()
    expect(dialog).to_contain_text("The page on the web stays where it is.")
    page.keyboard.press("Escape")
    before = httpx.get(f"{desk}/v1/documents").json()["total"]
    page.get_by_label("Delete Travel").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(row(page, "Travel")).to_have_count(0)
    left = httpx.get(f"{desk}/v1/documents").json()
    assert left["total"] == before - 1
    assert "Travel" not in [one["title"] for one in left["documents"]]


def test_a_server_that_does_not_answer_and_then_does(page: Page, desk: str) -> None:
    page.route("**/v1/documents?*", lambda route: route.abort())
    page.get_by_label("Search", exact=True).fill("mill")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    page.unroute("**/v1/documents?*")
    page.get_by_role("alert").get_by_text("Try again").click()
    expect(page.locator(".document")).to_have_count(1)
