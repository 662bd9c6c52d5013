"""The eval's own way through the page: asks, and opens the reader at what is cited."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from evals.browser.judging import judged
from evals.browser.visit import visit
from evals.datasets.value_questions import ValueQuestion
from tests.browser.conftest import serving
from tests.support.repository import ROOT
from tests.support.service_process import run

REPORT = "brightwater-annual-report.pdf"
QUESTION = "How much revenue did Brightwater make with flow sensors in 2025?"


def test_an_answer_is_read_and_its_page_opened_at_the_cell(
    browser: Browser, module_database_url: str, tmp_path: Path
) -> None:
    told = run(
        "-m", "pipelines.ingest", "--keep-files", str(ROOT / "samples" / REPORT),
        DATABASE_URL=module_database_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
    )  # fmt: skip
    assert told.returncode == 0, told.stdout + told.stderr
    with serving(module_database_url) as site:
        shown = visit(browser, site, QUESTION, tmp_path / "shown.png")
        page = shown.receipt["citations"][0]["page"]
        asked = ValueQuestion("one", QUESTION, REPORT, (page,), ((27_915, "thousand"),))
        result = judged(site, asked, shown)
        refused = visit(browser, site, "What is the capital of Mongolia?")
    assert (result.outcome, result.opened, result.at_answer) == ("right", (REPORT, page), True)
    assert "Flow sensors" in result.marked and "27,915" in result.marked
    assert (tmp_path / "shown.png").stat().st_size > 10_000
    assert refused.receipt["abstained"] and (refused.page, refused.marked) == (None, "")
