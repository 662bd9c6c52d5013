"""Nothing is lost: over a reload, other views and tabs, by Back, in a broken stream."""

from __future__ import annotations

import json

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import ask, fits, serious, until, watched
from tests.browser.test_relevance import at, document_of, tell

REFUND = "How long do I have to request a refund?"
SLOW = "slowly: how long do I have to request a refund?"


def _answered(page: Page, question: str = REFUND) -> None:
    ask(page, question)
    expect(page.locator(".turn").last.locator(".actions")).to_be_visible()


def test_questions_and_the_draft_outlive_a_reload_and_the_library(page: Page) -> None:
    _answered(page)
    page.fill("#question", "What about gift")
    page.reload()
    expect(page.locator(".turn .prose")).to_contain_text("within 30 days")
    expect(page.locator("#question")).to_have_value("What about gift")
    page.get_by_role("link", name="Library").click()
    expect(page.locator(".library h1")).to_be_visible()
    page.go_back()
    expect(page.locator(".turn .prose")).to_contain_text("within 30 days")
    expect(page.locator("#question")).to_have_value("What about gift")
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark.quote")).to_contain_text("30 days")


def test_another_tab_has_the_same(context: BrowserContext, page: Page, site: str) -> None:
    _answered(page)
    page.fill("#question", "A draft")
    with watched(context, site) as other:
        expect(other.locator(".turn .prose")).to_contain_text("within 30 days")
        expect(other.locator("#question")).to_have_value("A draft")
        ask(other, SLOW)
        expect(other.locator(".turn").nth(1)).to_contain_text("Word2 ")
        expect(page.locator(".turn").nth(1)).to_contain_text("Word2 ")
        expect(page.locator("#question")).to_have_value("")
        other.press("#question", "Escape")
        expect(page.locator(".turn").nth(1)).to_contain_text("this is not the whole answer")


