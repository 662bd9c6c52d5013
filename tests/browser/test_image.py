"""An image on the question box: chosen, pasted, dropped, asked about, refused, stopped."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw
from playwright.sync_api import BrowserContext, FilePayload, Page, Response, expect

from tests.browser.adversary import adversary
from tests.browser.conftest import ask, fits, screenshots, serious, serving, watched
from tests.support.printed_pages import drawn, put


def receipt() -> bytes:
    held = io.BytesIO()
    image = Image.new("RGB", (420, 300), (250, 246, 238))
    pen = ImageDraw.Draw(image)
    for n, line in enumerate(("CAFE DU PORT", "2 x coffee      7.40", "1 x cake        4.10")):
        pen.text((40, 50 + 60 * n), line, fill=(60, 40, 30), font_size=28)
    image.save(held, "PNG")
    return held.getvalue()


RECEIPT = receipt()


def choose(page: Page, data: bytes = RECEIPT, name: str = "receipt.png") -> None:
    file: FilePayload = {"name": name, "mimeType": "image/png", "buffer": data}
    page.get_by_label("Image to ask about").set_input_files(file)


def carry(
    page: Page, event: str, name: str, more: int = 0, beside: str = "", document: bytes = b""
) -> None:
    """Let the box have the image by ``event``, with ``more`` bytes after it, as a browser would.

    Without a ``name`` there is no image; ``beside`` names a file that comes too: ``document``, or
    else a text.
    """
    page.evaluate(
        """([bytes, event, name, more, beside, document_]) => { const transfer = new DataTransfer();
        const parts = [new Uint8Array(bytes), new Uint8Array(more)];
        if (name) transfer.items.add(new File(parts, name, { type: "image/png" }));
        const held = document_.length ? new Uint8Array(document_) : `The ${beside} is read.`;
        if (beside) transfer.items.add(new File([held], beside));
        const made = event === "paste"
          ? new ClipboardEvent(event, { clipboardData: transfer, bubbles: true, cancelable: true })
          : new DragEvent(event, { dataTransfer: transfer, bubbles: true, cancelable: true });
        document.querySelector("#question").dispatchEvent(made); }""",
        [list(RECEIPT), event, name, more, beside, list(document)],
    )


def _shown(page: Page, where: str) -> None:
    image = page.locator(f"{where} .picture img")
    expect(image).to_be_visible()
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth)") == 420


def test_an_image_is_shown_asked_about_and_answered(page: Page) -> None:
    choose(page)
    _shown(page, ".composer")
    expect(page.locator(".composer")).to_contain_text("No document is searched.")
    assert serious(page) == []
    with page.expect_request("**/ask-image") as sent:
        ask(page, "What was bought?")
    assert sent.value.method == "POST"
    turn = page.locator(".turn")
    expect(turn.locator(".prose")).to_contain_text(f"It is {len(RECEIPT)} bytes of red.")
    expect(turn).to_contain_text("From the image, not from your documents")
    _shown(page, ".turn")
    assert turn.locator(".prose strong").first.text_content() == f"{len(RECEIPT)} bytes"
    assert turn.locator(".chip, .sources, .flag").count() == 0
    assert turn.locator(".prose").locator("script, img, svg, iframe, [onclick]").count() == 0
    expect(page.locator(".composer .picture")).to_have_count(0)
    assert serious(page) == []
    assert fits(page)
    page.reload()
    expect(page.locator(".turn .picture")).to_contain_text("receipt.png")
    expect(page.locator(".turn .prose")).to_contain_text("bytes of red")


def test_an_image_is_pasted_dropped_and_taken_away(page: Page) -> None:
    carry(page, "paste", "pasted.png")
    expect(page.locator(".composer .picture")).to_contain_text("pasted.png")
    page.get_by_label("Take the image away").press("Enter")
    expect(page.locator(".composer .picture")).to_have_count(0)
    carry(page, "drop", "dropped.png")
    _shown(page, ".composer")
    page.get_by_label("Take the image away").click()
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".prose")).to_contain_text("within 30 days")


def test_what_is_no_image_or_too_large_is_refused_in_words(page: Page) -> None:
    choose(page, b"<svg onload=\"window.ran='svg'\"></svg>", "drawing.png")
    ask(page, "What is this?")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("That file is no image that can be looked at.")
    carry(page, "paste", "large.png", more=10 * 2**20)
    ask(page, "And this?")
    expect(page.locator(".turn").nth(1)).to_contain_text("10 MB is the most")
    choose(page)
    ask(page, "What was bought?")
    expect(page.locator(".turn").nth(2).locator(".prose")).to_contain_text("bytes of red")


def test_looking_at_an_image_is_stopped(page: Page) -> None:
    choose(page)
    ask(page, "slowly: what was bought?")
    expect(page.get_by_text("Looking at the image")).to_be_visible()
    page.press("#question", "Escape")
    expect(page.locator(".stopped")).to_contain_text("Stopped")
    expect(page.get_by_text("Looking at the image")).to_have_count(0)


def test_where_the_model_cannot_see_no_image_is_offered(
    context: BrowserContext, library_url: str
) -> None:
    with (
        serving(library_url) as url,
        context.expect_event("response", lambda found: found.url.endswith("/v1/about")),
        watched(context, url) as page,
    ):
        expect(page.locator("#question")).to_be_visible()
        expect(page.get_by_label("Ask about an image")).to_have_count(0)
        carry(page, "paste", "pasted.png")
        expect(page.locator("#announced")).to_have_text(
            "The model that answers here cannot look at images."
        )
        expect(page.locator(".picture")).to_have_count(0)


CLEAR_OF_BOX = """() => document.querySelector(".tray").getBoundingClientRect().bottom
    <= innerHeight - document.querySelector(".ask-box").offsetHeight"""
"""The tray stands above where the question box is when it keeps to the window's edge."""


