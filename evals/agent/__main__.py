"""``python -m evals.agent``: tool cases over samples/; with ``--data DIR`` TAT-QA and sec10q.

It asks with the agent and without it. The exit status is 1 where a case is not as it must be.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from evals.agent.arithmetic import arithmetic_asked, derivations
from evals.agent.cases import cases_asked
from evals.agent.comparisons import comparisons_asked
from evals.cases import CaseError
from evals.database import settings_of_run
from evals.documents.parts import Part
from evals.report.data import write_json
from helix.errors import HelixError

PARTS = ("derivations", "tatqa", "sec10q")


def measured(data: Path, parts: tuple[str, ...], every: int) -> Part:
    """The figures of the public sets below ``data``."""
    found = Part()
    if "derivations" in parts:
        found.join(derivations(data))
    if "tatqa" in parts:
        with settings_of_run() as settings:
            found.join(arithmetic_asked(settings, data, every))
    if "sec10q" in parts:
        with settings_of_run() as settings:
            found.join(comparisons_asked(settings, data, every))
    return found


def _golden() -> int:
    with settings_of_run() as settings:
        outcomes = asyncio.run(cases_asked(settings))
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
    given = parser.parse_args()
    began = time.perf_counter()
    try:
        if given.data is None:
            return _golden()
        found = measured(given.data, tuple(given.part or PARTS), max(given.sample, 1))
    except (HelixError, CaseError) as error:
        print(error, file=sys.stderr)
        return 2
    for name, share in found.measures.items():
        print(f"| {name} | {share.value:.3f} [{share.low:.3f}, {share.high:.3f}] |")
    print("\n".join(found.failures[: given.failures]))
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr)
    if given.json:
        measures = {name: share.to_json() for name, share in found.measures.items()}
        write_json(given.json, {"measures": measures, "failures": found.failures})
    return 0


if __name__ == "__main__":
    sys.exit(main())
