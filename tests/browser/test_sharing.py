"""Two people in two browsers: one shares, the other reads, comments, loses the right."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.browser.conftest import ask, choose, fits, serious, serving, sign_in, watched
from tests.support.service_process import run

QUESTION = "How many trams does the depot in Ghent keep?"
TEXT = "The tram depot in Ghent keeps 41 trams."


@pytest.fixture(scope="module")
def guarded(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("shared") / "depot.txt"
    file.write_text(TEXT)
    told = run(
        "-m", "pipelines.ingest", str(file),
        DATABASE_URL=module_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        password = hashed("correct horse")
        for name, role in (("Ada", "owner"), ("Bob", "reader")):
            email = f"{name.lower()}@example.com"
            person = add_person(connection, email, name, password)
            set_role(connection, "default", person, role)
    with serving(module_database_url, auth="accounts", public_link_days=30) as url:
        yield url


@pytest.fixture
def other(browser: Browser) -> Iterator[BrowserContext]:
    opened = browser.new_context(viewport={"width": 1280, "height": 860})
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


def _put(page: Page, space: str, **about: object) -> None:
    """The one document moved to a space, by its owner."""
    page.evaluate(
        """async ([name, about]) => {
            const send = async (method, path, body) => (await fetch(path, {
                method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
            })).json();
            const { spaces } = await (await fetch("/v1/spaces")).json();
            const { id } = spaces.find((one) => one.name === name)
                ?? await send("POST", "/v1/spaces", { name, ...about });
            await send("POST", `/v1/spaces/${id}/documents`, { move: [1] });
        }""",
        [space, about],
    )


def test_one_shares_and_the_other_reads_until_they_may_not(
    context: BrowserContext, other: BrowserContext, guarded: str
) -> None:
    start = "web/sign-in.html?next=/"
    with watched(context, guarded, start) as ada, watched(other, guarded, start) as bob:
        sign_in(ada, "ada")
        sign_in(bob, "bob")
        ask(ada, QUESTION)
        expect(ada.get_by_role("region", name="Sources of the answer")).to_be_visible()
        ada.get_by_role("button", name="Share this answer").click()
        dialog = ada.get_by_role("dialog", name="Share this answer")
        dialog.get_by_label("Bob bob@example.com").check()
        assert serious(ada) == []
        dialog.get_by_role("button", name="Share", exact=True).click()
        expect(dialog.get_by_role("button", name="Stop sharing")).to_be_visible()
        dialog.get_by_role("link", name="Open: see what is shared").click()
        expect(ada.get_by_text("Shared by you")).to_be_visible()

        bob.evaluate("localStorage.setItem('helix.dates', 'de')")
        choose(bob, "Shared with me")
        expect(bob.locator(".account-row")).to_contain_text(re.compile(r"\d+\.\d+\.20\d\d"))
        bob.get_by_role("link", name=QUESTION).click()
        article = bob.get_by_role("article")
        expect(article).to_contain_text("41 trams")
        bob.get_by_role("region", name="Sources of the answer").get_by_role("button").click()
        expect(bob.get_by_role("complementary", name="Source of the answer")).to_contain_text(TEXT)
        bob.keyboard.press("Escape")
        expect(bob.get_by_role("complementary")).to_have_count(0)
        hostile = "<img src=x onerror='window.ran=1'>"
        bob.get_by_role("button", name="Comment on this answer").click()
        expect(bob.get_by_label("Write a comment")).to_be_focused()
        bob.get_by_label("Write a comment").fill(f"Is it 41? {hostile}\nI counted 40.")
        bob.keyboard.press("Control+Enter")
        comment = ada.get_by_role("region", name="Comments").get_by_role("listitem")
        expect(comment).to_contain_text(f"{hostile}\nI counted 40.")  # without a reload
        expect(comment.get_by_role("button", name="Edit")).to_have_count(0)
        assert serious(bob) == []
        bob.emulate_media(color_scheme="dark")
        assert serious(bob) == [] and fits(bob)

        bob.get_by_role("region", name="Sources of the answer").get_by_role("button").click()
        expect(bob.get_by_role("complementary")).to_contain_text(TEXT)
        _put(ada, "Board")  # which is not for Bob
        expect(bob.get_by_text("1 source you may not open")).to_be_visible()
        expect(article).not_to_contain_text("41 trams")
        expect(bob.get_by_role("complementary")).to_have_count(0)  # the source that was open
        assert serious(bob) == []
        expect(ada.get_by_role("article")).to_contain_text("41 trams")
        _put(ada, "Library")
        expect(article).to_contain_text("41 trams")

        comment.get_by_role("button", name="Delete").click()
        expect(bob.get_by_role("region", name="Comments").get_by_role("listitem")).to_have_count(0)
        ada.go_back()
        ada.get_by_role("button", name="Share this answer").click()
        dialog.get_by_role("button", name="Stop sharing").click()
        asked = ada.get_by_role("dialog", name="Stop sharing this?")
        assert serious(ada) == []
        ada.keyboard.press("Escape")
        expect(asked).to_be_hidden()
        expect(dialog.get_by_role("button", name="Stop sharing")).to_be_focused()
        ada.keyboard.press("Enter")
        asked.get_by_role("button", name="Stop sharing").click()
        expect(bob.get_by_text("This is not shared with you, or not any more.")).to_be_visible()
        assert TEXT not in bob.content()
        bob.get_by_role("link", name="What is shared with you").click()
        expect(bob.get_by_text("What others share with you will appear here.")).to_be_visible()


def test_a_conversation_is_followed_until_its_reader_is_signed_out(
    context: BrowserContext, other: BrowserContext, guarded: str
) -> None:
    start = "web/sign-in.html?next=/"
    with watched(context, guarded, start) as ada, watched(other, guarded, start) as bob:
        sign_in(ada, "ada")
        sign_in(bob, "bob")
        ask(ada, QUESTION)
        expect(ada.get_by_role("region", name="Sources of the answer")).to_be_visible()
        row = ada.locator(".row.open")  # above others that begin with the same question
        row.get_by_role("link").focus()
        row.get_by_role("button", name="Share How many").click()
        dialog = ada.get_by_role("dialog", name="Share this conversation")
        dialog.get_by_label("Every member").check()
        assert serious(ada) == []
        ada.keyboard.press("Enter")
        expect(dialog.get_by_role("button", name="Stop sharing")).to_be_visible()
        expect(dialog.get_by_role("button", name="Make a public link")).to_have_count(0)
        ada.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

        choose(bob, "Shared with me")
        bob.get_by_role("link", name=QUESTION).first.click()
        expect(bob.get_by_role("article")).to_have_count(1)
        assert serious(bob) == []
        ask(ada, "Where is the tram depot?")
        expect(bob.get_by_role("article")).to_have_count(2)  # without a reload
        expect(bob.get_by_role("heading", name="Where is the tram depot?")).to_be_visible()
        bob.evaluate("fetch('/v1/session', { method: 'DELETE' })")  # as another tab of his may
        bob.wait_for_url("**/web/sign-in.html?next=**")


def test_a_public_link_shows_the_answer_to_anybody_until_it_is_taken_back(
    context: BrowserContext, other: BrowserContext, guarded: str
) -> None:
    with watched(context, guarded, "web/sign-in.html?next=/") as ada:
        sign_in(ada, "ada")
        ask(ada, QUESTION)
        ada.route("**/v1/shares?*", lambda route: route.abort())
        ada.get_by_role("button", name="Share this answer").click()
        dialog = ada.get_by_role("dialog", name="Share this answer")
        expect(dialog.get_by_role("alert")).to_contain_text("The server does not answer")
        ada.unroute("**/v1/shares?*")
        dialog.get_by_role("button", name="Try again").click()
        dialog.get_by_role("button", name="Make a public link").dblclick()
        expect(dialog.get_by_role("listitem")).to_have_count(1)
        link = dialog.get_by_label("The link, shown this once").input_value()
        ada.emulate_media(color_scheme="dark")
        assert serious(ada) == [] and fits(ada)
        with watched(other, guarded, link.removeprefix(f"{guarded}/")) as stranger:
            expect(stranger.get_by_role("heading", name=QUESTION)).to_be_visible()
            expect(stranger.get_by_text("41 trams")).to_be_visible()
            expect(stranger.get_by_text("It rests on 1 source")).to_be_visible()
            assert "depot.txt" not in stranger.content()
            assert serious(stranger) == []
            stranger.emulate_media(color_scheme="dark")
            assert serious(stranger) == [] and fits(stranger)
            dialog.get_by_role("button", name="Revoke").click()
            expect(dialog.get_by_role("listitem")).to_have_count(0)
            stranger.reload()
            expect(stranger.get_by_text("This link has ended")).to_be_visible()
            assert "41 trams" not in stranger.content()


def test_without_accounts_there_is_nothing_to_share(context: BrowserContext, site: str) -> None:
    with watched(context, site) as page:
        ask(page, "How many vacation days do I get?")
        expect(page.get_by_role("button", name="Copy a link to this answer")).to_be_visible()
        expect(page.get_by_role("button", name="Share this answer")).to_have_count(0)
        page.get_by_role("button", name="More", exact=True).click()
        expect(page.get_by_role("menuitem", name="Shared with me")).to_have_count(0)
