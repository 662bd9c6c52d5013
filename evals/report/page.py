"""The report as one HTML file: no script, nothing from elsewhere, one style whose hash it names."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evals.totals import MINIMA

TEMPLATES = Path(__file__).parent.parent / "templates"
STYLE = (TEMPLATES / "report.css").read_text("utf-8")
STYLE_HASH = f"sha256-{base64.b64encode(sha256(STYLE.encode()).digest()).decode()}"
"""The source that a Content-Security-Policy has to allow for the page's style."""
POLICY = f"default-src 'none'; style-src '{STYLE_HASH}'"

_LEFT, _RIGHT = 300, 870  # of a plot's axis, in the SVG's own units


def page(report: dict[str, Any]) -> str:
    """The page of a report as ``evals.report.data.to_json`` gives it."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    distances = [case["distance"] for case in report["cases"] if case["distance"] is not None]
    return templates.get_template("report.html").render(
        report=report,
        style=STYLE,
        policy=POLICY,
        x=_place,
        least={name: least for each, least in report["minima"].items() for name in MINIMA[each][1]},
        most=max([report["ceiling"], *distances]) * 1.05 or 1.0,
    )


def _place(value: float, most: float = 1.0) -> float:
    """The place of a value from 0 to ``most`` in a plot, in the SVG's own units."""
    return round(_LEFT + (_RIGHT - _LEFT) * min(max(value / most, 0.0), 1.0), 1)
