"""Passkeys with the page, by Chromium's own virtual authenticator."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import BrowserContext, CDPSession, Page, expect

from helix.library.people.members import set_role
from helix.library.people.passwords import hashed
from helix.library.people.persons import add_person
from tests.browser.conftest import fits, serious, serving, sign_in, watched

ACCOUNT = "/web/accounts/index.html"
SIGN_IN = f"web/sign-in.html?next={ACCOUNT}"
NOT_QUIETLY = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
"""A browser that fills in no passkeys; the virtual device, where they are filled in, picks one."""


@pytest.fixture(scope="module")
def named(module_database_url: str) -> Iterator[str]:
    """A server with a name, and an account."""
    with psycopg.connect(module_database_url) as connection:
        person = add_person(connection, "ada@example.com", "Ada", hashed("correct horse"))
        set_role(connection, "acme", person, "owner")
    with serving(module_database_url, auth="accounts") as url:
        yield url.replace("127.0.0.1", "localhost")


def authenticator_of(page: Page) -> tuple[CDPSession, str]:
    """A device that knows its person, and says so whenever it is asked."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2", "transport": "internal", "hasResidentKey": True,
        "hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session, str(made["authenticatorId"])


def test_a_passkey_is_added_signs_in_and_once_removed_does_not(
    context: BrowserContext, named: str
) -> None:
    with watched(context, named, SIGN_IN) as page:
        page.add_init_script(NOT_QUIETLY)
        device, authenticator = authenticator_of(page)
        sign_in(page, "ada")
        expect(page.get_by_text("Ada, owner of acme")).to_be_visible()
        section = page.get_by_role("region", name="Passkeys")
        section.get_by_label("Passkey name").fill("Laptop")
        section.get_by_label("Your password").fill("wrong horse")
        section.get_by_role("button", name="Add passkey").click()
        expect(page.get_by_role("alert")).to_contain_text("not the password of your account")
        section.get_by_label("Your password").fill("correct horse")
        section.get_by_role("button", name="Add passkey").click()
        expect(section.get_by_text("not used yet")).to_be_visible()
        told = device.send("WebAuthn.getCredentials", {"authenticatorId": authenticator})
        (held,) = told["credentials"]
        assert held["isResidentCredential"] and held["rpId"] == "localhost"
        section.get_by_label("Name of the passkey").fill("Old laptop")
        section.get_by_label("Name of the passkey").press("Enter")
        expect(section.get_by_role("button", name="Remove Old laptop")).to_be_visible()
        assert serious(page) == []
        page.emulate_media(color_scheme="dark")
        assert fits(page) and serious(page) == []

        page.get_by_role("button", name="Sign out", exact=True).click()
        by_passkey = page.get_by_role("button", name="Sign in with a passkey")
        expect(by_passkey).to_be_visible()
        assert fits(page) and serious(page) == []
        page.emulate_media(color_scheme="light")
        assert serious(page) == []
        by_passkey.click()
        page.wait_for_url(f"{named}/")
        page.goto(f"{named}{ACCOUNT}")
        expect(section.get_by_text("last used")).to_be_visible()

        remove = section.get_by_role("button", name="Remove Old laptop")
        page.once("dialog", lambda asked: asked.dismiss())
        remove.click()
        expect(remove).to_be_visible()
        page.once("dialog", lambda asked: asked.accept())
        remove.click()
        expect(section.get_by_role("button", name="Remove Old laptop")).to_have_count(0)
        page.get_by_role("button", name="Sign out", exact=True).click()
        by_passkey.click()
        expect(page.get_by_role("alert")).to_contain_text("opens no account here")
        sign_in(page, "ada")
        page.wait_for_url(f"{named}/")


def test_a_browser_that_fills_passkeys_in_signs_in_by_one(
    context: BrowserContext, named: str
) -> None:
    with watched(context, named, SIGN_IN) as page:
        authenticator_of(page)
        sign_in(page, "ada")
        section = page.get_by_role("region", name="Passkeys")
        section.get_by_label("Passkey name").fill("Phone")
        section.get_by_label("Your password").fill("correct horse")
        section.get_by_role("button", name="Add passkey").click()
        expect(section.get_by_text("not used yet")).to_be_visible()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.wait_for_url(f"{named}/")  # by the one that was filled in
        page.goto(f"{named}{ACCOUNT}")
        page.once("dialog", lambda asked: asked.accept())
        section.get_by_role("button", name="Remove Phone").click()
        expect(section.get_by_role("button", name="Remove Phone")).to_have_count(0)
        page.get_by_role("button", name="Sign out", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("opens no account here")


def test_without_a_name_the_page_offers_none(context: BrowserContext, named: str) -> None:
    at_address = named.replace("localhost", "127.0.0.1")
    with watched(context, at_address, SIGN_IN) as page:
        expect(page.get_by_label("E-mail address")).to_be_focused()
        expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
        sign_in(page, "ada")
        expect(page.get_by_text("Ada, owner of acme")).to_be_visible()
        expect(page.get_by_role("heading", name="Passkeys")).to_be_hidden()
