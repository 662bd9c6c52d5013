"""Metadata in the Library view: filtered and sorted by, edited for one document and for many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

import psycopg
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import fits, serious, serving, watched
from tests.browser.library_page import row
from tests.support.live_server import make_ready

DOCUMENTS = {
    "Bridge": '{"year": 2024, "owner": ["Lee", "Kim"]}',
    "Ferry": '{"year": 2023, "owner": "Kim"}',
    "Tunnel": "{}",
}


@pytest.fixture
def page(database_url: str, context: BrowserContext) -> Iterator[Page]:
    """The list of three documents, two of them with metadata."""
    with psycopg.connect(database_url, autocommit=True) as sql:
        for number, (title, metadata) in enumerate(DOCUMENTS.items(), start=1):
            sql.execute(
                "INSERT INTO documents (id, title, source_uri, content_hash, size, metadata)"
                " VALUES (%s, %s, %s, '', 40, %s)", (number, title, f"{title}.md", metadata),
            )  # fmt: skip
            make_ready(sql, number, f"The {title} opens.", [(0, len(title) + 11)])
    with serving(database_url) as url, watched(context, url, "#/library?sort=title") as opened:
        opened.wait_for_selector(".document")
        yield opened


def titles(page: Page, *expected: str) -> None:
    expect(page.locator(".document .document-title")).to_have_text(
        [re.compile(f"^{title}") for title in expected]
    )


def test_the_list_is_filtered_and_sorted_by_metadata(page: Page) -> None:
    expect(row(page, "Bridge").locator(".document-metadata")).to_have_text(
        "owner Lee, Kim · year 2024"
    )
    page.get_by_label("Metadata", exact=True).select_option("year")
    page.get_by_label("How").select_option(">=")
    page.get_by_label("Value", exact=True).fill("2024")
    page.get_by_label("Value", exact=True).press("Enter")
    titles(page, "Bridge")
    assert "where=year>=2024" in unquote(page.url)
    page.get_by_label("Metadata", exact=True).select_option("owner")
    page.get_by_label("How").select_option("lacks")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_text("No documents match.")).to_be_visible()
    assert serious(page) == []
    page.get_by_role("button", name="Remove the filter year>=2024").click()
    titles(page, "Tunnel")
    assert fits(page)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_label("Order").select_option("meta.year desc")
    titles(page, "Bridge", "Ferry", "Tunnel")
    page.get_by_label("Order").select_option("meta.year")
    titles(page, "Ferry", "Bridge", "Tunnel")


def test_one_document_is_described(page: Page) -> None:
    page.get_by_label("Edit title, facts and metadata of Bridge").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Value of year").fill("soon")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("year: “soon” is no number.")
    dialog.get_by_label("Value of year").fill("2025")
    dialog.get_by_role("button", name="Remove owner").click()
    dialog.get_by_role("button", name="Add a key").click()
    dialog.get_by_label("Key 3", exact=True).fill("Due")
    dialog.get_by_label("Value of Due").fill("2025-02-30")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("due is no date of the calendar")
    assert serious(page) == []
    assert fits(page)
    dialog.get_by_label("Value of Due").fill("2025-02-28")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    line = row(page, "Bridge").locator(".document-metadata")
    expect(line).to_have_text("due Feb 28, 2025 · year 2025")
    page.reload()
    expect(line).to_have_text("due Feb 28, 2025 · year 2025")


def test_a_row_says_who_and_when_and_neither_ids_nor_what_it_says_already(page: Page) -> None:
    to = [f"{n}@example.com" for n in range(9)]
    mail = {
        "subject": "Pier 9", "from": "ines@example.com", "to": to,
        "date": "2026-11-12T08:14:00Z", "message_id": "1@example.com", "thread": "0@example.com",
    }  # fmt: skip
    plan = {
        "thread": "M6", "author": "Ada", "day": "2026-01-01", "isbn": "978-3-16-148410-0",
        "etag": "0f3bad5c9e114d7a", "draft": {"text": "2026-01-31"},
    }  # fmt: skip
    said = page.evaluate(
        """async (documents) => {
            const { metadataLine } = await import("/web/library/metadata.js");
            return documents.map(metadataLine);
        }""",
        [
            {"media": "eml", "title": "Pier 9", "facts": {}, "metadata": mail},
            {"media": "md", "title": "Plan", "facts": {"author": "Ada"}, "metadata": plan},
        ],
    )
    people = ", ".join(to[:4])
    assert said == [
        f"date Nov 12, 2026 · from ines@example.com · to {people} and 5 more",
        "day Jan 1, 2026 · draft 2026-01-31 · isbn 978-3-16-148410-0 · thread M6",
    ]


def test_many_documents_are_described_at_once(page: Page) -> None:
    page.get_by_role("button", name="Select all shown").click()
    page.get_by_role("button", name="Metadata", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Metadata of 3 documents")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("Add a key, or select one to remove.")
    dialog.get_by_role("button", name="Add a key").click()
    dialog.get_by_label("Key 1", exact=True).fill("place")
    dialog.get_by_label("Type of place").select_option("list")
    dialog.get_by_label("Value of place").fill("Bonn; Ghent")
    dialog.get_by_text("owner", exact=True).click()
    assert serious(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_have_text("3 documents changed")
    expect(page.locator(".document-metadata")).to_have_text(
        [
            "place Bonn, Ghent · year 2024", "place Bonn, Ghent · year 2023", "place Bonn, Ghent",
        ]
    )  # fmt: skip
