"""Sources on the page: added in three steps, followed, and what waits removed by a yes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import fits, serious, serving, watched
from tests.serving.web.files import endpoints, missing


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources") / "handbook"
    folder.mkdir()
    for n in range(5):
        (folder / f"crate-{n}.md").write_text(f"# Crate {n}\n\nCrate {n} holds {n + 7} lanterns.")
    (folder / "broken.pdf").write_bytes(b"\x00\x01")
    return folder


@pytest.fixture(scope="module")
def workplace(module_database_url: str, shared: Path) -> Iterator[str]:
    """A server with a worker, where sources may be added in one folder."""
    folders = (str(shared.parent),)
    with serving(module_database_url, workers=1, source_folders=folders, removals=2) as url:
        yield url


@pytest.fixture
def page(context: BrowserContext, workplace: str) -> Iterator[Page]:
    with watched(context, workplace, "#/sources") as opened:
        opened.wait_for_selector(".sources h1")
        yield opened


def _add(page: Page, address: str, name: str) -> None:
    page.get_by_role("button", name="Add a source").click()
    page.get_by_label("Address").fill(address)
    page.get_by_role("button", name="Next").click()
    page.get_by_label("Labels of its documents").fill("crates")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Step 3 of 3: How often")).to_be_focused()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add", exact=True).click()


def test_a_folder_is_added_followed_and_what_is_gone_waits(
    page: Page, workplace: str, shared: Path
) -> None:
    expect(page.get_by_text("There is no source yet.")).to_be_visible()
    _add(page, str(shared), "Handbook")
    row = page.locator(".source-list li")
    expect(row.locator(".state")).to_have_text("In step", timeout=60_000)
    expect(row).to_contain_text("5 documents · synced just now · next in")
    listed = httpx.get(f"{workplace}/v1/sources").json()
    assert missing(listed, endpoints()["GET /v1/sources"]["reads"]) == []
    assert serious(page) == [] and fits(page)

    row.get_by_role("link", name="Handbook").click()
    expect(page.locator("h1")).to_contain_text("Handbook")
    expect(page.locator(".facts")).to_contain_text("5 new, 1 not read")
    expect(page.locator(".source-keys")).to_contain_text("broken.pdf")
    for n in (0, 1, 2):
        (shared / f"crate-{n}.md").unlink()
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("Would wait for a yes: 3")).to_be_visible(timeout=60_000)
    source = listed["sources"][0]["id"]
    page.get_by_role("button", name="Sync now").click()
    expect(page.get_by_text("3 documents would be removed.")).to_be_visible(timeout=60_000)
    told = httpx.get(f"{workplace}/v1/sources/{source}").json()
    wanted = endpoints()["GET /v1/sources/{source_id}"]["reads"]
    assert missing(told, [path for path in wanted if not path.startswith("preview.")]) == []
    assert serious(page) == [] and fits(page)
    page.get_by_role("button", name="Remove 3 documents").click()
    expect(page.locator(".facts")).to_contain_text("3 removed", timeout=60_000)
    expect(page.get_by_text("Gone at the source")).to_have_count(0)


def test_a_document_tells_its_source_and_leads_there(page: Page, workplace: str) -> None:
    document = httpx.get(f"{workplace}/v1/documents").json()["documents"][0]["id"]
    page.goto(f"{workplace}/#/source/{document}")
    page.get_by_role("link", name="Handbook").click()
    expect(page.locator(".sources h1")).to_contain_text("Handbook")


def test_what_is_wrong_is_told_in_words_and_in_the_dark(page: Page, workplace: str) -> None:
    page.emulate_media(color_scheme="dark")
    _add(page, "/etc", "Elsewhere")
    row = page.locator(".source-list li", has_text="Elsewhere")
    expect(row.locator(".state")).to_have_text("Not in step", timeout=60_000)
    expect(row.locator(".reason")).to_contain_text("HELIX_SOURCE_FOLDERS")
    assert serious(page) == []
    row.get_by_role("link", name="Elsewhere").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was removed.")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("button", name="Keep the documents").click()
    expect(page.locator(".source-list li")).to_have_count(1)


def test_every_kind_is_offered_with_its_own_fields(page: Page) -> None:
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Add a source").focus()
    page.keyboard.press("Enter")
    kinds = page.get_by_label("What it is")
    expect(kinds).to_be_focused()
    kinds.select_option("git")
    expect(page.get_by_label("Token, by HTTPS")).to_have_attribute("type", "password")
    assert serious(page) == [] and fits(page)
    page.keyboard.press("Escape")
    expect(page.get_by_label("What it is")).to_have_count(0)
