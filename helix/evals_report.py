"""The last report of ``python -m evals.run``, which it leaves beside the embedded database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from db.embedded import default_directory

_LARGEST = 32 * 2**20  # bytes; 80 cases take 0.1 MB


def last_report_file() -> Path:
    """Where the report is: ``<user data folder>/helix/evals/last.json``."""
    return default_directory().parent / "evals" / "last.json"


def last_report(*, with_cases: bool) -> dict[str, Any] | None:
    """The report, or None where there is none that can be read.

    Without its cases it holds figures only: no question, no answer.
    """
    path = last_report_file()
    try:
        if path.stat().st_size > _LARGEST:
            return None
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(report, dict):
        return None
    if not with_cases:
        report["cases"] = []
        report["comparison"] = None
    return report
