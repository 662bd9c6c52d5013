"""The red team: ``python -m evals.redteam``; 1 where a probe gets through that must not.

It attacks the real application, over an embedded database of its own that is gone afterwards, with
the offline models and with one that misbehaves on purpose. No key and no network is needed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from evals.redteam_probes import agents, attachments, conversations, documents, leaks, output
from evals.redteam_probes.target import KEY, RIVAL, Failed, Probe, Target, open_target
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

ProbeOutcome = Literal["pass", "fail", "known"]

PROBES: tuple[Probe, ...] = (
    *documents.PROBES, *leaks.PROBES, *output.PROBES, *conversations.PROBES, *attachments.PROBES,
    *agents.PROBES, leaks.LAST
)  # fmt: skip
"""All of them; the last looks through what the others were told."""


@dataclass(frozen=True)
class Result:
    """The result of a probe. ``known``: the attack got through, for a reason that is recorded."""

    area: str
    name: str
    outcome: ProbeOutcome
    problem: str
    seconds: float


async def attack(settings: Settings, probes: Sequence[Probe] = PROBES) -> list[Result]:
    """Run the probes, in order, over an empty database; each starts without documents."""
    async with open_target(settings) as target:
        return await run_probes(target, probes)


async def run_probes(target: Target, probes: Sequence[Probe]) -> list[Result]:
    """``attack`` in a target that is open already."""
    results: list[Result] = []
    for probe in probes:
        results.append(await run_probe(probe, target))
        for tenant in ("default", RIVAL):
            await target.store.of(tenant).aclear()
    return results


async def run_probe(probe: Probe, target: Target) -> Result:
    """Run one probe, which may leave documents behind, and give its result."""
    began, problem = time.perf_counter(), ""
    try:
        await probe.run(target)
    except Failed as failure:
        problem = str(failure)
    except Exception as error:  # noqa: BLE001  a probe that breaks has shown nothing
        problem = f"the probe broke ({type(error).__name__}: {error})"
    outcome: ProbeOutcome = "pass" if not problem else "known" if probe.known_problem else "fail"
    seconds = round(time.perf_counter() - began, 3)
    return Result(probe.area, probe.name, outcome, probe.known_problem or problem, seconds)


def own_settings(database_url: str) -> Settings:
    """Helix as it is by default, but for the offline models; with a key that must not come out."""
    return load_settings(
        database_url=database_url, llm="offline", embedder="offline", gemini_api_key=KEY,
        guards=("injection", "hygiene"), log_level="debug", workers=0, judge=None, auth="off",
    )  # fmt: skip


def table(results: Sequence[Result]) -> str:
    """The results as Markdown."""
    rows = [f"| {r.area} | {r.name} | {r.outcome} | {r.problem} |" for r in results]
    return "\n".join(["| area | probe | outcome | |", "|---|---|---|---|", *rows])


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack, print the table, and write the results as JSON where that is asked for."""
    parser = argparse.ArgumentParser(prog="evals.redteam", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    options = parser.parse_args(arguments)
    configure_logging("error")
    began = time.perf_counter()
    # not below a folder that others may not enter: as root, Postgres runs as another user
    folder = Path(tempfile.mkdtemp(prefix="helix-redteam-"))
    try:
        results = asyncio.run(attack(own_settings(f"embedded:{folder}")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return report(results, time.perf_counter() - began, options.json)


def report(results: Sequence[Result], seconds: float, file: Path | None) -> int:
    """Print what came of the probes; 1 where one got through, else 0."""
    print(table(results))
    through = [result for result in results if result.outcome == "fail"]
    print(f"\n{len(results)} probes, {len(through)} got through, {seconds:.1f} seconds")
    if file:
        file.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    return 1 if through else 0


if __name__ == "__main__":
    sys.exit(main())
