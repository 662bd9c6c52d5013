"""Conversations on the page: the list, links to them, their scope and documents, by keyboard."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from tests.browser.conftest import ask, fits, serious, serving, watched
from tests.support.printed_pages import drawn, put

REFUND = "How long do I have to request a refund?"
MEALS = "What is the daily limit for meals while travelling?"
ZEBRA = "How long does the zebra quarantine take in the harbour of Ostend?"


def answered(page: Page, question: str = REFUND) -> None:
    """Ask, and wait for the whole answer."""
    before = page.locator(".turn").count()
    ask(page, question)
    expect(page.locator(".turn")).to_have_count(before + 1)
    expect(page.locator(".turn").last.locator(".actions")).to_be_visible()


def id_of(page: Page) -> str:
    """The conversation in the page's address."""
    expect(page).to_have_url(re.compile(r"#/c/\w+"))
    return page.url.partition("#/c/")[2].partition("/")[0]


def read(site: str, conversation: str) -> dict[str, Any]:
    told: dict[str, Any] = httpx.get(f"{site}/v1/conversations/{conversation}").json()
    return told


def begun(site: str, *questions: str) -> str:
    """A conversation of the tenant with these questions answered; its id."""
    conversation = str(httpx.post(f"{site}/v1/conversations", json={}).json()["id"])
    for question in questions:
        told = httpx.post(
            f"{site}/v1/conversations/{conversation}/messages",
            json={"question": question, "stream": False}, timeout=60,
        )  # fmt: skip
        assert told.status_code == 200, told.text
    return conversation


def test_a_conversation_is_listed_found_renamed_and_deleted_with_undo(
    page: Page, site: str
) -> None:
    answered(page, MEALS)
    conversation = id_of(page)
    side = page.get_by_role("navigation", name="Conversations")
    today = side.get_by_role("region", name="Today")
    expect(today.get_by_role("link", name=MEALS).first).to_be_visible()
    own = side.locator(".row.open")
    own.get_by_role("link").focus()
    page.keyboard.press("F2")
    name = page.get_by_label("Name of the conversation")
    expect(name).to_be_focused()
    name.fill("Eating out")
    name.press("Enter")
    expect(own.get_by_role("link", name="Eating out")).to_be_focused()
    assert read(site, conversation)["title"] == "Eating out"
    side.get_by_label("Find a conversation").fill("eating o")
    expect(side.locator(".row")).to_have_count(1)
    side.get_by_label("Find a conversation").fill("daily limit for m")  # by a question of it
    expect(side.locator(".row", has_text="Eating out")).to_be_visible()
    side.get_by_label("Find a conversation").fill("no such thing at all")
    expect(side).to_contain_text("No conversation has that in its name or its questions.")
    side.get_by_label("Find a conversation").fill("")
    expect(own).to_be_visible()
    assert serious(page) == []
    own.get_by_role("link").focus()
    page.keyboard.press("Delete")
    expect(page.locator(".turn")).to_have_count(0)
    expect(side.get_by_role("link", name="Eating out")).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="was deleted")).to_be_visible()
    expect(side.get_by_role("button", name="Undo")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".turn .actions")).to_be_visible()
    expect(own.get_by_role("link", name="Eating out")).to_be_visible()
    own.hover()
    own.get_by_label("Delete Eating out").click()
    expect(page.locator(".welcome h1")).to_be_visible()
    page.reload()  # whoever leaves the page does not bring it back
    expect(page.locator(".welcome h1")).to_be_visible()
    expect(side.get_by_role("link", name="Eating out")).to_have_count(0)
    page.goto(f"{site}/#/c/{conversation}")
    expect(page.get_by_text("Conversation not found.")).to_be_visible()


def test_a_new_one_and_back_and_the_way_through_other_views(page: Page) -> None:
    answered(page)
    first = id_of(page)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".welcome h1")).to_be_visible()
    expect(page.locator("#question")).to_be_focused()
    page.go_back()
    expect(page.locator(".turn .prose")).to_contain_text("within 30 days")
    nav = page.get_by_role("navigation", name="Views")
    nav.get_by_role("link", name="Library").click()
    expect(page.locator(".library h1")).to_be_visible()
    nav.get_by_role("link", name="Ask").click()
    expect(page.locator(".turn .prose")).to_contain_text("within 30 days")
    assert id_of(page) == first
    page.keyboard.press("Control+k")
    page.keyboard.type("new conversation")
    page.keyboard.press("Enter")
    expect(page.locator(".welcome h1")).to_be_visible()


