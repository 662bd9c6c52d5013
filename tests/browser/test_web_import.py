"""Pages and sites of the web brought into the Library view, over a server with a worker."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import serious
from tests.browser.library_page import SLOW, row
from tests.support.web_site import Website, links
from tests.support.web_site import page as web_page


@pytest.fixture
def page(shelf: Page) -> Page:
    return shelf


def from_web(page: Page, address: str) -> Locator:
    page.get_by_role("button", name="From the web").click()
    dialog = page.get_by_role("dialog", name="From the web")
    expect(dialog.get_by_label("Address")).to_be_focused()
    dialog.get_by_label("Address").fill(address)
    return dialog


def test_a_page_of_the_web_fails_with_its_reason_and_then_comes(page: Page, web: Website) -> None:
    dialog = from_web(page, "ftp://example.com/x")
    dialog.get_by_role("button", name="Import page").click()
    expect(dialog.get_by_role("alert")).to_contain_text("http:// or https://")
    dialog.get_by_label("Address").fill(f"http://{web.host}/bees")
    dialog.get_by_label("Address").press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator(".run .reason")).to_contain_text("404", timeout=SLOW)
    web.routes["/bees"] = web_page("Beekeeping", "<h2>Feeding</h2>Sugar dough in winter.")
    page.locator(".run").get_by_text("Try again").click()
    # for a moment the second attempt's card is there beside the first's
    expect(page.locator(".run")).to_have_text([re.compile("1 page read")], timeout=SLOW)
    bees = row(page, "Beekeeping")
    expect(bees.get_by_label("Open the original")).to_have_attribute(
        "href", re.compile(web.host + "/bees")
    )
    page.get_by_label("Read Beekeeping again").click()
    expect(page.locator(".run").first).to_contain_text("1 page read", timeout=SLOW)


def test_an_upload_under_an_address_of_the_web_is_not_fetched(page: Page, desk: str) -> None:
    given = {"source_uri": "https://inside.example/guide", "title": "Inside guide"}
    sent = {"file": ("guide.txt", b"Wax is melted at 64 degrees.")}
    assert httpx.post(f"{desk}/v1/documents", files=sent, data=given).status_code == 202
    with page.expect_response("**/reingest") as answer:
        page.get_by_label("Read Inside guide again").click(timeout=SLOW)
    assert answer.value.status == 202


def test_a_site_is_crawled_from_the_page(page: Page, web: Website) -> None:
    web.routes["/docs/"] = web_page("Hive Docs", links("/docs/wax", "/docs/smoke", "/shop"))
    web.routes["/docs/wax"] = web_page("Wax", "Wax is melted at 64 degrees.")
    web.routes["/docs/smoke"] = web_page("Smoke", "Smoke calms bees for ten minutes.")
    web.routes["/shop"] = web_page("Shop", "Not a part of it.")
    dialog = from_web(page, f"http://{web.host}/docs/")
    dialog.get_by_label("the pages it links to").check()
    dialog.get_by_label("Maximum number of pages").fill("0")
    dialog.get_by_role("button", name="Import pages").click()
    expect(dialog.get_by_role("alert")).to_contain_text("ages is a whole number from 1")
    assert serious(page) == []
    dialog.get_by_label("Maximum number of pages").fill("20")
    dialog.get_by_label("Labels").fill("hive")
    dialog.get_by_role("button", name="Import pages").click()
    expect(page.locator(".run")).to_contain_text("3 pages read", timeout=SLOW)
    expect(row(page, "Smoke").locator(".label")).to_have_text(["hive"])
    expect(row(page, "Shop")).to_have_count(0)


def test_a_server_that_keeps_out_of_the_web_says_so(page: Page) -> None:
    def without_web(route: Route) -> None:
        told = route.fetch().json()
        route.fulfill(json={**told, "web_imports": False})

    page.route("**/v1/library", without_web)
    page.reload()
    expect(page.get_by_text("does not import web pages")).to_be_visible()
    expect(page.get_by_role("button", name="From the web")).to_have_count(0)


def test_delete_says_that_the_page_stays_where_it_is(page: Page) -> None:
    page.get_by_label("Delete Beekeeping").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The web page itself is not changed.")
    page.keyboard.press("Escape")
    expect(row(page, "Beekeeping")).to_be_visible()
