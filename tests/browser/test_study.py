"""The Study area: made by a worker, gone through by keyboard, each item beside its passage."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.browser.conftest import fits, screenshots, serious, serving, watched
from tests.support.study_texts import BRIDGE, FERRY


@pytest.fixture(scope="module")
def school(module_database_url: str) -> Iterator[str]:
    """A server with a worker, and two documents to learn from."""
    files = [("file", (f"{name}.md", text.encode())) for name, text in
             (("Halden Bridge", BRIDGE), ("Halden Ferry", FERRY))]  # fmt: skip
    with serving(module_database_url, workers=1) as url, httpx.Client(base_url=url) as client:
        run = client.post("/v1/documents", files=files).json()["run_id"]
        client.get(f"/v1/runs/{run}/events", timeout=60)  # it ends with the run
        yield url


@pytest.fixture
def study(context: BrowserContext, school: str) -> Iterator[Page]:
    with watched(context, school, "#/study") as opened:
        expect(opened.get_by_role("heading", name="Study", level=1)).to_be_visible()
        yield opened


def made(page: Page, kind: str, count: int) -> None:
    page.get_by_role("radio", name=kind).check()
    page.get_by_label("How many").fill(str(count))
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator(".set-head h1")).to_be_visible()
    expect(page.locator(".making")).to_have_count(0)


def test_a_quiz_is_made_and_taken_by_keyboard_with_the_source_beside_a_mistake(
    study: Page,
) -> None:
    assert serious(study) == []
    made(study, "Quiz", 5)
    expect(study.get_by_role("button", name="Start")).to_be_focused()
    study.keyboard.press("Enter")
    for n in range(1, 6):
        expect(study.locator(".quiz .eyebrow")).to_have_text(f"Question {n} of 5")
        expect(study.locator(".option input").first).to_be_focused()
        study.keyboard.press("1")
        study.keyboard.press("Enter")
        expect(study.locator(".reply")).to_contain_text(re.compile(r"^(Right|Wrong)\."))
        expect(study.locator(".reply .passage").first).to_be_visible()
        if n == 2:
            assert serious(study) == []
            study.reload()  # what was answered is kept, and the next question is the third
            study.get_by_role("button", name="Continue").click()
            continue
        study.keyboard.press("Enter")
    expect(study.locator(".seal-title")).to_have_text(re.compile(r"^[0-5] of 5 right$"))
    right = int((study.locator(".seal-title").text_content() or "")[0])
    expect(study.locator(".review > li")).to_have_count(5 - right)
    assert right < 5  # the first option is not always the right one
    passage = study.locator(".review .passage").first
    quote = passage.locator(".passage-text").text_content() or ""
    assert quote in BRIDGE or quote in FERRY
    passage.click()
    expect(study.locator(".panel mark").first).to_contain_text(quote.split()[0])
    study.keyboard.press("Escape")
    study.get_by_label("Close the source").click()
    expect(study.locator(".panel")).to_have_count(0)


def test_cards_are_turned_rated_and_taken_back_by_keyboard(study: Page, school: str) -> None:
    made(study, "Cards", 4)
    study.get_by_role("link", name="Review due cards").click()
    expect(study.locator(".due-line")).to_contain_text("left")
    first = study.locator(".flashcard .question").text_content() or ""
    study.keyboard.press("Space")
    expect(study.locator(".back")).to_be_visible()
    expect(study.get_by_role("button", name="Good")).to_be_focused()
    assert serious(study) == []
    study.screenshot(path=screenshots() / "study-card.png")
    study.keyboard.press("4")
    expect(study.locator(".flashcard .question")).not_to_have_text(first)
    study.keyboard.press("u")
    expect(study.locator(".flashcard .question")).to_have_text(first)
    due = httpx.get(f"{school}/v1/study/due").json()["cards"]
    for _ in due:
        study.keyboard.press("Space")
        expect(study.locator(".back")).to_be_visible()
        study.keyboard.press("4")
        expect(study.locator(".back")).to_have_count(0)
    expect(study.get_by_text("All due cards are reviewed.")).to_be_visible()


def test_a_deck_is_brought_in_and_a_card_of_the_library_gets_its_passage(study: Page) -> None:
    known = BRIDGE.split("\n\n")[1]
    table = f'front,back\nWhat is a caisson?,"{known}"\nWhat is my own?,A card of mine.\n'
    file = FilePayload(name="River words.csv", mimeType="text/csv", buffer=table.encode())
    study.get_by_label("Card file").set_input_files(file)
    study.get_by_role("link", name="River words").click()
    expect(study.locator(".set-head h1")).to_have_text(re.compile("River words"))
    study.get_by_text("What is my own?").click()
    expect(study.get_by_text("A card of mine.")).to_be_visible()
    expect(study.locator(".passage:visible")).to_have_count(0)
    study.get_by_text("What is a caisson?").click()
    study.locator(".passage").first.click()
    expect(study.locator(".panel mark").first).to_contain_text("A caisson")
    study.get_by_label("Close the source").click()
    study.get_by_role("link", name="Study").last.click()
    bad = FilePayload(name="empty.csv", mimeType="text/csv", buffer=b"\n")
    study.get_by_label("Card file").set_input_files(bad)
    expect(study.locator("#announced")).to_contain_text("has no card")  # the toast goes in 2.4 s
    assert serious(study) == []


def test_a_set_is_renamed_and_deleted_and_the_list_fits_a_phone_in_the_dark(study: Page) -> None:
    made(study, "Cards", 2)
    study.get_by_role("button", name="Rename").click()
    study.get_by_role("textbox", name="Name").fill("Of the river")
    study.keyboard.press("Enter")
    expect(study.locator(".set-head h1")).to_have_text("Of the river")
    study.get_by_role("link", name="Study").last.click()
    expect(study.get_by_role("link", name="Of the river")).to_be_visible()
    study.emulate_media(color_scheme="dark")
    assert serious(study) == []
    assert fits(study)
    study.get_by_role("link", name="Of the river").click()
    study.get_by_role("button", name="Delete").click()
    study.get_by_role("button", name="Delete", exact=True).last.click()
    expect(study.get_by_role("heading", name="Study", level=1)).to_be_visible()
    expect(study.get_by_role("link", name="Of the river")).to_have_count(0)


def test_a_set_that_failed_is_not_offered_as_a_file(study: Page, module_database_url: str) -> None:
    made(study, "Cards", 2)
    expect(study.get_by_role("button", name="CSV")).to_be_visible()
    with psycopg.connect(module_database_url) as connection:
        one = "(SELECT max(id) FROM study_sets)"
        connection.execute(f"DELETE FROM study_items WHERE set_id = {one}")
        connection.execute(
            "UPDATE runs SET status = 'failed', error = 'no worker'"
            f" WHERE id = (SELECT run_id FROM study_sets WHERE id = {one})"
        )
    study.reload()
    expect(study.get_by_role("alert")).to_contain_text("The set could not be created")
    for name in ("CSV", "Anki"):
        expect(study.get_by_role("button", name=name)).to_have_count(0)
    study.get_by_role("button", name="Delete").click()
    study.get_by_role("button", name="Delete", exact=True).last.click()
    expect(study.get_by_role("heading", name="Study", level=1)).to_be_visible()


def test_a_workshop_is_written_as_it_is_opened_and_its_lessons_are_ticked(study: Page) -> None:
    made(study, "Workshop", 3)
    expect(study.locator(".lesson").first).to_be_focused()
    study.keyboard.press("Enter")
    expect(study.locator("article .passage").first).to_be_visible()
    assert serious(study) == []
    study.locator("article .passage").first.click()
    expect(study.locator(".panel mark").first).to_be_visible()
    study.get_by_label("Close the source").click()
    study.get_by_role("button", name="Try the exercise").click()
    study.locator(".option").first.click()
    study.get_by_role("button", name="Answer").click()
    expect(study.locator(".reply")).to_contain_text(re.compile(r"^(Right|Wrong)\."))
    study.get_by_role("button", name="Close", exact=True).click()
    study.get_by_role("button", name=re.compile("^Done")).click()
    expect(study.locator("article .eyebrow")).to_contain_text("Lesson 2 of")
    study.get_by_role("button", name="All lessons").click()
    expect(study.locator(".lessons .unseen")).to_have_text(["done"])


def test_a_map_is_gone_through_folded_and_arranged_and_taken_along(study: Page) -> None:
    made(study, "Map", 12)
    nodes = study.get_by_role("treeitem")
    expect(nodes.first).to_be_visible()
    count = nodes.count()
    nodes.first.focus()
    study.keyboard.press("ArrowRight")
    branch = study.locator(".node:focus")
    expect(branch).to_have_attribute("aria-level", "2")
    assert serious(study) == []
    name = branch.get_attribute("aria-label")
    before = branch.get_attribute("transform") or ""
    study.keyboard.press("Alt+ArrowUp")
    expect(branch).not_to_have_attribute("transform", before)
    after = branch.get_attribute("transform") or ""
    study.get_by_role("button", name="Collapse all").click()
    expect(nodes).not_to_have_count(count)
    study.reload()
    moved = study.get_by_role("treeitem", name=name or "", exact=False).first
    expect(moved).to_have_attribute("transform", after)  # both are kept
    study.get_by_role("button", name="Expand all").click()
    expect(nodes).to_have_count(count)
    study.get_by_role("button", name="Reset positions").click()
    expect(moved).to_have_attribute("transform", before)
    for kind, first in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("PDF", b"%PDF")):
        with study.expect_download() as saving:
            study.get_by_role("button", name=kind, exact=True).click()
        assert saving.value.path().read_bytes().startswith(first)
    study.screenshot(path=screenshots() / "study-map.png")
    moved.press("Enter")
    expect(study.locator(".panel mark").first).to_be_visible()
    study.get_by_label("Close the source").click()
    assert fits(study)


def test_the_page_of_a_server_without_study_does_not_name_it(
    context: BrowserContext, module_database_url: str
) -> None:
    with (
        serving(module_database_url, study="off") as url,
        watched(context, url) as page,
    ):
        views = page.get_by_role("navigation", name="Views")
        expect(views.get_by_role("link")).to_have_text(["Ask", "Library", "Search"])
        page.get_by_role("button", name="More").click()
        expect(page.get_by_role("menuitem", name="Privacy")).to_be_visible()
        expect(page.get_by_role("menuitem", name="Progress")).to_have_count(0)
        page.goto(f"{url}/#/study")
        expect(page.get_by_text("Page not found.")).to_be_visible()
