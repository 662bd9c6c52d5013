"""A server that is away for a while: what is asked then is kept, and asked when it is back."""

from __future__ import annotations

import json

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.adversary import adversary
from tests.browser.conftest import ask, serving, watched

REFUND = "How long do I have to request a refund?"
AWAY = "The server does not answer."


@pytest.mark.parametrize("reloaded", [False, True])
def test_a_question_that_is_asked_meanwhile_is_answered_when_it_is_back(
    context: BrowserContext, library_url: str, reloaded: bool
) -> None:
    with serving(library_url) as url:
        port = int(url.rpartition(":")[2])
        opened = watched(context, url)
        page = opened.__enter__()
        page.wait_for_selector(".welcome h1")
    ask(page, REFUND)
    expect(page.locator(".turn")).to_contain_text(AWAY)
    page.fill("#question", "And to be typed on")
    if reloaded:
        page.goto("about:blank")  # a tab that was closed
    with serving(library_url, port=port):
        if reloaded:
            page.goto(url)
        expect(page.locator(".prose")).to_contain_text("within 30 days of purchase")
        expect(page.locator(".turn")).to_have_count(1)
        expect(page.locator(".turn")).not_to_contain_text(AWAY)
        expect(page.locator("#question")).to_have_value("And to be typed on")
        identity = page.url.rpartition("/c/")[2].partition("/")[0]
        path = httpx.get(f"{url}/v1/conversations/{identity}").json()["path"]
        assert [message["question"] for message in path] == [REFUND], "once"
        page.reload()
        expect(page.locator(".turn")).to_have_count(1)
        opened.__exit__(None, None, None)


def test_a_question_that_the_server_had_before_it_died_is_not_asked_twice(page: Page) -> None:
    sent: list[str] = []

    def lost(route: Route) -> None:
        """The server has it, and nothing of its answer comes back."""
        sent.append(json.loads(route.request.post_data or "{}")["question"])
        route.fetch()
        route.abort("connectionreset")

    page.route("**/messages", lost)
    ask(page, REFUND)
    expect(page.locator(".prose")).to_contain_text("within 30 days of purchase")
    expect(page.locator(".turn")).to_have_count(1)
    assert sent == [REFUND]


def test_an_answer_says_what_became_of_it_each_time_its_server_restarts(
    context: BrowserContext, library_url: str
) -> None:
    with serving(library_url, adversary()) as url:
        port = int(url.rpartition(":")[2])
        opened = watched(context, url)
        page = opened.__enter__()
        ask(page, "slowly: what is it?")
        turn = page.locator(".turn")
        expect(turn).to_contain_text("Word1 ")
    for _ in range(2):
        for said in (turn, page.locator("#announced")):
            expect(said).to_contain_text(f"{AWAY} Trying again…")
        expect(turn).not_to_contain_text("will be sent")
        with serving(library_url, adversary(), port=port):
            ended = turn.get_by_role("alert")
            expect(ended).to_contain_text("The server stopped while it was answering.")
            expect(page.locator("#announced")).not_to_contain_text(AWAY)
            ended.get_by_role("button", name="Ask again").click()
            expect(turn).to_contain_text("Word1 ")
    opened.__exit__(None, None, None)


def test_a_question_that_waits_can_be_stopped(page: Page) -> None:
    tried: list[str] = []

    def refuse(route: Route) -> None:
        tried.append(route.request.url)
        route.abort("connectionrefused")

    page.route("**/messages", refuse)
    ask(page, REFUND)
    expect(page.locator(".turn")).to_contain_text(AWAY)
    page.press("#question", "Escape")
    expect(page.locator(".stopped")).to_be_visible()
    count = len(tried)
    page.wait_for_timeout(2500)  # the next try would have been made
    assert len(tried) == count
    page.unroute("**/messages")
    page.get_by_role("button", name="Ask again").click()
    expect(page.locator(".prose")).to_contain_text("within 30 days of purchase")


def test_what_could_not_be_loaded_is_loaded_by_its_button(page: Page, site: str) -> None:
    for place, request in (
        ("ask", "**/v1/conversations?*"), ("search?q=refund", "**/v1/search?*"),
        ("privacy", "**/v1/privacy"), ("study", "**/v1/study?*"), ("library", "**/v1/documents?*"),
    ):  # fmt: skip
        page.route(request, lambda route: route.abort())
        page.goto(f"{site}/#/{place}")
        page.reload()
        alert = page.get_by_role("alert").first
        expect(alert).to_contain_text("The server does not answer")
        page.unroute(request)
        alert.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_view_that_did_not_come_has_its_looks_when_it_does(page: Page) -> None:
    views = page.get_by_role("navigation", name="Views")
    page.context.set_offline(True)
    views.get_by_role("link", name="Library").click()
    expect(page.get_by_text("This part of the page did not load.")).to_be_visible()
    page.context.set_offline(False)
    views.get_by_role("link", name="Ask").click()
    views.get_by_role("link", name="Library").click()
    expect(page.locator(".drop")).to_have_css("display", "grid")


def test_a_question_that_was_stopped_on_its_way_stays_before_the_next(page: Page) -> None:
    on_its_way: list[Route] = []

    def hold_first(route: Route) -> None:
        if on_its_way:
            route.continue_()
        else:
            on_its_way.append(route)

    page.route("**/messages", hold_first)
    ask(page, "slowly: what is it?")
    expect(page.locator(".turn")).to_have_attribute("aria-busy", "true")
    page.press("#question", "Escape")
    expect(page.locator(".turn")).to_have_attribute("aria-busy", "false")
    ask(page, REFUND)
    page.wait_for_timeout(500)  # it would have been sent
    on_its_way[0].continue_()
    expect(page.locator(".turn").last.locator(".actions")).to_be_visible()
    page.reload()
    expect(page.locator(".turn .question")).to_have_text(["slowly: what is it?", REFUND])


@pytest.mark.parametrize(("last_known", "turns"), [(0, 1), (10**9, 2)])
def test_what_was_kept_as_the_page_was_left_is_asked_unless_it_got_there(
    page: Page, last_known: int, turns: int
) -> None:
    ask(page, REFUND)
    expect(page.locator(".turn .actions")).to_be_visible()
    page.evaluate(
        """async ([id, question, after]) => (await import("/web/conversations/kept.js")).keep(
            "unsent", { [id]: { question, after, scope: { documents: [], tags: [] }, images: [] } },
        )""",
        [page.url.rpartition("/c/")[2], REFUND, last_known],
    )
    page.reload()
    expect(page.locator(".turn .actions")).to_have_count(turns)
    page.wait_for_timeout(300)
    expect(page.locator(".turn")).to_have_count(turns)
