"""Actions of tests on the Library view: add files to it, find a document's row."""

from __future__ import annotations

from playwright.sync_api import FilePayload, Locator, Page

SLOW = 60_000  # ms: a worker starts, and others may have the machine


def file(name: str, data: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def add(page: Page, *files: FilePayload) -> None:
    page.get_by_label("Files to add").set_input_files(list(files))


def row(page: Page, title: str) -> Locator:
    return page.locator(".document", has_text=title)
