"""Evals and Privacy: a real report and the real counter, their look and reach."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from helix.serving.routes import operations
from tests.browser.conftest import fits, screenshots, serious, serving, watched
from tests.serving.web.files import endpoints, missing
from tests.support.service_process import run
from tests.support.service_process import serving as serving_process


@pytest.fixture(scope="module")
def report(
    library_url: str, site: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, object]]:
    """The report of a real run over the smoke cases, where the server looks for the last one."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "default_directory", lambda: folder / "pg")
        assert httpx.get(f"{site}/v1/evals/last").json()["packaged"] is True
        last = operations.last_report_file()
        last.parent.mkdir()
        told = run(
            "-m", "evals.run", "--tag", "smoke", "--json", str(last),
            DATABASE_URL=library_url, HELIX_LLM="offline", HELIX_EMBEDDER="offline",
        )  # fmt: skip
        assert last.is_file(), told.stderr
        yield httpx.get(f"{site}/v1/evals/last").json()


def test_the_last_report_with_its_plots_and_cases(
    context: BrowserContext, site: str, report: dict[str, list[dict[str, object]]]
) -> None:
    with watched(context, site, "#/evals") as page:
        expect(page.locator("h1")).to_have_text("How often Helix is right")
        assert missing(report, endpoints()["GET /v1/evals/last"]["reads"]) == []
        measures, cases = report["totals"], report["cases"]
        expect(page.locator(".plot").first.locator(".good")).to_have_count(len(measures))
        page.get_by_text("Show as a table").click()
        expect(page.locator("tbody tr")).to_have_count(len(measures))
        distances = [case for case in cases if case["distance"] is not None]
        dots = page.locator(".plot").last.locator(".good, .bad")
        expect(dots).to_have_count(len(distances))
        expect(page.locator(".case")).to_have_count(len(cases))
        page.get_by_label("Only questions with a fault").check()
        expect(page.locator(".case")).to_have_count(len([c for c in cases if c["faults"]]))
        page.get_by_label("Only questions with a fault").uncheck()
        page.get_by_text("Show as a table").click()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=screenshots() / "evals.png")
        assert serious(page) == []
        page.emulate_media(color_scheme="dark")
        assert serious(page) == []
        assert fits(page)


def test_without_a_report_the_packaged_one_shows_and_how_to_make_ones_own(
    context: BrowserContext, site: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "default_directory", lambda: tmp_path / "pg")
    packaged = json.loads(operations.PACKAGED.read_text())
    with watched(context, site, "#/evals") as page:
        expect(page.get_by_text("This report came with Helix.")).to_be_visible()
        expect(page.locator(".plot").first.locator(".good")).to_have_count(len(packaged["totals"]))
        expect(page.locator(".case")).to_have_count(len(packaged["cases"]))
        expect(page.locator(".measured")).to_contain_text("refund-policy.txt")
        expect(page.locator(".measured")).to_contain_text("7 of 7 are in this library.")
        page.get_by_text("Measure your own documents").click()
        expect(page.locator("code", has_text="python -m evals.run").first).to_be_visible()
        assert serious(page) == []
        assert fits(page)


def test_a_report_of_other_documents_says_that_it_tells_nothing_of_ones_own(
    context: BrowserContext, desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "default_directory", lambda: tmp_path / "pg")
    with watched(context, desk, "#/evals") as page:
        expect(page.locator(".measured")).to_contain_text("None of them is in this library.")
        assert serious(page) == []


def test_offline_nothing_has_left_this_machine(context: BrowserContext, library_url: str) -> None:
    # a process of its own: in this one Chromium and the tests have connections too
    values = {"DATABASE_URL": library_url, "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    with serving_process(**values) as server, watched(context, server.url, "#/privacy") as page:
        expect(page.locator(".seal")).to_contain_text("Nothing has left this machine.")
        stored = server.get("/v1/privacy").json()["stored"]
        facts = page.locator(".privacy .facts").first
        expect(facts).to_contain_text(re.compile(rf"Documents{stored['documents']}, .* of text"))
        expect(page.locator(".privacy")).to_contain_text("runs here, sends nothing")
        assert serious(page) == []
        page.screenshot(path=screenshots() / "privacy.png")
        page.emulate_media(color_scheme="dark")
        assert serious(page) == []
        assert fits(page)


def test_a_host_outside_is_named(context: BrowserContext, library_url: str) -> None:
    with serving(library_url) as url, watched(context, url, "#/privacy") as page:
        page.wait_for_selector(".seal")
        body = httpx.get(f"{url}/v1/privacy").json()
        body["outside"] = True
        body["contacts"] = [
            {
                "process": "serving", "kind": "name", "host": "models.example", "port": None,
                "where": "outside", "count": 14, "last_at": "2026-01-31T09:00:00+00:00",
            }
        ]  # fmt: skip
        page.route("**/v1/privacy", lambda route: route.fulfill(json=body))
        page.get_by_text("Refresh").click()
        expect(page.locator(".seal")).to_contain_text("has talked to hosts outside")
        expect(page.locator("tr.outside")).to_contain_text("models.example")
        assert serious(page) == []
