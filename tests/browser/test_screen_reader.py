"""A conversation in a screen reader: names, roles, states, and what is read out."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import ask
from tests.browser.test_conversations import REFUND, answered
from tests.browser.test_image import choose

_THREAD = """
- main:
  - heading "Questions and answers" [level=1]
  - 'article "Question: How long do I have to request a refund?"':
    - heading "How long do I have to request a refund?" [level=2]
    - button "Edit the question"
    - group "Versions of this question":
      - button "Previous version"
      - text: 2 of 2
      - button "Next version" [disabled]
    - paragraph: /Refunds are accepted within 30 days of purchase\\./
    - region "Sources of the answer":
      - heading "Sources" [level=3]
    - group "This answer":
      - button "Copy the answer with its sources"
      - button "Export this answer"
      - button "Copy a link to this answer"
      - button "Good answer"
      - button "Bad answer"
      - button "Answer again"
      - button "Why this answer"
  - 'article "Question: And for gift cards?"'
  - meter "Memory of the conversation"
  - textbox "Your question"
  - button "Attach documents to this conversation"
  - button "Ask about an image"
"""
_LIST = """
- navigation "Conversations":
  - group:
    - button "New conversation"
    - searchbox "Find a conversation"
    - region "Today":
      - heading "Today" [level=2]
      - list:
        - listitem:
          - link "How long do I have to request a refund?"
          - button "Rename How long do I have to request a refund?"
          - button "Save How long do I have to request a refund? as Markdown"
          - button "Save How long do I have to request a refund? as a Word document"
          - button "Delete How long do I have to request a refund?"
"""


def test_parts_of_a_conversation_have_names_and_roles(page: Page) -> None:
    answered(page)
    page.locator(".turn").get_by_label("Answer again").click()
    expect(page.locator(".siblings")).to_contain_text("2 of 2")
    expect(page.locator(".turn .actions")).to_be_visible()  # a question stops what is under way
    answered(page, "And for gift cards?")
    expect(page.locator("body")).to_match_aria_snapshot(_THREAD)
    page.locator(".row.open .row-link").focus()  # its tools come with the focus
    expect(page.locator("body")).to_match_aria_snapshot(_LIST)
    expect(page.locator(".row.open .row-link")).to_have_attribute("aria-current", "page")


def test_what_comes_is_read_out(page: Page) -> None:
    heard = page.locator("#announced")
    expect(heard).to_have_attribute("aria-live", "polite")
    ask(page, "slowly: what is it?")
    turn = page.get_by_role("article", name="Question: slowly: what is it?")
    expect(turn).to_have_attribute("aria-busy", "true")
    page.press("#question", "Escape")
    expect(turn).to_have_attribute("aria-busy", "false")
    answered(page)
    expect(heard).to_have_text("The answer is complete.")
    last = page.locator(".turn").last
    last.get_by_label("Answer again").click()
    expect(last.get_by_text("2 of 2")).to_have_attribute("aria-live", "polite")
    page.get_by_label("Copy a link to this answer").last.click()
    expect(heard).to_have_text(re.compile("Link copied|could not be copied"))


def test_an_image_and_what_is_refused_are_read_out(page: Page) -> None:
    choose(page)
    chosen = page.get_by_role("group", name="Image of the question")
    expect(chosen.get_by_role("img", name="The image receipt.png")).to_be_visible()
    expect(chosen.get_by_role("button", name="Remove receipt.png")).to_be_visible()
    choose(page, b"GIF89a", "moving.gif")
    expect(page.get_by_role("alert")).to_contain_text("Use PNG, JPEG, WebP, HEIC or HEIF.")
    answered(page, REFUND)
    article = page.get_by_role("article", name=f"Question: {REFUND}")
    expect(article.get_by_role("img", name="The image receipt.png")).to_be_visible()
    expect(article.get_by_role("link", name="The image receipt.png")).to_be_visible()
