"""Around the views: the header's menu, the palette, shortcuts, where the focus begins, titles."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import ask, choose, fits, serious, watched


def test_typing_goes_to_the_question_at_once(page: Page) -> None:
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("how long")
    expect(page.locator("#question")).to_have_value("how long")


def test_the_rest_is_under_one_menu_worked_by_keys(page: Page) -> None:
    nav = page.get_by_role("navigation", name="Views")
    expect(nav.get_by_role("link")).to_have_text(["Ask", "Library", "Search", "Study"])
    more = page.get_by_role("button", name="More", exact=True)
    more.press("ArrowDown")
    item = page.get_by_role("menuitem")
    expect(item).to_have_text(
        ["Sources", "Evals", "Privacy", "Progress", "Prompts", "API docs", re.compile("^Settings"),
         "Keyboard shortcuts?"]
    )  # fmt: skip
    expect(item.first).to_be_focused()
    assert serious(page) == []
    page.keyboard.press("ArrowUp")
    expect(item.last).to_be_focused()
    page.keyboard.press("p")
    expect(page.get_by_role("menuitem", name="Privacy")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(more).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("What leaves this machine")
    expect(more).to_have_attribute("aria-current", "page")
    expect(page).to_have_title("Privacy · Helix")


def test_the_menu_closes_beside_it_and_fits_a_phone(page: Page) -> None:
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_role("menu")).to_be_visible()
    assert fits(page)
    page.emulate_media(color_scheme="dark")
    assert serious(page) == []
    page.mouse.click(20, 600)
    expect(page.get_by_role("menu")).to_have_count(0)


@pytest.mark.parametrize("width", [320, 360, 390])
def test_a_phone_has_every_view_in_its_header(page: Page, width: int) -> None:
    assert fits(page, width)
    views = page.get_by_role("navigation", name="Views").get_by_role("link")
    expect(views).to_have_text(["Ask", "Library", "Search", "Study"])
    for view in views.all():
        expect(view).to_be_in_viewport(ratio=1)


def test_a_step_within_a_view_goes_to_its_beginning(page: Page, site: str) -> None:
    page.goto(f"{site}/#/prompts")
    page.get_by_role("link", name="Judge").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Judge", level=1)).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()  # the link that had the focus is gone


def test_a_view_that_a_link_within_another_leads_to_has_the_focus(page: Page, site: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{site}/#/library")
    page.locator(".document-title a").first.click()
    expect(page.locator(".source h2")).to_be_focused()
    page.get_by_role("link", name="Ask this document").click()
    expect(page.locator("#question")).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()  # else one begins before the header again


def test_a_date_has_its_month_by_name_or_as_its_reader_chose(page: Page) -> None:
    said = page.evaluate(
        """async () => {
            const { choose, dateOf, momentOf } = await import("/web/dates.js");
            const own = [dateOf("2026-01-31T12:00"), momentOf("2026-01-31T12:00")];
            choose("de");
            return [...own, dateOf("2026-01-31T12:00")];
        }"""
    )
    assert [one.replace("\u202f", " ") for one in said] == [
        "Jan 31, 2026", "Jan 31, 2026, 12:00 PM", "31.01.2026",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["port", "report"])
def test_letters_scattered_over_words_are_no_command(page: Page, typed: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(typed)
    expect(page.get_by_role("option", name=f"Ask: {typed}")).to_be_visible()
    expect(page.get_by_role("option", name="From the web")).to_have_count(0)
    expect(page.get_by_role("option", name="Paste text")).to_have_count(0)


def test_the_palette_goes_to_views_and_documents(page: Page) -> None:
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Words of a document, a title or a command")
    expect(field).to_be_focused()
    page.keyboard.type("lbr")  # letters in their order are enough
    expect(page.get_by_role("option", selected=True)).to_contain_text("Go to Library")
    assert serious(page) == []
    page.keyboard.press("Enter")
    expect(page).to_have_title("Library · Helix")
    page.get_by_role("button", name="Find anything").click()
    page.keyboard.type("travel hand")
    found = page.get_by_role("option", name="Travel Handbook document", exact=True)
    expect(found).to_be_visible()
    expect(found).to_have_attribute("aria-selected", "true")
    marked = field.get_attribute("aria-activedescendant")
    page.keyboard.press("ArrowDown")
    expect(field).not_to_have_attribute("aria-activedescendant", str(marked))
    page.keyboard.press("ArrowUp")
    expect(found).to_have_css("outline-style", "solid")  # in forced colours it has no background
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Travel Handbook").first).to_be_visible()


MAC = "Object.defineProperty(navigator, 'userAgentData', { value: { platform: 'macOS' } })"


def test_on_a_mac_the_command_key_is_meant(context: BrowserContext, site: str) -> None:
    context.add_init_script(MAC)
    with watched(context, site) as page:
        expect(page.get_by_role("button", name="Find anything")).to_contain_text("⌘")
        page.keyboard.press("Control+k")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.keyboard.press("Meta+k")
        expect(page.get_by_role("combobox", name="Words of a document, a title")).to_be_focused()


def test_the_tab_is_called_what_it_shows(page: Page, site: str) -> None:
    expect(page).to_have_title("Helix")
    question = "How long do I have to request a refund?"
    ask(page, question)
    expect(page).to_have_title(f"{question} · Helix")
    nav = page.get_by_role("navigation", name="Views")
    for name in ("Library", "Study"):
        nav.get_by_role("link", name=name).click()
        expect(page).to_have_title(f"{name} · Helix")
    nav.get_by_role("link", name="Ask").click()
    expect(page.locator(".turn")).to_be_visible()
    expect(page).to_have_title(f"{question} · Helix")
    page.get_by_role("button", name="New conversation").click()
    expect(page).to_have_title("Helix")
    nav.get_by_role("link", name="Library").click()
    page.get_by_role("link", name="Travel Handbook").first.click()
    expect(page).to_have_title("Travel Handbook · Helix")
    for name in ("Evals", "Privacy", "Progress", "Prompts"):
        choose(page, name)
        expect(page).to_have_title(f"{name} · Helix")


def test_the_palette_asks_and_changes_the_theme(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("theme dark")
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("Control+k")
    assert serious(page) == []
    assert fits(page)
    question = "How long do I have to request a refund?"
    page.keyboard.type(question)
    expect(page.get_by_role("option", selected=True)).to_have_text(f"Ask: {question}")
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_contain_text("within 30 days")
    page.keyboard.press("Control+k")
    page.keyboard.type("theme system")
    page.keyboard.press("Enter")
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


KEYS = frozenset("+ - / 0 1 4 Ctrl Delete Enter Esc F2 Space [ ] g o u v ↑ ↓".split())
"""The keys that the page answers to."""


def test_every_shortcut_stands_in_a_sheet(page: Page) -> None:
    page.locator("#question").press("?")
    expect(page.locator("#question")).to_have_value("?")  # a question has question marks
    page.locator("h1").click()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    for group in ("Everywhere", "Asking", "Reader", "Dialogs and menus"):
        expect(sheet.get_by_role("region", name=group, exact=True)).to_be_visible()
    assert set(KEYS) <= set(sheet.locator("kbd").all_text_contents())
    assert serious(page) == []
    assert fits(page)
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()


@pytest.mark.parametrize(
    ("open_by", "name", "field"),
    [("Settings", "Settings", "tenant"), ("Keyboard shortcuts", "Keyboard shortcuts", None)],
)
def test_a_dialog_begins_where_typing_belongs_and_gives_the_focus_back(
    page: Page, open_by: str, name: str, field: str | None
) -> None:
    choose(page, open_by)
    dialog = page.get_by_role("dialog", name=name)
    expect(dialog).to_be_visible()
    if field is not None:
        expect(dialog.locator(f"[name={field}]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="More", exact=True)).to_be_focused()


def test_enter_saves_the_settings(page: Page) -> None:
    choose(page, "Settings")
    page.keyboard.type("acme")
    page.keyboard.press("Enter")
    expect(page.locator(".tenant")).to_have_text("acme")
    expect(page.locator(".welcome")).to_contain_text("The library is empty.")


def test_a_key_is_known_in_other_tabs_until_signed_out(
    context: BrowserContext, guarded: str, keys: dict[str, str]
) -> None:
    with watched(context, guarded, "#/library") as first:
        wanted = first.get_by_role("dialog", name="API key required")
        field = wanted.get_by_label("API key")
        expect(field).to_be_focused()
        field.fill(keys["acme"])
        field.press("Enter")
        expect(first.locator(".tenant")).to_have_text("acme")
        with watched(context, guarded, "#/library") as second:
            expect(second.locator(".document")).to_contain_text("Acme Rules")
            assert "hx_" not in second.evaluate("JSON.stringify(localStorage)")
            choose(second, "Sign out")
            expect(second.get_by_role("dialog", name="API key required")).to_be_visible()
            expect(wanted).to_be_visible()
            assert "hx_" not in first.evaluate("JSON.stringify(sessionStorage)")


def test_a_key_kept_on_the_device_stays_until_signed_out(
    context: BrowserContext, guarded: str, keys: dict[str, str]
) -> None:
    with watched(context, guarded, "#/library") as page:
        wanted = page.get_by_role("dialog", name="API key required")
        wanted.get_by_label("API key").fill(keys["umbra"])
        wanted.get_by_label("Remember on this device").check()
        wanted.get_by_role("button", name="Continue").click()
        expect(page.locator(".document")).to_contain_text("Umbra Rules")
    page.close()
    with watched(context, guarded, "#/library") as page:
        expect(page.locator(".document")).to_contain_text("Umbra Rules")
        choose(page, "Sign out")
        expect(page.get_by_role("dialog", name="API key required")).to_be_visible()
        assert "hx_" not in page.evaluate("JSON.stringify([localStorage, sessionStorage])")


@pytest.mark.parametrize(
    ("status", "told", "shown"),
    [
        (503, "the database does not answer", "The database does not answer. Try again in 7 sec"),
        (429, None, "Too many requests at once. Try again in 7 seconds."),
        (413, None, "This is larger than the server accepts. Send less at once"),
        (404, "no run 7: GET /v1/runs lists them", "No run 7. It may have been deleted."),
        (
            403,
            "this needs the role owner",
            "This needs the role owner. Ask whoever gave you access.",
        ),
        (500, "boom", "Boom. Try again; the server’s log says more."),
    ],
)
def test_an_error_says_its_cause_and_what_to_do(
    page: Page, status: int, told: str | None, shown: str
) -> None:
    headers = {"Retry-After": "7"}
    page.route(
        "**/messages",
        lambda route: route.fulfill(
            status=status, json={"error": told} if told else None, headers=headers
        ),
    )
    ask(page, "How long do I have to request a refund?")
    expect(page.get_by_role("alert")).to_contain_text(shown)


def test_typing_searches_in_the_scope_picker_and_enter_takes(page: Page) -> None:
    page.get_by_role("button", name="All documents").click()
    search = page.get_by_label("Search documents")
    expect(search).to_be_focused()
    expect(page.get_by_label("Travel Handbook")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(search).not_to_be_focused()
    page.keyboard.type("travel")  # wherever the focus is
    expect(search).to_have_value("travel")
    page.keyboard.press("Enter")
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    expect(search).to_have_value("")
    assert serious(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Choose documents to ask")).to_be_hidden()


def test_a_wide_screen_has_answer_and_reader_side_by_side(page: Page) -> None:
    page.set_viewport_size({"width": 1920, "height": 1000})
    ask(page, "How long do I have to request a refund?")
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark").first).to_be_visible()
    answer, reader = page.locator(".prose").bounding_box(), page.locator(".panel").bounding_box()
    assert answer is not None and reader is not None
    assert answer["x"] + answer["width"] <= reader["x"]
    assert reader["x"] + reader["width"] == 1920
    assert reader["width"] > 700


def test_the_library_begins_in_its_search(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type("library")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
