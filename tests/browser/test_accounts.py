"""Signing in with the page: by a link, by a password, and back to where one came from."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import BrowserContext, Route, expect

from helix.library.people.invitations import first_link, invite, link_to
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.browser.conftest import ask, choose, serious, serving, sign_in, watched


@pytest.fixture(scope="module")
def guarded(module_database_url: str) -> Iterator[str]:
    with serving(module_database_url, auth="accounts") as url:
        yield url


def test_a_link_makes_an_account_and_its_password_signs_in(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        secret = first_link(connection, "default")
        assert secret is not None
    place = link_to(guarded, secret).removeprefix(f"{guarded}/")
    with watched(context, guarded, place) as page:
        expect(page.get_by_role("heading", name="Choose a password")).to_be_visible()
        assert serious(page) == []
        assert secret not in page.url
        page.get_by_label("E-mail address").fill("ada@example.com")
        page.get_by_label("Name").fill("Ada")
        page.get_by_label("Password").fill("correct horse")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{guarded}/")
    context.clear_cookies()
    with watched(context, guarded, "#/library") as page:  # the page asks, and is sent here
        expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        page.emulate_media(color_scheme="dark")
        assert serious(page) == []
        expect(page.get_by_label("E-mail address")).to_be_focused()
        page.keyboard.type("ada@example.com")
        page.keyboard.press("Tab")
        page.keyboard.type("wrong horse")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("open no account")
        page.get_by_label("Password").fill("correct horse")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{guarded}/#/library")
        expect(page.get_by_text("The library is empty.")).to_be_visible()
        assert page.evaluate("document.cookie") == ""  # no script of a page sees it
        choose(page, "Your account")
        expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()


def test_an_address_is_kept_that_was_typed_before_the_server_knew_the_link(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        secret = invite(connection, "default", "", "reader")
    held: list[Route] = []
    context.route("**/v1/links/look", lambda route: held.append(route))
    with watched(context, guarded, link_to(guarded, secret).removeprefix(f"{guarded}/")) as page:
        page.get_by_label("E-mail address").fill("ida@example.com")
        held.pop().continue_()
        expect(page.get_by_label("Name")).to_be_visible()
        expect(page.get_by_label("E-mail address")).to_have_value("ida@example.com")
        expect(page.get_by_label("E-mail address")).to_be_focused()


def test_a_password_is_taken_before_the_server_says_how_one_signs_in(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        person = add_person(connection, "eve@example.com", "Eve", hashed("correct horse"))
        set_role(connection, "default", person, "reader")
    held: list[Route] = []
    context.route("**/v1/sign-in", lambda route: held.append(route))
    with watched(context, guarded, "web/sign-in.html") as page:
        sign_in(page, "eve", "wrong horse")
        expect(page.get_by_role("alert")).to_contain_text("open no account")
        with page.expect_response("**/v1/sign-in"):
            held.pop().continue_()
        expect(page.get_by_label("Password")).to_be_focused()
        page.get_by_label("Password").fill("correct horse")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{guarded}/")


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "evil"],
)
def test_signing_in_leads_to_a_path_of_this_server_alone(
    context: BrowserContext, guarded: str, wanted: str
) -> None:
    with watched(context, guarded, "web/sign-in.html") as page:
        found = page.evaluate(
            """async (wanted) => {
                const { nextOf } = await import("/web/accounts/requests.js");
                const search = `?next=${encodeURIComponent(wanted)}`;
                return nextOf({ origin: location.origin, search });
            }""",
            wanted,
        )
        assert found == "/"


def test_an_account_has_its_sessions_tokens_and_a_way_out(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        person = add_person(connection, "bob@example.com", "Bob", hashed("correct horse"))
        set_role(connection, "acme", person, "editor")
    with watched(context, guarded, "web/sign-in.html?next=/web/accounts/index.html") as page:
        sign_in(page, "bob")
        expect(page.get_by_text("Bob, editor of acme")).to_be_visible()
        expect(page.get_by_text("This browser")).to_be_visible()
        page.get_by_label("Token name").fill("laptop")
        page.get_by_label("read documents").check()
        expect(page.get_by_label("look at the server")).to_have_count(0)
        page.get_by_role("button", name="Create token").dblclick()
        expect(page.get_by_role("status").filter(has_text="hx_")).to_be_visible()
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("button", name="Revoke laptop")).to_have_count(1)
        assert serious(page) == []
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 360, "height": 740})
        assert serious(page) == []
        page.get_by_label("Current password").fill("not the password")
        page.get_by_label("New password").fill("another long one")
        page.get_by_role("button", name="Change password").click()
        expect(page.get_by_role("alert")).to_be_visible()
        expect(page.get_by_role("status").filter(has_text="hx_")).to_be_visible()  # told but once
        page.once("dialog", lambda asked: asked.accept())
        page.get_by_role("button", name="Revoke laptop").click()
        expect(page.get_by_role("button", name="Revoke laptop")).to_have_count(0)
        expect(
            page.get_by_text("it is shown only once")
        ).to_be_hidden()  # it opens nothing any more
        page.get_by_role("banner").get_by_role("link", name="Library").click()
        expect(page).to_have_title("Library · Helix")
        choose(page, "Settings")
        expect(page.get_by_label("Tenant")).to_have_count(0)
        page.get_by_role("link", name="Your account").click()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url("**/web/sign-in.html")


def test_a_session_that_ends_takes_no_question_with_it_and_signing_out_takes_all(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        for name in ("kim", "lea"):
            person = add_person(connection, f"{name}@example.com", name, hashed("correct horse"))
            set_role(connection, "default", person, "owner")
    with watched(context, guarded, "web/sign-in.html") as page:
        sign_in(page, "kim")
        page.fill("#question", "When is the harbour dredged?")
        context.clear_cookies()
        page.press("#question", "Enter")
        sign_in(page, "kim")  # back where it was asked, of which the server never heard
        expect(page.locator("#question")).to_have_value("When is the harbour dredged?")
        expect(page.locator("#question")).to_be_visible()
        other = context.new_page()
        other.goto(f"{guarded}/#/ask")
        other.fill("#question", "a secret of Kim's")
        choose(page, "Your account")
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url("**/web/sign-in.html")
        other.goto("about:blank")
        sign_in(page, "lea")
        expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
        expect(page.locator("#question")).to_have_value("")


def test_the_list_of_people_leaves_the_conversations_as_they_are(
    context: BrowserContext, guarded: str, module_database_url: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        person = add_person(connection, "mia@example.com", "Mia", hashed("correct horse"))
        set_role(connection, "default", person, "owner")
        invite(connection, "default", "", "reader")
    with watched(context, guarded, "web/sign-in.html") as page:
        sign_in(page, "mia")
        ask(page, "When is the harbour dredged?")
        expect(page.locator(".row")).to_have_count(1)
        choose(page, "People")
        taken = page.get_by_role("button", name="Revoke the invitation by a link")
        expect(taken.first).to_be_visible()
        page.get_by_role("link", name="Ask", exact=True).click()
        page.locator("#question").hover()
        expect(page.locator(".row-tools")).to_be_hidden()  # else they leave no room for its name


@pytest.mark.parametrize("role", ["reader", "editor"])
def test_who_may_change_the_library_alone_is_offered_to_add_to_it(
    context: BrowserContext, guarded: str, module_database_url: str, role: str
) -> None:
    with psycopg.connect(module_database_url) as connection:
        person = add_person(connection, f"{role}@example.com", role, hashed("correct horse"))
        set_role(connection, "default", person, role)
    attached = {"documents": [{"id": 1, "title": "Oil", "status": "ready", "error": ""}]}
    context.route("**/attachments", lambda route: route.fulfill(json=attached))
    with watched(context, guarded, "web/sign-in.html") as page:
        sign_in(page, role)
        ask(page, "When is the harbour dredged?")
        expect(page.get_by_label("Remove Oil from the conversation")).to_be_visible()
        offered = page.get_by_label("Add Oil to the library")
        expect(offered).to_have_count(int(role == "editor"))
