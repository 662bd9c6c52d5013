"""The turns of a conversation: branches, memory, resuming, what is interrupted or stale."""

from __future__ import annotations

import re

import httpx
import psycopg
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.conftest import ask, serious, serving, watched
from tests.browser.test_conversations import REFUND, ZEBRA, answered, begun, id_of, read

SLOW = "slowly: how long do I have to request a refund?"


def test_a_question_is_changed_in_place_and_both_stay(page: Page, site: str) -> None:
    answered(page)
    answered(page, "And for gift cards?")
    first = page.locator(".turn").first
    first.get_by_label("Edit the question").click()
    field = page.get_by_label("The question", exact=True)
    expect(field).to_be_focused()
    expect(field).to_have_value(REFUND)
    field.press("Escape")
    expect(first.get_by_label("Edit the question")).to_be_focused()
    page.keyboard.press("Enter")
    assert serious(page) == []
    field.fill(ZEBRA)
    field.press("Enter")
    expect(page.locator(".turn")).to_have_count(1)
    expect(first.locator(".prose")).to_contain_text("77 days")
    expect(first.locator(".siblings")).to_contain_text("2 of 2")
    expect(first.locator("h2")).to_be_focused()
    assert serious(page) == []
    first.get_by_label("Previous version").press("Enter")
    expect(page.locator(".turn")).to_have_count(2)  # what came after it is there again
    expect(first.locator(".question")).to_have_text(REFUND)
    expect(first.locator("h2")).to_be_focused()
    expect(first.locator(".prose")).to_contain_text("within 30 days")
    expect(first.locator(".siblings")).to_contain_text("1 of 2")
    page.reload()
    expect(first.locator(".siblings")).to_contain_text("1 of 2")
    expect(page.locator(".turn")).to_have_count(2)
    assert len(read(site, id_of(page))["path"]) == 2


def test_an_answer_is_made_again_beside_the_first(page: Page) -> None:
    answered(page)
    turn = page.locator(".turn")
    turn.get_by_label("Answer again").click()
    expect(turn.locator(".siblings")).to_contain_text("2 of 2")
    expect(turn.locator(".prose")).to_contain_text("within 30 days")
    turn.get_by_label("Answer again").click()
    expect(turn.locator(".siblings")).to_contain_text("3 of 3")
    turn.get_by_label("Previous version").click()
    expect(turn.locator(".siblings")).to_contain_text("2 of 3")
    expect(turn.locator(".chip:enabled").first).to_be_visible()


def test_the_second_question_tells_how_full_the_memory_is(
    page: Page,
) -> None:
    answered(page)
    expect(page.get_by_label("Memory of the conversation")).to_have_count(0)
    answered(page, "And for gift cards?")
    meter = page.get_by_label("Memory of the conversation")
    expect(meter).to_be_visible()
    expect(page.locator(".memory")).to_have_attribute("title", re.compile("1 of 1 earlier quest"))
    assert serious(page) == []


def test_only_a_question_that_is_put_in_full_says_how_it_was_understood(page: Page) -> None:
    answered(page)
    answered(page, "How many days of leave do full-time employees have a year?")
    answered(page, "Why is that so?")
    expect(page.locator(".turn")).to_have_count(3)
    expect(page.locator(".understood")).to_have_count(0)


def test_what_an_earlier_answer_says_is_told_in_words_of_its_own(page: Page) -> None:
    said = "It takes 14 days."

    def put(route: Route) -> None:
        found = route.fetch().json()
        rests = {"start": 0, "end": len(said), "turns_before": 2, "citations": []}
        response = found["path"][-1]["response"]
        response["answer"], response["turn"] = said, {"from_history": [rests]}
        route.fulfill(json=found)

    answered(page)
    page.route("**/v1/conversations/*", put)
    page.reload()
    expect(page.locator(".from-history li")).to_have_text(f"“{said}” 2 answers ago")


def test_what_was_read_is_told_apart_by_its_first_words(page: Page) -> None:
    answered(page)
    page.get_by_text("Why this answer").click()
    read = page.locator(".read button")
    expect(read.first).to_be_visible()
    words = read.all_inner_texts()
    assert len(words) > 2 and len(set(words)) == len(words)
    titles = page.locator(".read .passage-title").all_inner_texts()
    assert len(set(titles)) == len(titles), "each document once"


def test_an_answer_goes_on_over_a_reload_and_in_a_second_tab(
    context: BrowserContext, page: Page, site: str
) -> None:
    ask(page, SLOW)
    expect(page.locator(".prose")).to_contain_text("Word3 ")
    page.reload()
    expect(page.locator(".prose")).to_contain_text("Word0 Word1 Word2 Word3 ")
    with watched(context, site) as other:  # the bare address goes on where one was
        expect(other.locator(".prose")).to_contain_text("Word0 Word1 ")
        expect(other.locator(".row.open .row-busy")).to_be_visible()
        told = other.locator(".prose").text_content() or ""
        last = int(re.findall(r"Word(\d+) ", told)[-1])
        expect(other.locator(".prose")).to_contain_text(f"Word{last + 10} ")
        other.get_by_role("button", name="Stop").click()
        expect(other.locator(".stopped")).to_contain_text("not the whole answer")
    expect(page.locator(".stopped")).to_contain_text("not the whole answer")
    expect(page.locator(".row.open .row-busy")).to_have_count(0)
    status = read(site, id_of(page))["path"][0]["status"]
    assert status == "stopped"
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".siblings")).to_contain_text("2 of 2")
    page.press("#question", "Escape")
    expect(page.locator(".stopped")).to_be_visible()