def test_another_tenant_sees_none_of_it(page: Page) -> None:
    _answered(page)
    page.fill("#question", "A draft of mine")
    kept = "JSON.stringify({ ...localStorage, ...sessionStorage })"
    until(page, f"() => {kept}.includes('A draft of mine')")
    assert "within 30 days" not in page.evaluate(kept)  # the server has it
    page.evaluate("import('/web/store.js').then((store) => store.chooseTenant('other'))")
    expect(page.get_by_text("Conversation not found.")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(0)
    page.evaluate("import('/web/store.js').then((store) => store.chooseTenant(''))")
    expect(page.locator(".turn .prose")).to_contain_text("within 30 days")
    expect(page.locator("#question")).to_have_value("A draft of mine")


def test_what_a_key_types_is_not_written_to_the_device_and_goes_with_it(page: Page) -> None:
    sign_in = "(key) => import('/web/store.js').then((store) => store.signIn(key))"
    page.evaluate(sign_in, "hx_" + "a" * 43)
    _answered(page)
    page.fill("#question", "A draft of mine")
    until(page, "() => JSON.stringify(sessionStorage).includes('A draft of mine')")
    assert "A draft of mine" not in page.evaluate("JSON.stringify(localStorage)")
    page.evaluate(sign_in, "")
    until(page, "() => !JSON.stringify(sessionStorage).includes('A draft of mine')")
    expect(page.locator("#question")).not_to_have_value("A draft of mine")


def test_back_closes_the_source_and_not_the_site(page: Page) -> None:
    _answered(page)
    address = page.url
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark.quote")).to_be_visible()
    page.get_by_text("Why this answer").click()
    expect(page.locator(".why")).to_be_visible()
    page.go_back()  # the second panel took the place of the first
    expect(page.locator(".panel")).to_have_count(0)
    assert page.url.rstrip("#/") == address.rstrip("#/")
    page.go_forward()
    expect(page.locator(".why")).to_be_visible()
    page.reload()
    expect(page.locator(".why")).to_be_visible()
    page.get_by_label("Close", exact=True).click()
    expect(page.locator(".panel")).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(1)


def test_a_scope_that_is_chosen_beside_a_source_stays(page: Page) -> None:
    _answered(page)
    page.locator(".chip:enabled").first.click()
    expect(page.locator("mark.quote")).to_be_visible()
    page.get_by_text("All documents").click()
    page.locator(".pick", has_text="Travel Handbook").locator("input").check()
    page.get_by_role("button", name="Done").click()
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")
    page.get_by_label("Close the source").click()
    expect(page.locator(".panel")).to_have_count(0)
    expect(page.locator(".chosen")).to_contain_text("Travel Handbook")


def test_a_question_that_was_cut_is_asked_again_in_its_place(page: Page) -> None:
    broken = 'event: token\ndata: {"t":"Half an "}\n\n'
    failing = json.dumps({"error": "the model's service failed"})
    page.route(
        "**/messages", lambda route: route.fulfill(body=broken, content_type="text/event-stream")
    )
    ask(page, REFUND)
    expect(page.locator(".turn").nth(0)).to_contain_text("The connection was lost")
    page.unroute("**/messages")
    page.route(
        "**/messages",
        lambda route: route.fulfill(status=502, body=failing, content_type="application/json"),
    )
    ask(page, REFUND)
    expect(page.locator(".turn").nth(1)).to_contain_text("service failed")
    page.unroute("**/messages")
    for n in (0, 1):
        turn = page.locator(".turn").nth(n)
        turn.get_by_role("button", name="Ask again").click()
        expect(turn.locator(".prose")).to_contain_text("within 30 days")
        expect(turn).not_to_contain_text("Half an")
    expect(page.locator(".turn")).to_have_count(2)


def test_a_question_that_the_server_did_not_take_is_typed_again(page: Page) -> None:
    full = json.dumps({"error": "too many answers are under way"})
    page.route(
        "**/messages",
        lambda route: route.fulfill(status=503, body=full, content_type="application/json"),
    )
    ask(page, REFUND)
    expect(page.get_by_role("alert")).to_contain_text("Too many answers are under way")
    page.reload()
    expect(page.locator("#question")).to_have_value(REFUND)


def test_the_arrow_brings_back_what_was_asked(page: Page) -> None:
    for question in (REFUND, "What is the capital of Mongolia?"):
        _answered(page, question)
    box = page.locator("#question")
    box.press("ArrowUp")
    expect(box).to_have_value("What is the capital of Mongolia?")
    box.press("ArrowUp")
    expect(box).to_have_value(REFUND)
    box.press("ArrowDown")
    box.press("ArrowDown")
    expect(box).to_have_value("")
    box.fill("Mine")
    box.press("ArrowUp")
    expect(box).to_have_value("Mine")


def test_the_box_covers_no_text(page: Page, site: str) -> None:
    sentence = "Refunds are accepted within 30 days of purchase."
    cited = {"n": 1, **at(document_of(site, "refund-policy"), sentence)}
    support: dict[str, object] = {"ratio": None, "statements": []}
    tell(page, f"{sentence} [1]\n\n" * 60, citations=[cited], support=support)
    ask(page, REFUND)
    expect(page.locator(".chip:enabled")).to_have_count(60)
    page.evaluate("scrollTo(0, 600)")
    page.locator(".chip").nth(20).click()
    expect(page.locator("mark.quote")).to_have_text(sentence)
    page.evaluate("scrollTo(0, 900)")
    page.keyboard.press("Escape")
    expect(page.locator(".panel")).to_have_count(0)
    until(page, "history.state === null")
    assert page.evaluate("scrollY") == 900  # Back would put it to where it was
    for width, height in ((1280, 860), (360, 740)):
        page.set_viewport_size({"width": width, "height": height})
        assert _under_the_box(page, ".actions button") <= 0
        assert _under_the_box(page, ".chip") <= 0
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        end = page.locator(".actions").bounding_box()
        box = page.locator(".ask-box").bounding_box()
        assert end is not None and box is not None and end["y"] + end["height"] <= box["y"]
    assert fits(page)


def _under_the_box(page: Page, selector: str) -> float:
    """The pixels that the last such element lies under the box, once it has the focus."""
    distance: float = page.evaluate(
        """(selector) => { scrollTo(0, 0);
        const last = [...document.querySelectorAll(selector)].at(-1);
        last.focus();
        const box = document.querySelector(".ask-box").getBoundingClientRect();
        return last.getBoundingClientRect().bottom - box.top; }""",
        selector,
    )
    return distance


def test_on_a_phone_back_closes_the_source(browser: Browser, site: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme="dark")
    context.set_default_timeout(20_000)
    with watched(context, site) as page:
        _answered(page)
        _answered(page, "What is the capital of Mongolia?")
        page.locator(".closest button").first.click()
        expect(page.locator("mark.quote").first).to_be_visible()
        page.go_back()
        expect(page.locator(".panel")).to_have_count(0)
        expect(page.locator(".turn")).to_have_count(2)
        assert serious(page) == []
        assert fits(page)
    context.close()


def test_a_refusal_is_calm(page: Page) -> None:
    _answered(page, "What is the capital of Mongolia?")
    look = """(element) => { const style = getComputedStyle(element);
        return [+style.fontWeight, parseFloat(style.fontSize), style.backgroundColor,
                style.borderInlineStartWidth]; }"""
    weight, size, ground, border = page.locator(".refusal").evaluate(look)
    said = page.locator(".refusal-title").evaluate(look)
    question = page.locator(".question").evaluate(look)
    assert (ground, border) == ("rgba(0, 0, 0, 0)", "0px")
    assert said[0] <= 400 and said[1] < question[1] and weight <= 400 and size < question[1]
