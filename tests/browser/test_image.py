"""Images of questions: chosen, pasted, dropped, asked about, kept, refused, stopped."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    MessageRole,
)
from PIL import Image, ImageDraw
from playwright.sync_api import BrowserContext, FilePayload, Page, Response, expect

from helix.providers.base import LanguageModel
from helix.providers.offline.answerer import OfflineLLM
from tests.browser.adversary import adversary
from tests.browser.conftest import ask, fits, screenshots, serious, serving, watched
from tests.browser.test_conversations import id_of, read
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
    kind = f"image/{name.rpartition('.')[2]}"
    file: FilePayload = {"name": name, "mimeType": kind, "buffer": data}
    page.get_by_label("Images to ask about").set_input_files(file)


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


def _answered(page: Page, question: str = "What was bought?") -> None:
    """Ask about the image that was chosen, and wait for the whole answer."""
    ask(page, question)
    expect(page.locator(".turn").last.locator(".actions")).to_be_visible()


def test_an_image_is_a_turn_of_the_conversation(
    context: BrowserContext, page: Page, site: str
) -> None:
    choose(page)
    _shown(page, ".composer")
    expect(page.locator(".composer")).to_contain_text("No document is searched.")
    assert serious(page) == []
    _answered(page)
    turn = page.locator(".turn")
    expect(turn.locator(".prose")).to_contain_text(f"It is {len(RECEIPT)} bytes of red.")
    expect(turn).to_contain_text("From the image, not from your documents")
    _shown(page, ".turn")
    assert turn.locator(".prose strong").first.text_content() == f"{len(RECEIPT)} bytes"
    assert turn.locator(".chip, .sources, .flag").count() == 0
    assert turn.locator(".prose").locator("script, img, svg, iframe, [onclick]").count() == 0
    expect(page.locator(".composer .picture")).to_have_count(0)
    expect(page.locator("#question")).to_have_value("")
    assert serious(page) == []
    assert fits(page)
    (row,) = read(site, id_of(page))["path"]
    assert [one["name"] for one in row["attachments"]] == ["receipt.png"]
    page.reload()
    _shown(page, ".turn")  # from the server
    expect(turn.locator(".prose")).to_contain_text("bytes of red")
    with watched(context, site) as other:
        _shown(other, ".turn")
        expect(other.get_by_role("group", name="Image of the question")).to_be_visible()
        with other.expect_popup() as opened:
            other.get_by_title("Open the image").click()
        assert opened.value.url.startswith("blob:")
        other.locator(".row.open").hover()
        with other.expect_download() as saved:
            other.locator(".row.open").get_by_role("button", name="as Markdown").click()
        assert "*Image: receipt.png*" in saved.value.path().read_text()


def test_asking_again_and_editing_keep_the_image(page: Page, site: str) -> None:
    choose(page)
    _answered(page)
    turn = page.locator(".turn")
    turn.get_by_label("Answer again").click()
    expect(turn.locator(".siblings")).to_contain_text("2 of 2")
    expect(turn.locator(".prose")).to_contain_text("bytes of red")
    turn.get_by_label("Edit the question").click()
    page.get_by_label("The question", exact=True).fill("And the date?")
    page.keyboard.press("Enter")
    expect(turn.locator(".siblings")).to_contain_text("3 of 3")
    expect(turn.locator(".prose")).to_contain_text("bytes of red")
    _shown(page, ".turn")
    (row,) = read(site, id_of(page))["path"]
    assert (row["question"], len(row["attachments"])) == ("And the date?", 1)
    turn.get_by_label("Previous version").click()
    expect(turn.locator(".question")).to_have_text("What was bought?")
    _shown(page, ".turn")


def test_images_are_pasted_dropped_and_taken_away(page: Page) -> None:
    carry(page, "paste", "pasted.png")
    chosen = page.locator(".composer .picture")
    expect(chosen).to_contain_text("pasted.png")
    page.get_by_label("Remove pasted.png").press("Enter")
    expect(chosen).to_have_count(0)
    expect(page.locator("#question")).to_be_focused()
    carry(page, "drop", "dropped.png")
    _shown(page, ".composer")
    page.get_by_label("Remove dropped.png").click()
    ask(page, "How long do I have to request a refund?")
    expect(page.locator(".prose")).to_contain_text("within 30 days")


def test_a_question_is_about_five_images_at_most(page: Page) -> None:
    for n in range(5):
        carry(page, "paste", f"page {n}.png", more=n)
    chosen = page.locator(".composer .picture")
    expect(chosen).to_have_count(5)
    carry(page, "paste", "one more.png", more=9)
    expect(page.get_by_role("alert")).to_contain_text("A question can have at most 5 images.")
    expect(chosen).to_have_count(5)
    assert serious(page) == []
    assert fits(page)
    page.set_viewport_size({"width": 1280, "height": 860})
    page.get_by_role("link", name="Library").click()
    expect(page.locator(".library h1")).to_be_visible()
    page.go_back()
    expect(chosen).to_have_count(5)  # they are of this question, wherever one has been
    _answered(page)
    expect(page.locator(".turn .picture img")).to_have_count(5)
    expect(page.locator(".prose strong")).to_have_count(5)
    expect(page.locator(".turn")).to_contain_text("From the images, not from your documents")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator(".welcome h1")).to_be_visible()
    expect(chosen).to_have_count(0)


def test_what_is_no_image_or_too_large_is_refused_and_the_question_stays(
    page: Page, site: str
) -> None:
    alert = page.get_by_role("alert")
    choose(page, b"<svg onload=\"window.ran='svg'\"></svg>", "drawing.png")
    ask(page, "What is this?")
    expect(alert).to_contain_text("This file is not a supported image.")
    expect(page.locator("#question")).to_have_value("What is this?")
    expect(page.locator(".turn")).to_have_count(0)
    assert serious(page) == []
    page.get_by_label("Remove drawing.png").click()
    expect(alert).to_have_count(0)
    carry(page, "paste", "large.png", more=10 * 2**20)
    expect(alert).to_contain_text("10 MB is the most")
    expect(page.locator(".composer .picture")).to_have_count(0)
    choose(page)
    expect(alert).to_have_count(0)
    page.press("#question", "Enter")
    expect(page.locator(".turn .prose")).to_contain_text("bytes of red")
    expect(page.locator("#question")).to_have_value("")
    assert len(read(site, id_of(page))["path"]) == 1


def test_looking_at_an_image_is_stopped(page: Page) -> None:
    choose(page)
    ask(page, "slowly: what was bought?")
    expect(page.locator(".prose")).to_contain_text("Word2 ")
    page.press("#question", "Escape")
    expect(page.locator(".stopped")).to_contain_text("this is not the whole answer")
    _shown(page, ".turn")


def test_a_model_that_cannot_see_says_so_and_nothing_is_lost(
    context: BrowserContext, page: Page, site: str, library_url: str
) -> None:
    choose(page)
    _answered(page)
    conversation = id_of(page)
    blind = "cannot look at images"
    with (
        serving(library_url) as url,
        context.expect_event("response", lambda found: found.url == f"{url}/v1/about"),
        watched(context, url, f"#/c/{conversation}") as other,
    ):
        _shown(other, ".turn")
        expect(other.get_by_label("Ask about an image")).to_have_count(0)
        other.fill("#question", "And what is this?")
        carry(other, "paste", "pasted.png")
        expect(other.get_by_role("alert")).to_contain_text(blind)
        expect(other.locator(".composer .picture")).to_have_count(0)
        expect(other.locator("#question")).to_have_value("And what is this?")
        other.get_by_role("button", name="Dismiss").click()
        other.get_by_label("Answer again").click()
        expect(other.get_by_role("alert")).to_contain_text(blind)
        _shown(other, ".turn")
        other.get_by_label("Previous version").click()
        expect(other.locator(".prose")).to_contain_text("bytes of red")
    # one that was started with another model since the page was opened
    refused = json.dumps({"error": f"the offline model {blind}: set HELIX_LLM"})
    page.route("**/images", lambda route: route.fulfill(status=501, body=refused))
    carry(page, "paste", "pasted.png")
    ask(page, "And what is this?")
    expect(page.get_by_role("alert")).to_contain_text(blind)
    expect(page.locator("#question")).to_have_value("And what is this?")
    expect(page.locator(".composer .picture")).to_have_count(1)


COVERED = """() => { const tray = document.querySelector(".tray").getBoundingClientRect();
    return [...document.querySelectorAll(".sidebar, .turns, .welcome, .composer, .top")]
      .map((one) => one.getBoundingClientRect())
      .filter((one) => one.left < tray.right && tray.left < one.right
        && one.top < tray.bottom && tray.top < one.bottom).length; }"""
"""The number of other parts of the page that the tray lies over."""


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
        own = page.get_by_role("list", name="Documents attached to this conversation")
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
                page.get_by_label("Remove dropped.png").click()
        expect(page.locator("#question")).to_have_value("What about")
        assert serious(page) == []
        own.get_by_label("Remove Note from the conversation").click()
        expect(own.locator(".attached")).to_have_count(2)
        page.reload()
        expect(own.locator(".attached")).to_have_count(2)
        page.evaluate(HELD, ["main"])
        expect(page.locator(".overlay")).to_contain_text(
            "Over the question box, they are attached to"
        )
        page.evaluate(HELD, ["#question"])
        expect(page.locator(".overlay")).to_have_count(0)
        assert fits(page)
        page.goto(f"{url}/#/ask")
        page.get_by_role("button", name="Add the samples").click()
        expect(page.get_by_role("complementary", name="Imports")).to_be_visible()
        for width in (1600, 1280, 900, 360):
            page.set_viewport_size({"width": width, "height": 860})
            assert page.evaluate(COVERED) == 0, width


def test_the_picture_for_the_documentation(
    context: BrowserContext, module_database_url: str
) -> None:
    with (
        serving(module_database_url, LanguageModel(model=_Reader(), identity="reader")) as url,
        watched(context, url) as page,
    ):
        choose(page)
        _answered(page, "What was bought, and for how much?")
        expect(page.locator(".prose li")).to_have_count(2)
        page.screenshot(path=screenshots() / "image.png")


class _Reader(OfflineLLM):
    """Says of any image what the receipt of these tests has."""

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        async def deltas() -> ChatResponseAsyncGen:
            message = ChatMessage(role=MessageRole.ASSISTANT, content=_READ)
            yield ChatResponse(message=message, delta=_READ)

        return deltas()


_READ = "The receipt of the *Café du Port* has:\n\n- two coffees, 7.40\n- one cake, 4.10"
