"""Conversations as the README's tour shows them: a list of several days, a thread that goes on."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser.adversary import adversary
from tests.browser.conftest import fits, screenshots, serious, serving, watched
from tests.browser.test_conversations import answered, begun
from tests.support.repository import ROOT
from tests.support.service_process import run

_ASKED = (
    ("Hotel limits abroad", 0, "How much may a hotel room in Paris cost?"),
    ("Flow sensors", 0, "How much revenue did Brightwater make with flow sensors in 2025?"),
    ("", 1, "What is the warranty on the heat pump?"),
    ("Lost badge", 1, "What do I do when I lose my badge?"),
    ("Plans and prices", 4, "What does the Team plan cost per month?"),
    ("Refunds of gift cards", 5, "Can a gift card be refunded?"),
    ("First day at the office", 12, "What happens on my first day?"),
    ("Passwords", 20, "How long must a password be?"),
)
NORWAY = "How much is the daily allowance in Norway?"


@pytest.fixture(scope="module")
def tour(module_database_url: str) -> Iterator[str]:
    """A server over the samples with conversations of the last weeks."""
    told = run(
        "-m", "pipelines.ingest", str(ROOT / "samples"),
        DATABASE_URL=module_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    with serving(module_database_url, adversary()) as url:
        for title, days, question in reversed(_ASKED):
            conversation = begun(url, question)
            if title:
                httpx.patch(f"{url}/v1/conversations/{conversation}", json={"title": title})
            with psycopg.connect(module_database_url, autocommit=True) as connection:
                connection.execute(
                    "UPDATE conversations SET updated_at = now() - %s * interval '1 day'"
                    " WHERE id = %s",
                    (days, conversation),
                )
        yield url


def test_a_list_of_several_days_beside_a_thread(context: BrowserContext, tour: str) -> None:
    with watched(context, tour, "#/ask") as page:
        side = page.get_by_role("navigation", name="Conversations")
        for day, named in (
            ("Today", "Hotel limits abroad"), ("Yesterday", "Lost badge"),
            ("The last 7 days", "Plans and prices"), ("The last 30 days", "Passwords"),
        ):  # fmt: skip
            region = side.get_by_role("region", name=day, exact=True)
            expect(region.get_by_role("link", name=named)).to_be_visible()
        answered(page, NORWAY)
        answered(page, "And in Japan?")
        expect(page.locator(".turn").last.locator(".prose")).to_contain_text("52 euros a full day")
        page.locator(".turn").last.get_by_label("Answer again").click()
        expect(page.locator(".siblings")).to_contain_text("2 of 2")
        expect(page.locator(".turn").last.locator(".actions")).to_be_visible()
        expect(page.get_by_label("Memory of the conversation")).to_be_visible()
        expect(page.locator(".row-busy")).to_have_count(0)
        assert serious(page) == []
        page.mouse.move(640, 5)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=screenshots() / "conversation.png")


def test_the_same_on_a_phone(browser: Browser, tour: str) -> None:
    phone = browser.new_context(
        viewport={"width": 360, "height": 740}, color_scheme="dark", reduced_motion="reduce",
        has_touch=True, is_mobile=True,
    )  # fmt: skip
    phone.set_default_timeout(20_000)
    with watched(phone, tour, "#/ask") as page:
        answered(page, "How much is the daily allowance in Switzerland?")
        answered(page, "And in France?")
        expect(page.locator(".turn").last.locator(".prose")).to_contain_text("53 euros a full day")
        last = page.locator(".turn").last
        last.get_by_label("Edit the question").tap()
        page.get_by_label("The question", exact=True).fill("And in Germany?")
        page.get_by_role("button", name="Ask", exact=True).first.tap()
        expect(last.locator(".siblings")).to_contain_text("2 of 2")
        expect(last.locator(".prose")).to_contain_text("28 euros a full day")
        assert serious(page) == []
        assert fits(page)
        page.screenshot(path=screenshots() / "conversation-phone.png")
        page.locator(".sidebar summary").tap()
        # no pointer hovers here, so the open one shows what can be done with it
        own = page.locator(".row.open")
        expect(own.get_by_label("Rename")).to_be_visible()
        page.get_by_role("link", name="Lost badge").tap()
        # a list waits for the other conversation's questions to go; one locator refuses two at once
        expect(page.locator(".question")).to_have_text(["What do I do when I lose my badge?"])
        expect(page.get_by_role("button", name="New conversation")).to_be_hidden()
    phone.close()
