"""Plots as inline SVG: classes for looks, no style attribute, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from evals.totals import MINIMA

_WIDTH, _NAMES, _ROW, _TOP = 900, 300, 22, 24
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def _x(value: float, most: float = 1.0) -> float:
    return round(_NAMES + (_WIDTH - _NAMES - 30) * min(max(value / most, 0.0), 1.0), 1)


def forest(totals: Sequence[Mapping[str, Any]], minima: Mapping[str, float]) -> str:
    """Each measure as a dot on its interval, 0 to 1, with its minimum where it has one."""
    least = {measure: value for name, value in minima.items() for measure in MINIMA[name][1]}
    height = _TOP + _ROW * len(totals) + 8
    parts = [_axis(tick, f"{tick:g}", height) for tick in _TICKS]
    for place, row in enumerate(totals):
        y = _TOP + _ROW * place + _ROW // 2
        parts.append(
            f'<text x="{_NAMES - 10}" y="{y + 4}" text-anchor="end">{escape(row["name"])}</text>'
        )
        parts.append(
            f'<line class="range" x1="{_x(row["low"])}" x2="{_x(row["high"])}" y1="{y}" y2="{y}"/>'
        )
        parts.append(f'<circle class="value" cx="{_x(row["value"])}" cy="{y}" r="5"/>')
        if row["name"] in least:
            at = _x(least[row["name"]])
            parts.append(f'<line class="least" x1="{at}" x2="{at}" y1="{y - 9}" y2="{y + 9}"/>')
    return _svg(height, "Each measure with its interval", parts)


def strip(cases: Sequence[Mapping[str, Any]], ceiling: float) -> str:
    """A dot a question by the distance of its nearest chunk, by what should be done with it."""
    groups = {
        "to be answered": [c for c in cases if not c["refusal"]],
        "to be refused": [c for c in cases if c["refusal"]],
    }
    known = [case["distance"] for case in cases if case["distance"] is not None]
    most = max([ceiling, *known], default=1.0) * 1.05 or 1.0
    height = _TOP + 90 * len(groups)
    parts = [_axis(most * tick, f"{most * tick:.2f}", height, most) for tick in _TICKS]
    for group, (name, several) in enumerate(groups.items()):
        middle = _TOP + 90 * group + 45
        parts.append(f'<text x="{_NAMES - 10}" y="{middle + 4}" text-anchor="end">{name}</text>')
        for place, case in enumerate(c for c in several if c["distance"] is not None):
            y = middle + (place * 7 % 15 - 7) * 4  # apart from its neighbours
            look = "bad" if case["faults"] else "good"
            parts.append(
                f'<circle class="{look}" cx="{_x(case["distance"], most)}" cy="{y}" r="4">'
                f"<title>{escape(case['id'])}: {case['distance']:.3f}</title></circle>"
            )
    at = _x(ceiling, most)
    parts.append(f'<line class="least" x1="{at}" x2="{at}" y1="{_TOP}" y2="{height}"/>')
    return _svg(height, "Nearest distances", parts)


def _axis(value: float, label: str, height: int, most: float = 1.0) -> str:
    x = _x(value, most)
    return (
        f'<line class="axis" x1="{x}" x2="{x}" y1="{_TOP}" y2="{height}"/>'
        f'<text x="{x}" y="14" text-anchor="middle">{label}</text>'
    )


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