def test_each_conversation_has_a_draft_of_its_own(page: Page, site: str) -> None:
    page.fill("#question", "For a new one")
    conversation = begun(site)
    page.goto(f"{site}/#/c/{conversation}")
    expect(page.locator("#question")).to_have_value("")
    page.fill("#question", "For this one")
    page.goto(f"{site}/#/ask")
    expect(page.locator("#question")).to_have_value("For a new one")
    page.goto(f"{site}/#/c/{conversation}")
    page.reload()
    expect(page.locator("#question")).to_have_value("For this one")


def test_a_link_leads_to_a_message_wherever_it_is(page: Page, site: str) -> None:
    messages = [
        {"id": n, "parent_id": n - 1 or None, "question": f"Question {n}", "status": "done",
         "response": {"answer": f"Answer {n}.", "citations": [], "abstained": False}}
        for n in range(1, 31)
    ]  # fmt: skip
    export = httpx.get(f"{site}/v1/conversations/{begun(site)}/export").json()
    made = httpx.post(
        f"{site}/v1/conversations/import",
        json={"format": export["format"], "title": "Thirty", "messages": messages},
    ).json()["id"]
    tree = httpx.get(f"{site}/v1/conversations/{made}", params={"view": "tree"}).json()["tree"]
    page.goto(f"{site}/#/c/{made}")
    expect(page.locator(".turn")).to_have_count(10)
    page.get_by_role("button", name="Show earlier messages").click()
    expect(page.locator(".turn")).to_have_count(30)
    page.goto(f"{site}/#/ask")
    expect(page.locator(".welcome h1")).to_be_visible()
    page.goto(f"{site}/#/c/{made}/{tree[2]['id']}")
    linked = page.locator(".turn.linked")
    expect(linked).to_contain_text("Answer 3.")
    expect(linked).to_be_in_viewport()
    expect(linked.locator(".question")).to_be_focused()
    # one on another path becomes the one that is shown
    address = f"{site}/v1/conversations/{made}/messages/{tree[4]['id']}/edit"
    asked = {"question": REFUND, "stream": False}
    edited = httpx.post(address, json=asked, timeout=60).json()
    page.goto(f"{site}/#/c/{made}/{tree[9]['id']}")
    expect(linked).to_contain_text("Answer 10.")
    page.goto(f"{site}/#/c/{made}/{edited['message_id']}")
    expect(linked).to_contain_text("within 30 days")
    expect(linked.locator(".siblings")).to_contain_text("2 of 2")
    page.goto(f"{site}/#/c/{made}/999999999")
    expect(page.locator("#announced")).to_have_text("This message no longer exists.")


def test_a_document_put_to_a_conversation_is_cited_there_and_may_be_added_to_the_library(
    context: BrowserContext, module_database_url: str
) -> None:
    question = "Where is the lamp oil of the lighthouse of Knokke kept?"
    with serving(module_database_url, workers=1) as url, watched(context, url) as page:
        kept = "The lamp oil of the lighthouse of Knokke is kept in a copper cellar."
        file: FilePayload = {
            "name": "oil.pdf", "mimeType": "application/pdf",
            "buffer": drawn(lambda canvas: put(canvas, 60, 80, kept)),
        }  # fmt: skip
        page.get_by_label("Documents for this conversation").set_input_files(file)
        own = page.get_by_role("list", name="Documents attached to this conversation")
        add = own.get_by_role("button", name="Add Oil to the library")
        expect(add).to_be_visible(timeout=60_000)
        assert serious(page) == []
        answered(page, question)
        expect(page.locator(".prose")).to_contain_text("copper cellar")
        page.locator(".chip:enabled").first.click()
        expect(page.locator(".sheet mark.quote").first).to_contain_text("copper cellar")
        expect(page.locator(".sheet img")).to_be_visible()
        expect(page.locator(".sheet .box.quote").first).to_be_visible()
        page.get_by_label("Close the source").click()
        page.get_by_role("button", name="New conversation").click()
        expect(page.locator(".welcome h1")).to_be_visible()
        expect(own).to_have_count(0)
        answered(page, question)
        expect(page.locator(".refusal")).to_be_visible()
        page.locator(".row-link").nth(1).click()
        add.click()
        expect(own).to_have_count(0)
        tray = page.get_by_role("complementary", name="Imports")
        expect(tray).to_contain_text("1 file read", timeout=60_000)
        assert httpx.get(f"{url}/v1/documents", params={"q": "oil"}).json()["total"] == 1


