"""A question spoken into the page: Chromium's own recorder, its test tone for a voice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, DocumentBlock, MessageRole
from playwright.sync_api import BrowserContext, Page, expect
from pydantic import Field

from helix.study.voice.sounds import Sound, sound_of
from tests.browser.conftest import ask, serious, serving, watched
from tests.support.scripted_model import Says, saying

SAID = "How long do I have to request a refund?"


class Hears(Says):
    """Writes down the same words whatever it hears, and keeps what it heard."""

    heard: list[bytes] = Field(default_factory=list)

    async def achat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        (block,) = [each for each in messages[-1].blocks if isinstance(each, DocumentBlock)]
        self.heard.append(block.resolve_document().read())
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=SAID))


def _speaks(page: Page) -> None:
    """Press, wait for a second of sound, and press again."""
    page.get_by_label("Dictate your question").click()
    stop = page.get_by_label("Stop and transcribe")
    expect(stop).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(1200)  # of the recording: there is nothing else to wait for
    stop.click()


def test_a_question_is_spoken_and_an_answer_read_aloud(
    context: BrowserContext, library_url: str
) -> None:
    model = Hears(said="Refunds are accepted within 30 days of purchase [1].")
    llm = replace(saying(""), model=model, hears=True)
    with serving(library_url, llm, judge="offline") as url:
        context.grant_permissions(["microphone"], origin=url)
        with watched(context, url) as page:
            page.fill("#question", "Tell me:")
            _speaks(page)
            expect(page.locator("#question")).to_have_value(f"Tell me: {SAID}")
            sound = sound_of(model.heard[0])
            assert isinstance(sound, Sound) and sound.type == "audio/webm"
            assert 0.5 < sound.seconds < 30
            assert serious(page) == []
            ask(page, SAID)
            expect(page.locator(".prose")).to_contain_text("within 30 days")
            expect(page.get_by_label("Read aloud")).to_be_visible()


def test_where_nothing_hears_no_microphone_is_offered(page: Page) -> None:
    expect(page.get_by_label("Your question")).to_be_visible()
    expect(page.get_by_label("Dictate your question")).to_have_count(0)


def test_a_microphone_that_is_not_allowed_is_told_in_words(
    context: BrowserContext, library_url: str
) -> None:
    llm = replace(saying("x"), hears=True)
    with serving(library_url, llm, judge="offline") as url, watched(context, url) as page:
        page.evaluate("() => { navigator.mediaDevices.getUserMedia = () => Promise.reject(1); }")
        page.get_by_label("Dictate your question").click()
        expect(page.locator("#announced")).to_contain_text("allow it for this page")
