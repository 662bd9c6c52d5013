"""``python -m evals.agent``: tool cases over samples/; with ``--data DIR`` TAT-QA and sec10q.

It asks with the agent and without it. The exit status is 1 where a case is not as it must be.
``--model-cases`` asks a dozen questions of a real model.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from evals.agent.arithmetic import derivations, measure_arithmetic
from evals.agent.cases import SUITE, run_cases
from evals.agent.comparisons import measure_comparisons
from evals.agent.model_cases import model_outcomes, table
from evals.cases import CaseError
from evals.database import ingest, settings_of_run
from evals.documents.parts import Part
from evals.report.data import write_json
from helix.errors import HelixError
from helix.services import open_services
from helix.settings import Settings

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


async def _of_model(settings: Settings) -> int:
    await asyncio.to_thread(ingest, settings, SUITE)
    outcomes = []
    async with open_services(settings) as services:
        async for outcome in model_outcomes(services):
            print(outcome.line, flush=True)
            outcomes.append(outcome)
    print("\n".join(table(outcomes)))
    return 0


def _by_model() -> int:
    with settings_of_run() as settings:
        return asyncio.run(_of_model(settings))


def main() -> int:
    """Ask everything, and print what came of it."""
    parser = argparse.ArgumentParser(
        prog="evals.agent", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--data", type=Path, help="folder of the public sets")
    parser.add_argument(
        "--model-cases", action="store_true", help="a dozen questions for the model of HELIX_LLM"
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="one part; default all")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="every Nth table")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write measures and failures")
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print the first N")
    options = parser.parse_args()
    began = time.perf_counter()
    try:
        if options.model_cases:
            return _by_model()
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
