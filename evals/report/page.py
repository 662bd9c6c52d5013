"""The report as one HTML file: no script, nothing from elsewhere, one style whose hash it names."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Any

from evals.report import plots

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #69727d; --line: #d0d7de;
  --good: #1a7f5a; --bad: #c0362c; --paper: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --line: #363d46;
  --good: #4cc38a; --bad: #ff7b6b; --paper: #12161b; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } .soft { color: var(--soft); } .bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: var(--ink); }
svg .axis { stroke: var(--line); } svg .range { stroke: var(--soft); stroke-width: 2; }
svg .value, svg .good { fill: var(--good); } svg .bad { fill: var(--bad); }
svg .least { stroke: var(--bad); stroke-dasharray: 3 3; }
"""
STYLE_HASH = f"sha256-{base64.b64encode(sha256(STYLE.encode()).digest()).decode()}"
"""What a Content-Security-Policy has to allow for the page's style."""
POLICY = f"default-src 'none'; style-src '{STYLE_HASH}'"

Json = dict[str, Any]


def page(report: Json) -> str:
    """The page of a report as ``evals.report.data.to_json`` gives it."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Json) -> Iterator[str]:
    title = escape(f"Helix evals: {report['suite']}")
    yield "<!doctype html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    yield f"<style>{STYLE}</style></head><body><h1>{title}</h1>"
    yield f'<p class="soft">{escape(_summary(report))}</p>'
    yield from _failed(report["failed"])
    yield "<h2>Totals</h2><p>Each with its 95% interval; the dashed marks are the minima.</p>"
    yield plots.forest(report["totals"], report["minima"])
    yield from _totals(report["totals"])
    yield "<h2>How near the best chunk was</h2>"
    yield "<p>Cosine distance of each question to its nearest chunk; the gate refuses right of the "
    yield "dashed line. Red: the case had a fault.</p>"
    yield plots.strip(report["cases"], report["ceiling"])
    yield from _agreement(report["agreement"])
    yield from _comparison(report["comparison"])
    yield from _cases(report["cases"])
    yield "</body></html>"


def _summary(report: Json) -> str:
    settings = ", ".join(f"{name} {value}" for name, value in report["settings"].items())
    return (
        f"{report['created_at']}. {len(report['cases'])} cases in {report['seconds']} s; judges:"
        f" {', '.join(report['judges'])}; {settings}."
    )


def _failed(lines: list[str]) -> Iterator[str]:
    yield from (f'<p class="bad"><strong>{escape(line)}</strong></p>' for line in lines)


def _totals(rows: list[Json]) -> Iterator[str]:
    yield '<table><tr><th>measure</th><th class="number">value</th>'
    yield '<th class="number">95% interval</th><th class="number">n</th></tr>'
    for row in rows:
        yield (
            f"<tr><td>{escape(row['name'])}</td>"
            f'<td class="number">{row["value"]:.3f}</td>'
            f'<td class="number">{row["low"]:.3f} to {row["high"]:.3f}</td>'
            f'<td class="number">{row["n"]}</td></tr>'
        )
    yield "</table>"


def _agreement(rows: list[Json]) -> Iterator[str]:
    if rows:
        yield "<h2>Agreement of the judges</h2><table>"
        yield "<tr><th>asked</th><th>agree</th><th>Cohen's kappa</th><th>n</th></tr>"
        for row in rows:
            kappa = "none: no judge ever differs" if row["kappa"] is None else f"{row['kappa']:.2f}"
            yield (
                f'<tr><td>{escape(row["name"])}</td><td class="number">{row["raw"]:.3f}</td>'
                f'<td class="number">{kappa}</td><td class="number">{row["n"]}</td></tr>'
            )
        yield "</table>"


def _comparison(compared: Json | None) -> Iterator[str]:
    if compared is None:
        return
    yield "<h2>Against the baseline</h2><ul>"
    for kind in ("worse", "better", "new", "gone", "settings"):
        yield f"<li>{kind}: {escape(', '.join(compared[kind]) or 'none')}</li>"
    yield "</ul>"


def _cases(cases: list[Json]) -> Iterator[str]:
    yield "<h2>Cases</h2><table>"
    yield "<tr><th>case</th><th>question and answer</th><th>cites</th><th>faults</th></tr>"
    for case in cases:
        yield (
            f"<tr><td>{escape(case['id'])}<br>"
            f'<span class="soft">{escape(", ".join(case["tags"]))}</span></td>'
            f"<td><strong>{escape(case['question'])}</strong><br>{escape(case['answer'])}</td>"
            f"<td>{escape(', '.join(case['cited']))}</td>"
            f'<td class="bad">{escape(", ".join(case["faults"]))}</td></tr>'
        )
    yield "</table>"
