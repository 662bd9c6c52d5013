"""One question in Chromium: typed into the page, its answer, and its reader open at the quote."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from evals.cases import CaseError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_INSTALL = "this asks in Chromium: install it (Debian: apt install chromium), and playwright"
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_PATIENCE = 60_000  # ms; a page of a filing is drawn in a tenth of a second, a busy machine in ten
_WINDOW = {"width": 1440, "height": 900}


@dataclass(frozen=True)
class Shown:
    """The receipt and the page that a reader saw. ``receipt`` is ``GET /v1/answers/{id}``.

    ``page`` is the page whose image the reader opened at with the quote's box in view, None where
    it did not, or where nothing is cited; ``marked`` the words under the boxes.
    """

    receipt: dict[str, Any]
    page: int | None
    marked: str


def chromium_path() -> str | None:
    """The system's Chromium; its headless shell first: half the processor time of the whole."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium.

    Raises:
        CaseError: Chromium or playwright is not installed.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise CaseError(_INSTALL) from None
    path = chromium_path()
    if path is None:
        raise CaseError(_INSTALL)
    with sync_playwright() as playwright:
        # in a container the run may be root's, and Chromium will not sandbox for root
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


def visit(browser: Browser, site: str, question: str, picture: Path | None = None) -> Shown:
    """Ask ``question`` on the page at ``site``, open the first citation, and take a ``picture``."""
    context = browser.new_context(viewport=_WINDOW)  # type: ignore[arg-type]
    context.set_default_timeout(_PATIENCE)
    try:
        page = context.new_page()
        page.goto(f"{site}/")
        with page.expect_response("**/messages") as response:
            page.fill("#question", question)
            page.press("#question", "Enter")
        page.locator(".turn[aria-busy=false] .actions").wait_for()
        answer = response.value.headers["x-answer-id"]
        receipt = httpx.get(f"{site}/v1/answers/{answer}", timeout=30).raise_for_status().json()
        shown = Shown(receipt, *_opened(page)) if receipt["citations"] else Shown(receipt, None, "")
        if picture is not None:
            page.screenshot(path=picture)
        return shown
    finally:
        context.close()


def _opened(page: Page) -> tuple[int | None, str]:
    """The page on which the first citation opened, and what is marked there."""
    from playwright.sync_api import Error

    page.locator(".turn .chip:enabled").first.click()
    sheet = page.locator(".sheet").filter(has=page.locator(".box.quote")).first
    try:
        sheet.locator("img").wait_for()
    except Error:  # no image of the page, or no box on it: what is to be seen is what is told
        return None, ""
    number = re.search(r"\d+", sheet.get_attribute("aria-label") or "")
    box = sheet.locator(".box.quote").first.bounding_box()
    seen = box is not None and 0 <= box["y"] <= _WINDOW["height"]
    marked = " ".join(" ".join(sheet.locator("mark.quote").all_text_contents()).split())
    return (int(number[0]) if number and seen else None), marked
