"""A report as one HTML file with its plots as inline SVG: no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evals.calibration.curves import Curve

_TEMPLATES = Path(__file__).parent.parent / "templates"


def calibration_page(title: str, lines: Sequence[str], curves: Mapping[str, Curve]) -> str:
    """The report: what was found as text, and per plot one line a gate."""
    templates = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    points = {name: curve.points() for name, curve in curves.items()}
    risk = [(name, [(p.coverage, p.risk) for p in own]) for name, own in points.items()]
    plots = [("Risk by coverage", "risk", risk)]
    for kind in next(iter(curves.values())).others:
        refused = [
            (name, [(p.coverage, p.refused[kind]) for p in own]) for name, own in points.items()
        ]
        plots.append((f"Refused: {kind}", "share refused", refused))
    return templates.get_template("calibration.html").render(title=title, lines=lines, plots=plots)
