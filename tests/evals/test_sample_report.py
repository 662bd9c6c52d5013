"""The report among the samples is what its script draws."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pipelines.readers import read
from tests.support.repository import ROOT

REPORT = ROOT / "samples" / "brightwater-annual-report.pdf"


def test_the_report_is_what_its_script_draws(tmp_path: Path) -> None:
    """Its text, for another version of reportlab may pack the same pages otherwise."""
    drawn = tmp_path / "report.pdf"
    subprocess.run([sys.executable, ROOT / "scripts" / "sample_report.py", drawn], check=True)
    assert read("pdf", drawn.read_bytes()).text == read("pdf", REPORT.read_bytes()).text