HELD = """([where]) => { const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["text"], "plan.txt"));
    document.querySelector(where).dispatchEvent(
      new DragEvent("dragover", { dataTransfer, bubbles: true, cancelable: true })); }"""


def _is_attachment(response: Response) -> bool:
    return response.request.method == "POST" and response.url.endswith("/attachments")


def test_any_other_file_is_put_to_the_conversation(
    context: BrowserContext, module_database_url: str
) -> None:
    with serving(module_database_url, adversary()) as url, watched(context, url) as page:
        expect(page.get_by_text("The library is empty.")).to_be_visible()
        expect(page.get_by_label("Ask about an image")).to_be_visible()
        page.fill("#question", "What about")
        own = page.get_by_role("group", name="Documents of this conversation alone")
        for event, name, beside, title, document in (
            ("drop", "", "plan.pdf", "Plan", drawn(lambda at: put(at, 60, 80, "The plan."))),
            ("drop", "dropped.png", "rates.txt", "Rates", b""),
            ("paste", "", "note.txt", "Note", b""),
        ):
            with page.expect_response(_is_attachment) as sent:
                carry(page, event, name, beside=beside, document=document)
            assert sent.value.status == 202
            expect(own.locator(".attached", has_text=title)).to_be_visible()
            expect(page.locator(".composer .picture")).to_have_count(1 if name else 0)
            if name:
                page.get_by_label("Take the image away").click()
        expect(page.locator("#question")).to_have_value("What about")
        assert serious(page) == []
        page.evaluate(HELD, ["main"])
        expect(page.locator(".overlay")).to_contain_text("On the question box they are put to")
        page.evaluate(HELD, ["#question"])
        expect(page.locator(".overlay")).to_have_count(0)
        assert fits(page)
        page.goto(f"{url}/#/ask")
        page.get_by_role("button", name="Add the samples").click()
        expect(page.get_by_role("complementary", name="Being brought in")).to_be_visible()
        page.wait_for_function(CLEAR_OF_BOX)


def test_the_picture_for_the_documentation(page: Page) -> None:
    page.route("**/ask-image", lambda route: route.fulfill(json={"text": _READ}))
    choose(page)
    ask(page, "What was bought, and for how much?")
    expect(page.locator(".prose li")).to_have_count(2)
    page.screenshot(path=screenshots() / "image.png")


_READ = "The receipt of the *Café du Port* has:\n\n- two coffees, 7.40\n- one cake, 4.10"
