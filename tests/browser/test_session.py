"""API keys and tenants in the page; and its settings: the judge, a vote with a note."""

from __future__ import annotations

import httpx
import psycopg
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import ask, choose, fits, serious, serving, watched


def test_a_key_is_asked_for_and_opens_its_tenant_only(
    context: BrowserContext, guarded: str, keys: dict[str, str]
) -> None:
    with watched(context, guarded, "#/library") as page:
        dialog = page.get_by_role("dialog", name="API key required")
        expect(dialog).to_be_visible()
        assert serious(page) == []
        dialog.get_by_label("API key").fill("hx_" + "a" * 43)
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog.get_by_role("alert")).to_contain_text("is not valid on this server")
        dialog.get_by_label("API key").fill(keys["acme"])
        dialog.get_by_role("button", name="Continue").click()
        expect(dialog).to_be_hidden()
        expect(page.locator(".document")).to_have_count(1)
        expect(page.locator(".document")).to_contain_text("Acme Rules")
        expect(page.locator(".tenant")).to_have_text("acme")
        expect(page.locator(".list-head [role=status]")).to_have_text("1 document")
        assert keys["acme"] not in page.url
        assert page.evaluate("JSON.stringify(localStorage)").count("hx_") == 0
        page.reload()  # the key is known until the tab is closed
        expect(page.locator(".document")).to_contain_text("Acme Rules")
        choose(page, "Settings")
        expect(page.get_by_role("dialog", name="Settings")).to_contain_text("of the tenant acme")
        page.get_by_role("button", name="Sign out").click()
        expect(dialog).to_be_visible()
        dialog.get_by_label("API key").fill(keys["umbra"])
        dialog.get_by_label("API key").press("Enter")
        expect(page.locator(".document")).to_have_count(1)
        expect(page.locator(".document")).to_contain_text("Umbra Rules")


def test_without_keys_the_tenant_is_chosen(
    context: BrowserContext, module_database_url: str, keys: dict[str, str]
) -> None:
    with (
        serving(module_database_url) as url,
        watched(context, url, "#/library") as page,
    ):
        expect(page.get_by_text("The library is empty.")).to_be_visible()
        choose(page, "Settings")
        page.get_by_label("Tenant").fill("acme")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".document")).to_contain_text("Acme Rules")
        page.get_by_label("Delete Acme Rules").click()
        expect(page.get_by_role("dialog")).to_contain_text(
            "The file it was read from is not changed"
        )
        page.keyboard.press("Escape")
        page.reload()
        expect(page.locator(".document")).to_contain_text("Acme Rules")


def test_every_answer_is_judged_where_that_is_wanted(page: Page) -> None:
    choose(page, "Settings")
    page.get_by_label("Judge every answer").check()
    page.get_by_role("button", name="Save").click()
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".actions")).to_be_visible()
    page.get_by_text("Why this answer").click()
    expect(page.locator(".why")).to_contain_text("Verdict")
    expect(page.locator(".why")).to_contain_text("The sources support the answer.")
    assert serious(page) == []


def test_a_vote_and_its_note_are_stored_with_the_answer(page: Page, site: str) -> None:
    with page.expect_response("**/messages") as answer:
        ask(page, "How long do I have to request a refund?")
    page.get_by_label("Bad answer").click()
    note = page.get_by_role("dialog", name="Add a note")
    expect(note.get_by_label("Note")).to_be_focused()
    page.keyboard.type("It is 31 days.")
    assert serious(page) == []
    with page.expect_response("**/feedback") as sent:
        note.get_by_role("button", name="Send", exact=True).click()
    sent.value.finished()
    expect(note).to_be_hidden()
    kept = httpx.get(f"{site}/v1/answers/{answer.value.headers['x-answer-id']}").json()["feedback"]
    assert (kept[-1]["rating"], kept[-1]["note"]) == ("down", "It is 31 days.")


def test_an_answer_whose_source_has_changed_says_so(
    page: Page, site: str, library_url: str
) -> None:
    with page.expect_response("**/messages") as answer:
        ask(page, "How long does the zebra quarantine take in the harbour of Ostend?")
    expect(page.locator(".actions")).to_be_visible()
    identity = answer.value.headers["x-answer-id"]
    cited = httpx.get(f"{site}/v1/answers/{identity}").json()["citations"][0]
    with psycopg.connect(library_url, autocommit=True) as connection:
        original = connection.execute(
            "SELECT text FROM documents WHERE id = %s", (cited["document_id"],)
        ).fetchone()
        assert original is not None
        changed = original[0].replace("77 days", "78 days")
        update = "UPDATE documents SET text = %s WHERE id = %s"
        connection.execute(update, (changed, cited["document_id"]))
        try:
            page.goto(f"{site}/#/answer/{identity}")
            expect(page.get_by_text("A source of this answer has changed since.")).to_be_visible()
            page.locator(".chip:enabled").first.click()
            expect(page.get_by_text("The document has changed since it was cited.")).to_be_visible()
            assert fits(page)
        finally:
            connection.execute(update, (original[0], cited["document_id"]))
