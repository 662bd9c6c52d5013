"""The model that answers, in the page: shown, chosen, named at each answer; one of them is real."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import ask, fits, screenshots, serious, serving, watched
from tests.support.llama_server import llama_server
from tests.support.scripted_server import Reply, scripted
from tests.support.wire.gemini import gemini_wire
from tests.support.wire.gemini_replies import Answer

SMALL = "server:smollm2-135m-instruct"
ROUTED = "gemini-3.5-flash-lite"
COUNTS = {"promptTokenCount": 400, "candidatesTokenCount": 12}
NO_MODEL = "No model: quotes only"
QUESTION = "Within how many days are refunds accepted?"


@pytest.fixture(scope="module")
def offered(library_url: str) -> Iterator[str]:
    """Address of a server without a model of its own, beside which a real one may be chosen."""
    with (
        llama_server() as model,
        serving(
            library_url, models=(SMALL,), model_server=model.api, model_server_key=model.key,
            model_timeout=600, answer_form="text",  # in blocks a model this small finds no end
        ) as url,
    ):  # fmt: skip
        yield url


def menu(page: Page) -> Locator:
    return page.get_by_role("button", name="Model: ")


def choose(page: Page, title: str) -> None:
    menu(page).click()
    page.get_by_role("menuitemradio", name=title).click()
    expect(menu(page)).to_have_text(title)


def written_by(page: Page) -> Locator:
    return page.locator(".turn").last.locator(".written-by")


@pytest.mark.timeout(900)  # its few words take seconds alone on a machine, minutes on a loaded one
def test_a_real_model_is_chosen_asked_and_named_at_its_answer(
    context: BrowserContext, offered: str
) -> None:
    with watched(context, offered) as page:
        expect(menu(page)).to_have_text(NO_MODEL)
        ask(page, QUESTION)
        expect(written_by(page)).to_contain_text(NO_MODEL)

        choose(page, "smollm2-135m-instruct")
        ask(page, QUESTION)
        expect(written_by(page)).to_contain_text("smollm2-135m-instruct", timeout=600_000)
        expect(page.locator(".turn").last.locator(".prose")).not_to_be_empty()
        page.get_by_role("button", name="Why this answer").last.click()
        expect(page.get_by_role("heading", name="Read by the model")).to_be_visible()
        page.keyboard.press("Escape")

        page.reload()
        expect(menu(page)).to_have_text("smollm2-135m-instruct")  # the conversation has it
        expect(page.locator(".written-by")).to_contain_text([NO_MODEL, "smollm2-135m-instruct"])
        page.get_by_role("button", name="New conversation").click()
        expect(menu(page)).to_have_text(NO_MODEL)


def test_without_a_model_the_page_says_so(context: BrowserContext, library_url: str) -> None:
    with serving(library_url) as url, watched(context, url) as page:
        expect(menu(page)).to_have_text(NO_MODEL)
        ask(page, QUESTION)
        expect(written_by(page)).to_contain_text(NO_MODEL)
        page.get_by_role("button", name="Why this answer").click()
        expect(page.get_by_role("heading", name="Searched for a quote")).to_be_visible()
        assert "the model" not in page.locator(".why").inner_text().lower()
        assert serious(page) == []


def test_where_nothing_was_near_enough_no_model_is_named(
    context: BrowserContext, library_url: str
) -> None:
    with serving(library_url) as url, watched(context, url) as page:
        ask(page, "Who won the chess tournament of Reykjavik in 1972?")
        expect(page.locator(".refusal")).to_be_visible()
        assert written_by(page).count() == 0
        page.get_by_role("button", name="Why this answer").click()
        expect(page.locator(".why .checks")).to_be_visible()
        assert "the model" not in page.locator(".why").inner_text().lower()


def test_another_model_than_the_one_asked_is_told(
    context: BrowserContext, library_url: str
) -> None:
    older = ("gemini:gemini-2.5-flash",)
    said = Answer(
        ("Refunds are accepted within 30 days of purchase [1].",),
        model_version=ROUTED,
        usage=COUNTS,
    )
    with (
        gemini_wire() as wire,
        serving(library_url, models=older, gemini_api_key="wire-test-key") as url,
        watched(context, url) as page,
    ):
        wire.script(said, on="generate")
        choose(page, "Gemini 2.5 Flash")
        ask(page, QUESTION)
        expect(written_by(page)).to_contain_text(
            "Gemini 3.5 Flash-Lite instead of Gemini 2.5 Flash"
        )
        page.get_by_role("button", name="Why this answer").click()
        page.get_by_text("Scores and timings").click()
        expect(page.locator(".why .facts")).to_contain_text("Cost in US dollars")


def test_the_menu_is_worked_by_keys(context: BrowserContext, offered: str) -> None:
    with watched(context, offered, "#/ask") as page:
        menu(page).focus()
        page.keyboard.press("Enter")
        chosen = page.get_by_role("menuitemradio", name=NO_MODEL)
        expect(chosen).to_be_focused()
        expect(chosen).to_have_attribute("aria-checked", "true")
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("menuitemradio", name="smollm2")).to_be_focused()
        page.keyboard.press("Escape")
        expect(menu(page)).to_be_focused()
        expect(menu(page)).to_have_text(NO_MODEL)
        page.keyboard.press("Enter")
        page.keyboard.press("s")
        page.keyboard.press("Enter")
        expect(menu(page)).to_have_text("smollm2-135m-instruct")
        assert serious(page) == []


def test_the_first_run_offers_three_ways_and_no_field_for_a_key(
    context: BrowserContext, library_url: str
) -> None:
    with serving(library_url) as url, watched(context, url) as page:
        card = page.locator(".first-run")
        expect(card.get_by_role("heading")).to_have_text("No model is set up")
        ways = card.locator("summary")
        expect(ways).to_have_text(["Gemini, with a key", "A model on this machine", "No model"])
        for way, line in zip(
            ways.all(), ("GEMINI_API_KEY=", "helix model pull", "HELIX_LLM=offline"), strict=True
        ):
            way.click()
            expect(card.locator("details[open]")).to_contain_text(line)
        assert card.locator("input, textarea").count() == 0
        assert serious(page) == []
        card.get_by_role("button", name="Continue without a model").click()
        expect(card).to_have_count(0)
        page.reload()
        page.wait_for_selector(".welcome h1")
        assert card.count() == 0

        menu(page).click()
        page.get_by_role("menuitem", name="Set up another").click()
        expect(page.get_by_role("dialog", name="Set up a model")).to_be_visible()
        page.keyboard.press("Escape")
        assert fits(page)


def test_the_card_names_the_servers_that_answer_here(
    context: BrowserContext, library_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = {"object": "list", "data": [{"id": "qwen2.5:0.5b", "owned_by": "library"}]}
    with scripted(Reply(json.dumps(listed).encode())) as ollama:
        monkeypatch.setenv("OLLAMA_HOST", ollama.url.removeprefix("http://"))
        with serving(library_url) as url, watched(context, url) as page:
            page.locator(".first-run summary").nth(1).click()
            way = page.locator(".first-run details[open]")
            expect(way).to_contain_text("Ollama runs on this machine already")
            expect(way).to_contain_text("helix up --model ollama:qwen2.5:0.5b")


def test_the_card_is_for_who_runs_the_server(
    context: BrowserContext, guarded: str, keys: dict[str, str]
) -> None:
    context.add_init_script(f"sessionStorage.setItem('helix.key', '{keys['acme']}')")
    with watched(context, guarded) as page:
        expect(menu(page)).to_have_text(NO_MODEL)
        assert page.locator(".first-run").count() == 0


def test_the_pictures_for_the_documentation(browser: Browser, offered: str) -> None:
    for name, size in (("models", (1280, 860)), ("models-phone", (390, 844))):
        opened = browser.new_context(viewport={"width": size[0], "height": size[1]})
        opened.set_default_timeout(20_000)
        with watched(opened, offered) as page:
            ask(page, QUESTION)
            expect(written_by(page)).to_contain_text(NO_MODEL)
            menu(page).click()
            page.get_by_role("menuitemradio").first.wait_for()
            page.screenshot(path=screenshots() / f"{name}.png")
        opened.close()
