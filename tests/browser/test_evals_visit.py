"""A report with tables: the eval's own way through the page, and the pictures of the README."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from evals.browser.outcomes import judged
from evals.browser.visit import visit
from evals.datasets.value_questions import ValueQuestion
from tests.browser.conftest import ask, screenshots, serving, watched
from tests.support.repository import ROOT
from tests.support.service_process import run

REPORT = "brightwater-annual-report.pdf"
QUESTION = "How much revenue did Brightwater make with flow sensors in 2025?"
CELL = "27,915"


@pytest.fixture(scope="module")
def report_site(module_database_url: str) -> Iterator[str]:
    """A server that has the report of the samples, with its bytes."""
    told = run(
        "-m", "pipelines.ingest", "--keep-files", str(ROOT / "samples" / REPORT),
        DATABASE_URL=module_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    with serving(module_database_url) as site:
        yield site


def test_an_answer_is_read_and_its_page_opened_at_the_cell(
    browser: Browser, report_site: str, tmp_path: Path
) -> None:
    shown = visit(browser, report_site, QUESTION, tmp_path / "shown.png")
    page = shown.receipt["citations"][0]["page"]
    asked = ValueQuestion("one", QUESTION, REPORT, (page,), ((27_915, "thousand"),))
    result = judged(report_site, asked, shown)
    assert (result.outcome, result.opened, result.at_answer) == ("right", (REPORT, page), True)
    assert "Flow sensors" in result.marked and CELL in result.marked
    assert (tmp_path / "shown.png").stat().st_size > 10_000
    refused = visit(browser, report_site, "What is the capital of Mongolia?")
    assert refused.receipt["abstained"] and (refused.page, refused.marked) == (None, "")


def test_a_cell_is_marked_on_the_page_and_in_the_text(
    context: BrowserContext, report_site: str
) -> None:
    with watched(context, report_site) as page:
        ask(page, QUESTION)
        page.locator(".turn .chip:enabled").first.click()
        sheet = page.locator(".sheet").filter(has=page.locator(".box.quote")).first
        expect(sheet.locator("img")).to_be_visible()
        expect(sheet.locator(".box.quote").first).to_be_in_viewport()
        page.screenshot(path=screenshots() / "cell.png")
        page.get_by_role("button", name="Text", exact=True).click()
        cell = page.locator(".document-text mark.quote").filter(has_text=CELL).first
        expect(cell).to_be_in_viewport()
        page.screenshot(path=screenshots() / "text.png")
        page.get_by_role("button", name="Page", exact=True).click()
        expect(page.locator(".box.quote").first).to_be_in_viewport()
