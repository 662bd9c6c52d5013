"""``python -m evals.evidence.table --data DIR``: the rows that EVIDENCE.md has by set.

Every set is asked, or its claims proved, on the path that serves; what was measured is kept in
build/evidence, so that the same command goes on where it ended. ``--rows`` measures nothing and
prints what is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from evals.cases import CaseError
from evals.evidence.kept import FOLDER, Kept, Row
from evals.evidence.measures import auroc_estimate
from evals.evidence.prose import ALTERED, LEARNED, PROSE, prove_missing
from evals.evidence.served import (
    ANSWERABLE,
    FOREIGN,
    NEAR_MISS,
    SERVED,
    UNLEARNED,
    ask_missing,
    store,
)
from evals.metrics.statistics import Estimate, wilson
from helix.errors import HelixError
from helix.evidence.model import evidence_model
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

_RISKS = (0.45, 0.42, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15)  # of HELIX_OFFLINE_RISK
_OTHER_BARS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # of a proof
Cells = tuple[str, Estimate | None]
"""The name of a measure and its value."""

BEFORE = {
    "squad2: right, of the answerable": "0.530",
    "squad2: right, of the answered": "0.803",
    "squad2: near miss refused": "0.467",
    "squad2: foreign refused": "0.998",
    "covidqa: right, of the answerable": "0.430",
    "covidqa: wrong, of the answerable": "0.420",
    "tatqa: right, of the answerable": "0.699",
    "tatqa: wrong, of the answerable": "0.076",
    "natural: right, of the answerable": "0.353",
    "natural: wrong, of the answerable": "0.304",
    "natural: near miss refused": "0.722",
    "natural: green on both: wrong": "0.98",
    "summedits-podcast: that hold, in doubt": "0.93",
    "summedits-podcast: that do not, borne out": "0.02",
    "summedits-podcast: AUROC of texts": "0.571",
    "summedits-sales_call: that hold, in doubt": "0.92",
    "summedits-sales_call: that do not, borne out": "0.05",
    "summedits-sales_call: AUROC of texts": "0.583",
    "wice: that hold, in doubt": "0.85",
    "wice: that do not, borne out": "0.02",
    "wice: AUROC of texts": "0.602",
    "ratings: that hold, in doubt": "0.46",
    "ratings: that do not, borne out": "0.15",
}
"""By rules, before a model read: the tables of 22 to 24 November 2026, on all of a set."""
WANTED = {
    "squad2: right, of the answerable": "≥ 0.72",
    "squad2: right, of the answered": "≥ 0.94",
    "squad2: near miss refused": "≥ 0.55",
    "squad2: foreign refused": "≥ 0.98",
    "covidqa: right, of the answerable": "≥ 0.430",
    "covidqa: wrong, of the answerable": "≤ 0.210",
    "tatqa: right, of the answerable": "≥ 0.699",
    "tatqa: wrong, of the answerable": "≤ 0.038",
}
_OF_ALL = {
    "AUROC of likely": "≥ 0.85", "green on both: wrong": "≤ 0.06", "that hold, in doubt": "≤ 0.20",
    "AUROC of texts": "≥ 0.70", "altered, still proven": "≤ 0.02",
    **dict.fromkeys((f"altered {one}, still proven" for one in ALTERED.values()), "≤ 0.02"),
    "processor time of a question, ms, p50 (p95)": "≤ 350",
    "proof of six statements, ms, p50 (p95)": "≤ 150",
}  # fmt: skip


def of_answers(rows: Sequence[Row]) -> Iterator[Cells]:
    """The measures of a set that is asked."""
    asked = [one for one in rows if one["kind"] == ANSWERABLE]
    answered = [one for one in asked if one["judged"] != "refused"]
    yield "right, of the answerable", _share(asked, lambda one: one["judged"] == "right")
    yield "right, of the answered", _share(answered, lambda one: one["judged"] == "right")
    yield "wrong, of the answerable", _share(asked, lambda one: one["judged"] == "wrong")
    for kind in (NEAR_MISS, FOREIGN):
        others = [one for one in rows if one["kind"] == kind]
        yield f"{kind} refused", _share(others, lambda one: one["judged"] == "refused")
    told = [one for one in rows if one["judged"] != "refused" and one["likely"] is not None]
    right = [one["judged"] == "right" for one in told]
    yield "AUROC of likely", auroc_estimate([one["likely"] for one in told], right)
    green = [one for one in rows if one["judged"] != "refused" and one["green"]]
    yield "green on both: wrong", _share(green, lambda one: one["judged"] == "wrong")
    taken = [one["milliseconds"] for one in rows]
    yield "processor time of a question, ms, p50 (p95)", _times(taken)


def of_claims(rows: Sequence[Row]) -> Iterator[Cells]:
    """The measures of a set that is proved."""
    told = [one for one in rows if one["kind"] == "claim"]
    good, bad = ([one for one in told if one["label"] == label] for label in (0, 1))
    yield "that hold, in doubt", _share(good, lambda one: not one["proven"])
    yield "that do not, borne out", _share(bad, lambda one: one["proven"])
    parts = sorted({one["of"] for one in bad})
    for part in parts if len(parts) > 1 else ():
        some = [one for one in bad if one["of"] == part]
        yield f"marked {part}, borne out", _share(some, lambda one: one["proven"])
    texts: dict[str, tuple[float, bool]] = {}
    for one in told:
        least, holds = texts.get(one["whole"], (1.0, True))
        texts[one["whole"]] = min(least, one["score"]), holds and not one["label"]
    yield "AUROC of texts", auroc_estimate(*zip(*texts.values(), strict=True)) if texts else None
    altered = [one for one in rows if one["kind"] == "altered"]
    yield "altered, still proven", _share(altered, lambda one: one["proven"])
    timed = [value for one in rows if one["kind"] == "timed" for value in one["milliseconds"]]
    yield "proof of six statements, ms, p50 (p95)", _times(timed)


def _of_altered(rows: Sequence[Row]) -> Iterator[Cells]:
    altered = [one for one in rows if one["kind"] == "altered"]
    for what in dict.fromkeys(ALTERED.values()):
        some = [one for one in altered if ALTERED[one["altered"]] == what]
        yield f"altered {what}, still proven", _share(some, lambda one: one["proven"])


def _share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> Estimate | None:
    return wilson(sum(bool(holds(one)) for one in rows), len(rows)) if rows else None


def _times(values: Sequence[float]) -> Estimate | None:
    """p50 as the value, p95 as the upper end."""
    if not values:
        return None
    middle, high = np.quantile(values, (0.5, 0.95))
    return Estimate(float(middle), float(middle), float(high), len(values))


def table(sets: Iterable[str], folder: Path = FOLDER) -> Iterator[str]:
    """The lines of the table, of what is kept of ``sets``."""
    yield "| set | documents | measure | n | rules before | model now | wanted |"
    yield "|---|---|---|---|---|---|---|"
    commits: set[str] = set()
    asked, proved = list[Row](), list[Row]()
    for name in sets:
        rows = list(Kept(name, folder=folder))
        (asked if name in SERVED else proved).extend(rows)
        commits |= {row["commit"] for row in rows}
        for measure, value in of_answers(rows) if name in SERVED else of_claims(rows):
            if value is not None:
                yield _line(name, measure, value)
    for measure, value in of_answers(asked):
        if value is not None and measure in _OF_ALL:
            yield _line("all that are asked", measure, value)
    for measure, value in _of_altered(proved):
        if value is not None:
            yield _line("all that are proved", measure, value)
    yield f"\nOn {', '.join(sorted(commits))}."


def _line(name: str, measure: str, value: Estimate) -> str:
    key = f"{name}: {measure}"
    now = f"{value.value:.0f} ({value.high:.0f})" if "p95" in measure else str(value)
    wanted = WANTED.get(key, _OF_ALL.get(measure, ""))
    cells = (name, _learned(name), measure, str(value.n), BEFORE.get(key, "–"), now, wanted)
    return f"| {' | '.join(cells)} |"


def _learned(name: str) -> str:
    if name not in SERVED and name not in PROSE:
        return "–"
    if name in LEARNED:
        return "learned from"
    return "none learned from" if name in UNLEARNED else "kept out"


def curve(name: str, folder: Path = FOLDER) -> Iterator[str]:
    """Shares by HELIX_OFFLINE_RISK: of what was answered, the likelier ones stay.

    Answers of no probability, such as calculations, pass.
    """
    rows = list(Kept(name, folder=folder))
    asked = [one for one in rows if one["kind"] == ANSWERABLE]
    misses = [one for one in rows if one["kind"] == NEAR_MISS]
    for risk in _RISKS if asked else ():
        bar = evidence_model().bar(risk)
        given, false = (
            [o for o in some if o["judged"] != "refused" and (o["likely"] or 1.0) >= bar]
            for some in (asked, misses)
        )
        right = sum(one["judged"] == "right" for one in given)
        refused = f"{1 - len(false) / len(misses):.3f}" if misses else "–"
        yield (f"| {name} | {risk} | {right / len(asked):.3f} | {right / max(len(given), 1):.3f}"
               f" | {(len(given) - right) / len(asked):.3f} | {refused} |")  # fmt: skip


def bars(name: str, folder: Path = FOLDER) -> Iterator[str]:
    """Of claims that hold the share in doubt, of the others that borne out, by other bars."""
    told = [one for one in Kept(name, folder=folder) if one["kind"] == "claim"]
    good, bad = ([one["score"] for one in told if one["label"] == label] for label in (0, 1))
    for bar in _OTHER_BARS if good and bad else ():
        doubted = sum(one < bar for one in good) / len(good)
        passed = sum(one >= bar for one in bad) / len(bad)
        yield f"| {name} | {bar} | {doubted:.2f} | {passed:.2f} |"


def measure(name: str, data: Path, kept: Kept, until: float, most: int) -> None:
    """Measure what is not kept of the set ``name``; raises CaseError and HelixError."""
    if name in PROSE:
        prove_missing(list(PROSE[name](data)), kept, until, most)
        return
    loaded = SERVED[name](data)
    settings = _settings()
    store(settings, loaded, kept)
    asyncio.run(ask_missing(settings, loaded, kept, until))


def _settings() -> Settings:
    return load_settings(
        database_url=f"embedded:{FOLDER / 'database'}", llm="offline", embedder="offline",
        receipt_days=0,
    )  # fmt: skip


def main() -> int:
    """Measure and print: 0, or 2 where the run could not be made."""
    parser = argparse.ArgumentParser(
        prog="evals.evidence.table", description=(__doc__ or "").partition("\n\n")[0]
    )
    add = parser.add_argument
    every = [name for name in (*SERVED, *PROSE) if name != "unopened"]
    add("--data", type=Path, required=True, help="the folder of the public sets")
    add("--set", action="append", choices=[*SERVED, *PROSE], help="one set; default: all")
    add("--minutes", type=float, default=600, help="measure for so long at most; then go on later")
    add("--most", type=int, default=100_000, help="claims of a set that are proved at most")
    add("--anew", action="store_true", help="measure these sets again from the start")
    add("--rows", action="store_true", help="measure nothing, print what is kept")
    add("--curve", action="store_true", help="print risk by coverage too")
    given = parser.parse_args()
    configure_logging("warning")
    until = time.monotonic() + 60 * given.minutes
    names = given.set or every
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in () if given.rows else names:
            print(f"{name} …", file=sys.stderr, flush=True)
            measure(name, given.data, Kept(name, anew=given.anew), until, given.most)
    except (HelixError, CaseError, OSError) as error:
        print(f"evals.evidence.table: {error}", file=sys.stderr)
        return 2
    print(*table(names), sep="\n")
    if given.curve:
        print("\n| set | risk | right | right, of the answered | wrong | near misses refused |")
        print("|---|---|---|---|---|---|")
        print(*(line for name in names if name in SERVED for line in curve(name)), sep="\n")
        print("\n| set | bar | that hold, in doubt | that do not, borne out |\n|---|---|---|---|")
        print(*(line for name in names if name in PROSE for line in bars(name)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
