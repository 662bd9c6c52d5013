"""The Ask view: streaming, citations, refusal, stopping, a cut stream, scope, look and reach."""

from __future__ import annotations

import json
import re

import httpx
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import ask, choose, fits, screenshots, serious, until

REFUND = "How long do I have to request a refund?"
_GATE = re.compile(r"nearest passage is 0\.\d+ away; the gate lets through up to 0\.")


def test_an_answer_streams_and_its_citation_opens_the_stored_span(page: Page, site: str) -> None:
    ask(page, REFUND)
    expect(page.locator(".prose")).to_contain_text("within 30 days of purchase")
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark")).to_have_count(1)
    link = page.get_by_label("Open on a page of its own").get_attribute("href") or ""
    identifier, _, search = link.removeprefix("#/source/").partition("?")
    span = dict(part.split("=") for part in search.split("&"))
    text = httpx.get(f"{site}/v1/documents/{identifier}").json()["text"]
    marked = text[int(span["start"]) : int(span["end"])]
    assert "30 days" in marked
    expect(page.locator("mark")).to_have_text(marked)
    page.screenshot(path=screenshots() / "ask.png")
    page.goto(f"{site}/{link}")
    expect(page.locator("mark")).to_have_text(marked)


def test_a_passage_after_wide_characters_is_marked_to_the_character(page: Page) -> None:
    ask(page, "How long does the zebra quarantine take in the harbour of Ostend?")
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark")).to_have_text(
        "The zebra 🦓 quarantine takes 77 days in the harbour of Ostend."
    )
    assert page.evaluate("window.ran") is None


