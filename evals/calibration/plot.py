"""A report as one HTML file with its plots as inline SVG: no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape

from evals.calibration.curves import Curve, Point

_WIDTH, _HEIGHT, _LEFT, _TOP = 520, 340, 56, 18
_COLOURS = ("#1f5fbf", "#c2410c", "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be123c", "#475569")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;"
    "color:#1c1917;background:#fff}table{border-collapse:collapse}td,th{border:1px solid #d6d3d1;"
    "padding:.3rem .6rem;text-align:left}figure{display:inline-block;margin:0 1rem 1rem 0}"
)

Line = tuple[str, Sequence[tuple[float, float]]]
"""A name, and (x, y) points from 0 to 1."""


def page(title: str, lines: Sequence[str], curves: Mapping[str, Curve]) -> str:
    """The report: what was found as text, and per plot one line a gate."""
    points = {name: curve.points() for name, curve in curves.items()}
    figures = [plot("Risk by coverage", "coverage", "risk", _lines(points, lambda p: p.risk))]
    kinds = next(iter(curves.values())).others
    for kind in kinds:
        of_kind = _lines(points, partial(_refused, kind))
        figures.append(plot(f"Refused: {kind}", "coverage", "share refused", of_kind))
    body = "".join(f"<figure>{figure}</figure>" for figure in figures)
    told = escape("\n".join(lines))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{escape(title)}</h1><pre>{told}</pre>{body}</html>\n"
    )


def _refused(kind: str, point: Point) -> float:
    return point.refused[kind]


def _lines(points: Mapping[str, Sequence[Point]], value: Callable[[Point], float]) -> list[Line]:
    return [(name, [(p.coverage, value(p)) for p in of]) for name, of in points.items()]


def plot(title: str, x: str, y: str, lines: Sequence[Line]) -> str:
    """An SVG of lines over the unit square, with axes, grid and legend."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(title)}"'
        f' width="{_WIDTH + 80}" height="{_HEIGHT + 80}" font-family="system-ui,sans-serif"'
        ' font-size="13">',
        f'<text x="{_LEFT}" y="13" font-weight="600">{escape(title)}</text>',
    ]
    for step in range(6):
        share = step / 5
        parts.append(_tick(share))
    parts.append(f'<text x="{_LEFT + _WIDTH / 2 - 30}" y="{_HEIGHT + 54}">{escape(x)}</text>')
    parts.append(
        f'<text x="14" y="{_TOP + _HEIGHT / 2}" transform="rotate(-90 14 {_TOP + _HEIGHT / 2})"'
        f' text-anchor="middle">{escape(y)}</text>'
    )
    for number, (name, points) in enumerate(lines):
        parts.append(_line(name, points, _COLOURS[number % len(_COLOURS)], number))
    return "".join(parts) + "</svg>"


def _tick(share: float) -> str:
    across, down = _LEFT + share * (_WIDTH - 60), _TOP + 6 + (1 - share) * _HEIGHT
    right, bottom = _LEFT + _WIDTH - 60, _TOP + 6 + _HEIGHT
    return (
        f'<path d="M{across:.1f} {_TOP + 6}V{bottom}M{_LEFT} {down:.1f}H{right}" stroke="#e7e5e4"/>'
        f'<text x="{across:.1f}" y="{bottom + 15}" text-anchor="middle">{share:.1f}</text>'
        f'<text x="{_LEFT - 6}" y="{down + 4:.1f}" text-anchor="end">{share:.1f}</text>'
    )


def _line(name: str, points: Sequence[tuple[float, float]], colour: str, number: int) -> str:
    path = "".join(
        f"{'M' if not place else 'L'}{_LEFT + x * (_WIDTH - 60):.1f}"
        f" {_TOP + 6 + (1 - y) * _HEIGHT:.1f}"
        for place, (x, y) in enumerate(points)
    )
    row = _HEIGHT + 72 - 14 * number
    dash = ' stroke-dasharray="6 4"' if number else ""
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
        f'<text x="{_LEFT + _WIDTH - 150}" y="{row}" fill="{colour}">{escape(name)}</text>'
    )
