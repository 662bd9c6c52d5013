"""Two people in two browsers: a space is given, read, asked, and taken away while it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from playwright.sync_api import Browser, FilePayload, Page, Route, expect

from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.browser.adversary import adversary
from tests.browser.conftest import ask, choose, fits, serious, serving, sign_in, watched

PASSWORD = "correct horse"
MINUTES = b"The crane of the harbour costs 41 thousand euros. It was bought in March."
ASKED = "slowly: what does the crane of the harbour cost?"


@pytest.fixture(scope="module")
def office(module_database_url: str) -> Iterator[str]:
    stored = hashed(PASSWORD)
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        for name, role in (("ada", "owner"), ("bob", "reader")):
            person = add_person(connection, f"{name}@example.com", name.title(), stored)
            set_role(connection, "default", person, role)
    with serving(module_database_url, adversary(), auth="accounts", workers=1) as url:
        yield url


@contextmanager
def _browser_of(browser: Browser, url: str, name: str, **looks: object) -> Iterator[Page]:
    context = browser.new_context(**looks)  # type: ignore[arg-type]
    context.set_default_timeout(20_000)
    with watched(context, url, "web/sign-in.html") as page:
        sign_in(page, name, PASSWORD)
        page.wait_for_url(f"{url}/")
        yield page
    context.close()


@pytest.fixture
def two(browser: Browser, office: str) -> Iterator[tuple[Page, Page]]:
    """Ada, an owner, at a desk; Bob, a reader, with a phone in the dark."""
    phone = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
    with ExitStack() as stack:
        desk = {"viewport": {"width": 1280, "height": 860}}
        ada = stack.enter_context(_browser_of(browser, office, "ada", **desk))
        yield ada, stack.enter_context(_browser_of(browser, office, "bob", **phone))


def test_a_space_is_given_read_asked_and_taken_away(two: tuple[Page, Page]) -> None:
    ada, bob = two
    expect(bob.get_by_text("Nothing to read here yet.")).to_be_visible()
    expect(bob.get_by_role("button", name="Space:")).to_have_count(0)
    _make(ada)

    _give(ada)
    expect(bob.get_by_role("button", name="Space: ")).to_be_visible()  # his page was told of it
    for width in (360, 390):
        bob.set_viewport_size({"width": width, "height": 740})
        study = bob.get_by_role("navigation", name="Views").get_by_role("link", name="Study")
        expect(study).to_be_in_viewport(ratio=1)  # none of the views is cut off on a phone
        named = bob.get_by_role("button", name="Space: ").get_by_text("Everything")
        assert named.evaluate("it => it.scrollWidth <= it.clientWidth")  # nor is the space's name
    bob.set_viewport_size({"width": 1280, "height": 860})
    bob.get_by_role("link", name="Library", exact=True).click()
    document = bob.get_by_role("link", name="Minutes", exact=True)
    expect(document).to_be_visible()
    expect(bob.get_by_role("button", name="Choose files")).to_have_count(0)  # he reads it
    expect(bob.get_by_role("button", name="Delete Minutes")).to_have_count(0)
    document.click()
    expect(bob.get_by_text("The crane of the harbour costs")).to_be_visible()
    assert serious(bob) == [] and fits(bob, 390)

    _remove(ada)
    expect(bob.get_by_text("This document no longer exists.")).to_be_visible()
    expect(bob.get_by_text("Ask this document")).to_have_count(0)
    bob.get_by_role("link", name="Library", exact=True).click()
    expect(bob.get_by_text("Nothing to read here yet.")).to_be_visible()
    expect(bob.get_by_role("button", name="Space:")).to_have_count(0)

    _give(ada)  # the list shows it without a reload, and so it goes
    expect(bob.get_by_role("link", name="Minutes", exact=True)).to_be_visible()
    _remove(ada)
    expect(bob.get_by_role("link", name="Minutes", exact=True)).to_have_count(0)

    _give(ada)
    bob.get_by_role("button", name="Space: Everything").click()
    assert serious(bob) == []
    bob.get_by_role("menuitemradio", name="Board").click()
    bob.get_by_role("link", name="Ask", exact=True).click()
    expect(bob.get_by_text("All of Board")).to_be_visible()
    ask(bob, ASKED)
    turn = bob.locator(".turn").last
    expect(turn).to_contain_text("Word2 ")
    _remove(ada)
    expect(turn).to_contain_text("may not be read any more")
    expect(bob.locator("main")).not_to_contain_text("41 thousand")
    expect(bob.get_by_text("All of Board")).to_have_count(0)


def _make(ada: Page) -> None:
    """Make the space Board, with a document in it, and show who it is given to."""
    choose(ada, "Spaces")
    ada.get_by_label("Name", exact=True).fill("Board")
    ada.get_by_role("button", name="Create space").click()
    expect(ada.get_by_role("heading", name="Board", level=1)).to_be_visible()
    assert serious(ada) == []
    ada.get_by_role("button", name="Open library").click()
    file = FilePayload(name="minutes.txt", mimeType="text/plain", buffer=MINUTES)
    ada.get_by_label("Files to add").set_input_files(file)
    added = ada.get_by_role("link", name="Minutes", exact=True)
    expect(added).to_be_visible(timeout=120_000)  # a worker has to start first
    ada.get_by_label("Select Minutes").check()
    ada.get_by_role("button", name="Space", exact=True).click()
    dialog = ada.get_by_role("dialog", name="Spaces of 1 document")
    expect(dialog).to_contain_text("Whoever may read them now still may")
    dialog.get_by_label("Move them there").check()
    expect(dialog).to_contain_text("readers of this space alone may read them")
    assert serious(ada) == []
    dialog.get_by_role("button", name="Cancel").click()
    ada.get_by_role("button", name="Clear selection").click()
    ada.get_by_role("button", name="Space: Board").click()
    ada.get_by_role("menuitem", name="All spaces…").click()
    ada.get_by_role("link", name="Board").click()


def _give(ada: Page) -> None:
    ada.get_by_role("combobox", name="Add").select_option(label="Bob")
    ada.get_by_role("button", name="Add", exact=True).click()
    expect(ada.get_by_label("Role of Bob")).to_be_visible()


def _remove(ada: Page) -> None:
    """Take the space from Bob, once it was asked whether."""
    ada.get_by_role("button", name="Remove Bob").click()
    asked = ada.get_by_role("dialog", name="Remove Bob from Board?")
    expect(asked.get_by_role("button", name="Cancel")).to_be_focused()
    expect(ada.get_by_label("Role of Bob")).to_have_count(1)
    asked.get_by_role("button", name="Remove", exact=True).click()


def test_a_group_is_deleted_once_it_was_asked_and_says_what_went_wrong(
    two: tuple[Page, Page],
) -> None:
    ada, _ = two
    choose(ada, "People")
    ada.get_by_label("Group name").fill("Crew")
    ada.get_by_role("button", name="Create group").click()
    group = ada.locator("details.group", has_text="Crew")
    group.locator("summary").click()
    deleting = group.get_by_role("button", name="Delete group")
    deleting.click()
    asked = ada.get_by_role("dialog", name="Delete Crew?")
    assert serious(ada) == []
    asked.get_by_role("button", name="Cancel").click()
    expect(asked).to_be_hidden()
    expect(deleting).to_be_focused()
    ada.route("**/v1/groups/*", lambda route: route.abort())
    deleting.click()
    asked.get_by_role("button", name="Delete", exact=True).click()
    expect(asked.get_by_role("alert")).to_contain_text("The server does not answer")
    ada.unroute("**/v1/groups/*")
    held: list[Route] = []
    ada.route("**/v1/groups/*", lambda route: held.append(route))
    asked.get_by_role("button", name="Delete", exact=True).dblclick()
    ada.keyboard.press("Escape")  # a failure is told all the same
    expect(asked).to_be_hidden()
    assert len(held) == 1
    held.pop().abort()
    expect(ada.locator(".toast")).to_contain_text("The server does not answer")
    ada.unroute("**/v1/groups/*")
    deleting.click()
    asked.get_by_role("button", name="Delete", exact=True).click()
    expect(group).to_have_count(0)
    expect(ada.get_by_role("main")).to_be_focused()  # its button is gone