def test_the_scope_of_a_conversation_stays_with_it(page: Page, site: str) -> None:
    answered(page)
    page.get_by_text("All documents").click()
    page.locator(".pick", has_text="Travel Handbook").locator("input").check()
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    page.reload()
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    with page.expect_response("**/messages") as sent:
        ask(page, MEALS)
    assert len(json.loads(sent.value.request.post_data or "{}")["document_ids"]) == 1
    page.get_by_role("button", name="Ask all").click()
    expect(page.locator(".chosen")).to_have_count(0)
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_text("All documents")).to_be_visible()


_TYPED_AT_ONCE = """
() => new Promise((done) => {
  location.hash = "#/ask";
  const type = () => {
    const box = document.getElementById("question");
    if (!box) return requestAnimationFrame(type);
    box.value = "Early";
    done(box.dispatchEvent(new Event("input", { bubbles: true })));
  };
  type();
})
"""


def test_words_typed_as_the_view_opens_are_the_new_conversation_s(page: Page) -> None:
    answered(page, MEALS)
    page.get_by_role("link", name="Library", exact=True).click()
    expect(page.locator(".library h1")).to_be_visible()
    page.evaluate(_TYPED_AT_ONCE)
    expect(page.locator(".welcome h1")).to_be_visible()
    expect(page.locator("#question")).to_have_value("Early")


def test_conversations_by_their_day(page: Page) -> None:
    names = page.evaluate(
        """async () => { const { groupsOf } = await import("/web/conversations/groups.js");
        const at = (day) => ({ updated_at: new Date(2026, 2, day, 23, 59).toISOString() });
        const list = [31, 30, 29, 26, 24, 2, 1, -40].map(at);
        const groups = groupsOf(list, new Date(2026, 2, 31, 0, 1));
        return groups.map((one) => [one.name, one.list.length]); }"""
    )
    assert names == [
        ["Today", 1], ["Yesterday", 1], ["The last 7 days", 2], ["The last 30 days", 2],
        ["March 2026", 1], ["January 2026", 1],
    ]  # fmt: skip


def test_another_tenant_does_not_see_them(page: Page) -> None:
    answered(page, ZEBRA)
    side = page.get_by_role("navigation", name="Conversations")
    expect(side.locator(".row.open")).to_be_visible()
    page.evaluate("import('/web/store.js').then((store) => store.chooseTenant('other'))")
    expect(page.get_by_text("Conversation not found.")).to_be_visible()
    expect(side.locator(".row")).to_have_count(0)


def test_by_keyboard_alone(page: Page) -> None:
    answered(page)
    page.get_by_role("button", name="New conversation").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".welcome h1")).to_be_visible()
    answered(page, MEALS)
    page.locator(".row.open .row-link").focus()
    page.keyboard.press("F2")
    page.keyboard.type("Not this")
    page.keyboard.press("Escape")
    expect(page.locator(".row.open .row-link")).to_be_focused()
    expect(page.locator(".row.open .row-link")).to_have_text(MEALS)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".turn .question")).to_have_text([REFUND])
    page.keyboard.press("Tab")
    expect(page.locator(".row.open").get_by_label(re.compile("Rename"))).to_be_focused()


_F2 = """async (link) => {
    link.focus();
    link.dispatchEvent(new KeyboardEvent("keydown", { key: "F2", bubbles: true }));
    for (let n = 0; n < 9; n++) await null; // drawn, and not yet painted
    return document.activeElement.id;
}"""


def test_a_name_is_typed_at_once_and_saved_by_leaving_it(page: Page) -> None:
    answered(page)
    link = page.locator(".row.open .row-link")
    assert link.evaluate(_F2) == "conversation-name"
    page.keyboard.type("Refunds")
    page.locator("#question").click()
    expect(link).to_have_text("Refunds")
    expect(page.locator("#question")).to_be_focused()


def test_on_a_phone_the_list_folds_above_the_thread(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(20_000)
    with watched(context, site) as page:
        answered(page)
        answered(page, "And for gift cards?")
        fold = page.locator(".sidebar summary")
        expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
        expect(fold).to_be_in_viewport()  # though the thread has been scrolled
        box, send = (page.locator(each).bounding_box() for each in (".composer", ".round.send"))
        assert box and send and send["x"] + send["width"] <= box["x"] + box["width"]
        assert serious(page) == []
        fold.click()
        expect(page.get_by_role("button", name="New conversation")).to_be_visible()
        assert serious(page) == []
        assert fits(page)
        page.get_by_role("button", name="New conversation").click()
        expect(page.locator(".welcome h1")).to_be_visible()
        expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
        assert fits(page)
    context.close()
