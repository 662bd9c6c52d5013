"""``python -m evals.agent``: tool cases over samples/; with ``--data DIR`` TAT-QA and sec10q.

It asks with the agent and without it. The exit status is 1 where a case is not as it must be.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from evals.agent.arithmetic import derivations, measure_arithmetic
from evals.agent.cases import run_cases
from evals.agent.comparisons import measure_comparisons
from evals.cases import CaseError
from evals.database import settings_of_run
from evals.documents.parts import Part
from evals.report.data import write_json
from helix.errors import HelixError

PARTS = ("derivations", "tatqa", "sec10q")


def measured(data: Path, parts: tuple[str, ...], every: int) -> Part:
    """The figures of the public sets below ``data``."""
    part = Part()
    if "derivations" in parts:
        part.join(derivations(data))
    if "tatqa" in parts:
        with settings_of_run() as settings:
            part.join(measure_arithmetic(settings, data, every))
    if "sec10q" in parts:
        with settings_of_run() as settings:
            part.join(measure_comparisons(settings, data, every))
    return part


def _golden() -> int:
    with settings_of_run() as settings:
        outcomes = asyncio.run(run_cases(settings))
    wrong = [one for one in outcomes if one.faults]
    print(f"{len(outcomes) - len(wrong)} of {len(outcomes)} tool cases over samples/ are right")
    for one in wrong:
        print(f"{one.case.id}: {one.case.question}: {'; '.join(one.faults)}")
    return int(bool(wrong))


def main() -> int:
    """Ask everything, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog="evals.agent", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument("--part", action="append", choices=PARTS, help="one part; default all")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth table")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write measures and failures")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print the first N")
    options = parser.parse_args()
    began = time.perf_counter()
    try:
        if options.data is None:
            return _golden()
        part = measured(options.data, tuple(options.part or PARTS), max(options.sample, 1))
    except (HelixError, CaseError) as error:
        print(error, file=sys.stderr)
        return 2
    for name, share in part.measures.items():
        print(f"| {name} | {share.value:.3f} [{share.low:.3f}, {share.high:.3f}] |")
    print("\n".join(part.failures[: options.failures]))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if options.json:
        measures = {name: share.to_json() for name, share in part.measures.items()}
        write_json(options.json, {"measures": measures, "failures": part.failures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