def test_a_broken_connection_is_taken_up_where_it_was(page: Page) -> None:
    sent: list[str | None] = []

    def cut(route: Route) -> None:
        frames = route.fetch().text().split("\n\n")
        body = "".join(f"{frame}\n\n" for frame in frames[:4])
        route.fulfill(body=body, content_type="text/event-stream")

    def follow(route: Route) -> None:
        sent.append(route.request.headers.get("last-event-id"))
        route.continue_()

    page.route("**/messages", cut)
    page.route("**/events", follow)
    ask(page, REFUND)
    expect(page.locator(".turn .actions")).to_be_visible()
    expect(page.locator(".prose")).to_contain_text("accepted within 30 days of purchase")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert sent == ["4"]


def test_a_connection_that_is_silent_is_taken_up_too(page: Page) -> None:
    ended = page.evaluate("""async () => {
        const { events } = await import("/web/sse.js");
        const waits = [];
        const after = window.setTimeout;
        window.setTimeout = (then, wait) => after(then, waits.push(wait) && 10);
        const ended = events(new Response(new ReadableStream()).body).next();
        const late = new Promise((resolve) => after(() => resolve({}), 5000));
        const { done } = await Promise.race([ended, late]);
        window.setTimeout = after;
        return [done, ...waits.filter((wait) => wait > 1000)];
    }""")
    assert ended == [True, 40_000], "the server pings every 15 s"


def test_an_interrupted_answer_says_so_and_is_asked_again(
    page: Page, site: str, library_url: str
) -> None:
    conversation = begun(site)
    with psycopg.connect(library_url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO messages (conversation_id, branch, depth, is_active, question,"
            " answer_id, owner, seen_at) VALUES (%s, 1, 0, true, %s, 'gone', 'gone',"
            " now() - interval '1 minute')",
            (conversation, REFUND),
        )
    page.goto(f"{site}/#/c/{conversation}")
    turn = page.locator(".turn")
    expect(turn).to_contain_text("The server stopped while it was answering.")
    turn.get_by_role("button", name="Ask again").click()
    expect(turn.locator(".prose")).to_contain_text("within 30 days")
    expect(turn.locator(".siblings")).to_contain_text("2 of 2")


def test_an_answer_whose_document_has_changed_is_marked_and_asked_again(
    page: Page, site: str, library_url: str
) -> None:
    conversation = begun(site, ZEBRA)
    (kept,) = read(site, conversation)["path"]
    document = kept["response"]["citations"][0]["document_id"]
    change = "UPDATE documents SET content_hash = %s WHERE id = %s"
    with psycopg.connect(library_url, autocommit=True) as connection:
        found = connection.execute("SELECT content_hash FROM documents WHERE id = %s", (document,))
        before = found.fetchall()[0][0]
        connection.execute(change, ("changed", document))
        try:
            page.goto(f"{site}/#/c/{conversation}")
            stale = page.locator(".stale")
            expect(stale).to_contain_text("This answer may be out of date.")
            expect(stale).to_contain_text("the quotes are still in it")
            assert serious(page) == []
            stale.get_by_role("button", name="Ask again").click()
            expect(page.locator(".siblings")).to_contain_text("2 of 2")
            expect(page.locator(".prose")).to_contain_text("77 days")
            expect(stale).to_have_count(0)
        finally:
            connection.execute(change, (before, document))


def test_an_answer_whose_document_is_gone_keeps_its_question(
    context: BrowserContext, module_database_url: str
) -> None:
    with serving(module_database_url, workers=1) as url:
        file = ("mill.txt", b"The windmill of Damme grinds 12 tonnes of rye a year.")
        told = httpx.post(f"{url}/v1/documents", files=[("file", file)]).json()
        document = told["documents"][0]["id"]
        httpx.get(f"{url}/v1/runs/{told['run_id']}/events", timeout=60)
        conversation = begun(url, "How many tonnes of rye does the windmill of Damme grind?")
        with watched(context, url, f"#/c/{conversation}") as page:
            expect(page.locator(".prose")).to_contain_text("12 tonnes")
            assert httpx.delete(f"{url}/v1/documents/{document}").status_code == 204
            doubted = "jsonb_set(response, '{support,answers}', '{\"probability\": 0.2}')"
            with psycopg.connect(module_database_url, autocommit=True) as connection:
                changed = connection.execute(f"UPDATE messages SET response = {doubted}")
            assert changed.rowcount > 0
            page.reload()
            expect(page.locator(".stale")).to_contain_text("This answer is no longer shown.")
            expect(page.locator(".stale")).to_contain_text("A source of this answer was removed on")
            expect(page.locator(".question")).to_contain_text("windmill of Damme")
            expect(page.locator(".support-note")).to_have_count(0)
            assert "12 tonnes" not in page.content()
            with psycopg.connect(module_database_url, autocommit=True) as connection:
                connection.execute("DELETE FROM removals")  # as where a reader may not see it
            page.reload()
            expect(page.locator(".stale")).to_contain_text("is not available any more")
            expect(page.locator(".stale")).not_to_contain_text("removed")
