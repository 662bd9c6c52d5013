"""Put a report of ``python -m evals.run`` into the package, for machines that have made none.

``python -m evals.report.package report.json`` takes what ``evals.run --json report.json`` wrote,
keeps what the page's Evals view reads, and writes PACKAGED. The run is one of the whole golden set,
offline, with nothing below its minimum; anything else is refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from helix.serving.routes.operations import PACKAGED

RUN = ("version", "created_at", "suite", "judges", "settings", "ceiling", "totals", "minima",
       "failed")  # fmt: skip
CASE = ("id", "tags", "question", "refusal", "refused", "answer", "cited", "faults", "distance")


def main(arguments: list[str]) -> int:
    """1 with one line where the report is not one to hand on."""
    if len(arguments) != 1:
        print("evals.report.package: name the report of evals.run --json", file=sys.stderr)
        return 1
    report = json.loads(Path(arguments[0]).read_text("utf-8"))
    if fault := _fault(report):
        print(f"evals.report.package: {fault}", file=sys.stderr)
        return 1
    packaged = {name: report[name] for name in RUN}
    packaged["cases"] = [{name: case[name] for name in CASE} for case in report["cases"]]
    PACKAGED.write_text(json.dumps(packaged, ensure_ascii=False, indent=0) + "\n", "utf-8")
    print(f"{PACKAGED.name}: {len(packaged['cases'])} cases of {packaged['created_at']}")
    return 0


def _fault(report: dict[str, Any]) -> str:
    if report["suite"] != "golden" or report["tags"]:
        return "the report is not of the whole golden set"
    if report["failed"]:
        return f"the run failed: {report['failed'][0]}"
    if not str(report["settings"]["llm"]).startswith("offline"):
        return "the run was not offline, so that nobody could make it again without a key"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