def test_the_next_source_and_back(page: Page) -> None:
    ask(page, "What is the capital of Mongolia?")
    closest = page.locator(".closest button")
    closest.first.click()
    expect(page.locator(".among")).to_contain_text("1 of 3")
    link = page.get_by_label("Open on a page of its own")
    first = link.get_attribute("href") or ""
    page.get_by_label("Next source").click()
    expect(page.locator(".among")).to_contain_text("2 of 3")
    expect(page.get_by_label("Open on a page of its own")).not_to_have_attribute("href", first)
    expect(page.locator("mark.quote").first).to_be_visible()
    page.locator(".source-body").press("[")
    expect(page.get_by_label("Open on a page of its own")).to_have_attribute("href", first)
    expect(page.get_by_label("Previous source")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    expect(closest.first).to_be_focused()


def test_a_refusal_offers_the_closest_and_says_why(page: Page) -> None:
    ask(page, "What is the capital of Mongolia?")
    expect(page.locator(".refusal")).to_contain_text("I don't have that in the provided documents.")
    closest = page.locator(".closest")
    expect(closest).to_contain_text("Closest, but not an answer")
    page.get_by_text("Why this answer").click()
    expect(page.locator(".checks")).to_contain_text("Passage close enough: no")
    page.get_by_text("Scores and timings").click()
    expect(page.locator(".gate svg")).to_have_attribute("aria-label", _GATE)
    expect(page.locator(".why .table .text-button").first).to_be_visible()
    page.screenshot(path=screenshots() / "why.png")
    closest.locator("button").first.click()
    expect(page.locator("mark.quote").first).to_be_visible()


def test_an_unsupported_sentence_is_marked(page: Page) -> None:
    ask(page, "invented: how long do I have to request a refund?")
    expect(page.locator(".unsupported").first).to_contain_text("We pay 900 euros on top.")
    expect(page.locator(".unsupported").first).not_to_contain_text("Refunds")
    page.locator(".flag").click()
    expect(page.locator(".flag-why")).to_have_text(re.compile("^What it cites has another number"))
    expect(page.locator(".support-note")).to_contain_text("1 of 2")


def test_a_sentence_of_another_source_leads_to_that(page: Page) -> None:
    ask(page, "swapped: how long do I have to request a refund?")
    expect(page.locator(".unsupported")).to_contain_text("Refunds are accepted within 30 days")
    page.locator(".flag").click()
    expect(page.locator(".flag-why")).to_have_text(
        "Source 2 has its very words; the model named another."
    )
    found = page.locator(".chip.by-proof")
    expect(found).to_have_text("2")
    expect(found).to_have_accessible_name(re.compile("^Source 2: .+, found by Helix$"))
    found.click()
    expect(page.locator("mark.quote")).to_have_text(
        "Refunds are accepted within 30 days of purchase."
    )
    page.get_by_text("Why this answer").click()
    expect(page.locator(".sentences")).to_contain_text("Source 2 has its very words")


def test_escape_stops_and_a_new_question_stops_the_one_before(page: Page) -> None:
    ask(page, "slowly: how long do I have to request a refund?")
    expect(page.locator(".prose")).to_contain_text("Word5 ")
    page.press("#question", "Escape")
    expect(page.locator(".stopped")).to_contain_text("not the whole answer")
    held = page.locator(".prose").text_content()
    page.wait_for_timeout(300)
    assert page.locator(".prose").text_content() == held
    ask(page, "slowly: how long do I have to request a refund?")
    expect(page.locator(".turn").nth(1)).to_contain_text("Word5 ")
    ask(page, REFUND)
    expect(page.locator(".turn").nth(1)).to_contain_text("Stopped")
    expect(page.locator(".turn").nth(2)).to_contain_text("within 30 days")


def test_a_question_after_an_early_stop_is_not_stopped_in_its_place(page: Page) -> None:
    """The stop is pressed before the page knows the question's id, and looks it up."""
    questions: list[Route] = []
    lookups: list[Route] = []
    page.route("**/messages", lambda route: questions.append(route), times=1)
    page.route(re.compile(r"/v1/conversations/\w+\?limit=1$"), lambda route: lookups.append(route))
    with page.expect_request("**/messages"):
        ask(page, "slowly: how long do I have to request a refund?")
    page.press("#question", "Escape")
    expect(page.locator(".turn").first).to_contain_text("Stopped")
    ask(page, "slowly: how long do I have to request a refund?")
    page.wait_for_timeout(500)  # the second is under way where it does not wait
    lookups.pop().continue_()
    expect(page.locator(".turn").nth(1)).to_contain_text("Word20 ")
    expect(page.locator(".turn").nth(1)).not_to_contain_text("Stopped")
    page.press("#question", "Escape")
    questions.pop().abort()


def test_a_model_that_breaks_off_and_a_connection_that_does(page: Page) -> None:
    ask(page, "breaking: how long do I have to request a refund?")
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("This is not the whole answer")
    expect(page.locator(".prose")).to_contain_text("Refunds are accepted")
    page.reload()
    expect(notice).to_contain_text("This is not the whole answer")
    expect(page.locator(".prose")).to_contain_text("Refunds are accepted")
    body = 'event: token\ndata: {"t":"Half an "}\n\n'
    page.route(
        "**/messages", lambda route: route.fulfill(body=body, content_type="text/event-stream")
    )
    ask(page, REFUND)
    cut = page.locator(".turn").nth(1)
    expect(cut).to_contain_text("The connection was lost")
    expect(cut).to_contain_text("Half an")
    page.unroute("**/messages")
    cut.get_by_text("Ask again").click()
    expect(cut).to_contain_text("within 30 days")


def test_scope_narrows_the_question_and_stays_in_the_address(page: Page) -> None:
    page.get_by_text("All documents").click()
    page.get_by_label("Search documents").fill("Travel")
    page.locator(".pick", has_text="Travel Handbook").locator("input").check()
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    expect(page).to_have_url(re.compile("docs="))
    page.reload()
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    with page.expect_request("**/messages") as sent:
        ask(page, "How long do I have to request a refund in the shop?")
    body = json.loads(sent.value.post_data or "{}")
    assert len(body["document_ids"]) == 1
    expect(page.locator(".actions")).to_be_visible()


def test_a_quoted_row_of_a_table_is_a_row_with_its_marker(page: Page) -> None:
    drawn = """async (text) => {
        const { Prose } = await import("/web/markdown.js");
        const element = document.createElement("div");
        const prose = new Prose(element);
        prose.finish(text);
        prose.cite([{ n: 1, title: "Staff handbook" }], [{ start: 0, end: text.length }]);
        prose.mark([{ start: text.indexOf("24.00"), end: text.indexOf("24.00") + 5, problem: "" }]);
        const textOf = (one) => one.textContent.trim();
        const textsOf = (of) => [...element.querySelectorAll(of)].map(textOf);
        element.querySelector(".flag-outer")?.remove();
        return ["th", "td", "td .chip:enabled", "p", ".unsupported"].map(textsOf);
    }"""
    row = "| Senior \\| head tutor | 24.00 | [1]"
    cells = ["Senior | head tutor", "24.00 1"]
    assert page.evaluate(drawn, row) == [[], cells, ["1"], [], ["24.00"]]
    told = page.evaluate(drawn, f"It says:\n{row}\n\nMore.")
    assert told == [[], cells, ["1"], ["It says:", "More."], ["24.00"]]
    whole = f"| Grade | Rate |\n|---|---:|\n{row}"
    assert page.evaluate(drawn, whole) == [["Grade", "Rate"], cells, ["1"], [], ["24.00"]]
    assert page.evaluate(drawn, "Either | or, as `a | b`")[3] == ["Either | or, as a | b"]


def test_a_wide_table_of_an_answer_keeps_its_words_whole(page: Page) -> None:
    answer = "|" + "measurement|" * 14 + "\n" + "|-" * 14 + "|\n" + "|observation" * 14 + "|"
    ask(page, REFUND)
    expect(page.locator(".turn .actions")).to_be_visible()
    page.evaluate(
        "(text) => import('/web/markdown.js').then(({ Prose }) =>"
        " new Prose(document.querySelector('.prose')).finish(text))",
        answer,
    )
    assert fits(page)
    lines = page.evaluate(
        "[...document.querySelectorAll('.prose th, .prose td')].map((cell) => {"
        " const range = document.createRange(); range.selectNodeContents(cell);"
        " return range.getClientRects().length; })"
    )
    assert lines == [1] * 28


def test_each_unsupported_sentence_of_a_paragraph_is_marked(page: Page) -> None:
    marked = page.evaluate("""async () => {
        const { Prose } = await import("/web/markdown.js");
        const element = document.createElement("div");
        const prose = new Prose(element);
        const lines = [..."abcdefgh"].map((one) => `The ${one} is cited by nothing at all.`);
        prose.finish(lines.join(" "));
        const end = (n) => lines.slice(0, n).join(" ").length;
        prose.mark(lines.map((line, n) => ({ start: end(n + 1) - line.length, end: end(n + 1) })));
        const marked = [...element.querySelectorAll(".unsupported")];
        return marked.map((one) => one.textContent[4]);
    }""")
    assert marked == list("abcdefgh")


def test_a_question_outside_the_documents_is_told_calmly(page: Page) -> None:
    ask(page, "What is the capital of Mongolia?")
    banner = page.locator(".outside")
    expect(banner).to_contain_text("Nothing near enough was found.")
    assert page.get_by_role("alert").count() == 0
    assert serious(page) == []


def test_dark_light_and_phone(page: Page) -> None:
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).not_to_have_css("background-color", dark)
    choose(page, "Settings")
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("body")).to_have_css("background-color", dark)
    ask(page, REFUND)
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark")).to_be_visible()
    assert serious(page) == []
    page.screenshot(path=screenshots() / "source-dark.png")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(page.locator("mark")).to_be_visible()
    until(page, "document.documentElement.scrollWidth <= 360")
    page.get_by_label("Close the source").click()
    until(page, "document.documentElement.scrollWidth <= 360")
    page.screenshot(path=screenshots() / "phone.png")


def test_nothing_serious_is_found_by_axe(page: Page) -> None:
    assert serious(page) == []
    ask(page, "invented: how long do I have to request a refund?")
    expect(page.locator(".flag")).to_be_visible()
    assert serious(page) == []
    ask(page, "What is the capital of Mongolia?")
    page.locator(".turn").nth(1).get_by_text("Why this answer").click()
    page.get_by_text("Scores and timings").click()
    expect(page.locator(".table")).to_be_visible()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.locator(".scope-open").click()
    expect(page.locator(".pick").first).to_be_visible()
    assert serious(page) == []
