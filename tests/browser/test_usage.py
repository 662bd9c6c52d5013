"""The page of usage: one's own and everybody's, limits to set and to run into, at every size."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import psycopg
import pytest
from playwright.sync_api import BrowserContext, expect

from helix.library.keys import create_key
from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.browser.conftest import ask, choose, fits, serious, serving, sign_in, watched
from tests.serving.web.files import endpoints, missing

_USED = """
INSERT INTO usage_days (tenant_id, day, person_id, key_id, space_id, model, questions, refusals,
    votes_up, calls, unpriced, input_tokens, output_tokens, nano_usd)
VALUES ('default', %s, %s, %s, %s, %s, %s, 1, 2, 3, %s, 1500, 200, 1250000)
"""


@pytest.fixture(scope="module")
def office(module_database_url: str) -> Iterator[str]:
    day = datetime.now(UTC).date()
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        for name, role in {"ada": "owner", "bob": "reader"}.items():
            person = add_person(
                connection, f"{name}@example.com", name.title(), hashed("correct horse")
            )
            set_role(connection, "default", person, role)
            connection.execute(_USED, (day, person, None, 0, "gemini-3.5-flash-lite", 41, 0))
        robot, _ = create_key(connection, "default", "=nightly")
        connection.execute(_USED, (day, None, robot, None, "gpt-4.1", 7, 1))
    with serving(module_database_url, auth="accounts") as url:
        yield url


def test_an_owner_sees_everybody_and_sets_limits(context: BrowserContext, office: str) -> None:
    with watched(context, office, "web/sign-in.html") as page:
        sign_in(page, "ada")
        page.wait_for_url(f"{office}/")
        choose(page, "Usage")
        expect(page.get_by_role("heading", name="Usage", exact=True)).to_be_visible()
        table = page.get_by_role("table")
        expect(table.get_by_role("row")).to_have_count(5)
        expect(table).to_contain_text("=nightly (key 1)")
        expect(table).to_contain_text("Bob (bob@example.com)")
        expect(table).to_contain_text("Library")
        expect(page.get_by_text("The price of 1 of 9 calls is not known")).to_be_visible()
        assert serious(page) == []
        with page.expect_download() as download:
            page.get_by_role("button", name="Download CSV").click()
        rows = list(csv.DictReader(download.value.path().read_text("utf-8-sig").splitlines()))
        assert sorted(row["questions"] for row in rows) == ["41", "41", "7"]
        assert {row["key"] for row in rows} == {"", "'=nightly"}
        page.get_by_label("Model", exact=True).uncheck()  # by hand, and then by the keyboard
        page.get_by_label("Space", exact=True).focus()
        page.keyboard.press("Space")
        expect(table.get_by_role("columnheader", name="Model")).to_have_count(0)
        expect(table.get_by_role("columnheader", name="Space")).to_have_count(0)
        page.get_by_label("Limits of").select_option(label="Bob (bob@example.com)")
        page.get_by_label("Questions a day").fill("42")
        page.get_by_label("US dollars a month").fill("2.5")
        page.keyboard.press("Enter")
        expect(page.get_by_text("Questions a day: 42, US dollars a month: 2.5")).to_be_visible()
        expect(page.get_by_label("Questions a day")).to_have_value("42")
        page.emulate_media(color_scheme="dark")
        assert serious(page) == []
        assert fits(page)
        assert serious(page) == []
        cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
        with httpx.Client(base_url=office, cookies=cookies) as client:
            for name in ("GET /v1/usage", "GET /v1/usage/limits"):
                told = client.get(name.partition(" ")[2], headers={"Origin": office}).json()
                wanted = [path for path in endpoints()[name]["reads"] if not path.startswith("own")]
                assert missing(told, wanted) == [], name


def test_a_reader_sees_their_own_and_what_is_left(context: BrowserContext, office: str) -> None:
    with watched(context, office, "web/sign-in.html") as page:
        sign_in(page, "bob")
        page.wait_for_url(f"{office}/")
        ask(page, "What is the harbour fee?")  # the one that the limit leaves
        expect(page.locator(".turn .actions")).to_be_visible()  # it has ended, and is counted
        page.goto(f"{office}/#/usage")
        limit = page.get_by_role("progressbar", name="42 of 42 questions today")
        expect(limit).to_be_visible()
        expect(page.get_by_text("Used up until")).to_be_visible()
        expect(page.get_by_role("heading", name="Limits", exact=True)).to_have_count(0)
        expect(page.get_by_role("table")).to_contain_text("Bob")
        expect(page.get_by_role("table")).not_to_contain_text("Ada")
        assert serious(page) == []
        page.goto(f"{office}/#/ask")
        ask(page, "And the tram fee?")
        expect(page.get_by_text("used up its questions of the day").first).to_be_visible()


def test_nobody_who_is_alone_meets_it(context: BrowserContext, site: str) -> None:
    with watched(context, site) as page:
        page.get_by_role("button", name="More", exact=True).click()
        expect(page.get_by_role("menuitem", name="Privacy")).to_be_visible()
        expect(page.get_by_role("menuitem", name="Usage")).to_have_count(0)
