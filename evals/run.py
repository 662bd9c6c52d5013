"""``python -m evals.run``: ask a suite's questions and say how many went well.

Documents are ingested by the real pipeline into a database of the run's own, and asked through the
engine that serves. The exit status is 1 where a measure is below its minimum (MIN_RECALL,
MIN_ANSWERED, MIN_FAITHFULNESS, MIN_REFUSAL, MIN_GATE, MIN_CITATIONS) or could not be measured, 2
where the run could not be made.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from rich.console import Console

from evals.cases import CASES, CaseError, chosen
from evals.database import ingest, settings_of_run, stored
from evals.judges import OFFLINE, judge_name, model_judge, offline_judge
from evals.report.data import (
    BASELINE,
    Json,
    Run,
    baseline_of,
    compare,
    load_baseline,
    reported_settings,
    to_json,
    write_json,
)
from evals.report.page import page
from evals.report.terminal import markdown, show
from evals.runner import SuiteRunner
from evals.suites import (
    GOLDEN,
    OTHER,
    STORED,
    SUITES,
    Suite,
    SuiteOptions,
    build_suite,
    stored_suite,
)
from evals.totals import EVERY, agreements, due, failures, minima, totals
from helix.domain.scope import tenant_name
from helix.errors import HelixError
from helix.providers.factories import build_embedder, build_llm
from helix.services import open_services
from helix.serving.routes.operations import last_report_file
from helix.settings import Settings, load_settings
from helix.telemetry.logs import configure_logging

LIMIT = 300
WIDTH = 160


def run_suite(
    settings: Settings, suite: Suite, *, tags: Sequence[str] = (), judge: str | None = None
) -> Run:
    """Ingest and ask a suite.

    ``judge`` is ``offline``, ``model``, or None for a model where one can be had. With a model the
    offline judge judges too, for their agreement.

    Raises:
        CaseError, SettingsError: the suite or a setting cannot be used.
        HelixError: database, embedder or model failed.
    """
    chosen(suite.cases, tags)  # what cannot be run is told before it costs an ingest
    judge_name(settings, judge)
    minima(os.environ, defaults=suite.name == GOLDEN)
    began = time.perf_counter()
    ingest(settings, suite)
    return asyncio.run(measure(settings, suite, tags=tags, judge=judge, began=began))


async def measure(
    settings: Settings,
    suite: Suite,
    *,
    tags: Sequence[str] = (),
    judge: str | None = None,
    began: float | None = None,
) -> Run:
    """``run_suite`` of documents that are stored; ``began`` is on perf_counter's clock."""
    began = time.perf_counter() if began is None else began
    least = minima(os.environ, defaults=suite.name == GOLDEN)
    name = judge_name(settings, judge)
    async with AsyncExitStack() as stack:
        judges = [offline_judge(settings)]
        if name != OFFLINE:
            model, llm = model_judge(settings, name)
            stack.push_async_callback(llm.aclose)
            judges.insert(0, model)
        embedder, answering = build_embedder(settings), build_llm(settings)
        services = await stack.enter_async_context(open_services(settings, embedder, answering))
        runner = SuiteRunner(services, suite, await stored(services, suite), judges)
        outcomes = [outcome async for outcome in runner.outcomes(tags)]
        ceiling = services.engine.retriever.space.max_distance
    names = [one.name for one in judges]
    measured = totals(outcomes, names[0])
    whole = suite.name == GOLDEN and not tags
    wanted = EVERY if whole else due(outcome.case for outcome in outcomes)
    return Run(
        suite.name, tags, names, reported_settings(settings, embedder.identity, answering.identity),
        time.perf_counter() - began, ceiling, outcomes, measured, least,
        failures(measured, least, wanted),
        agreements(outcomes, names[0], OFFLINE) if len(names) > 1 else {},
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="evals.run", description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--suite", choices=SUITES, default=GOLDEN, help="default: the golden set over samples/")
    add("--tag", action="append", default=[], help="cases with this tag only; may come again")
    add("--cases", type=Path, default=CASES, help="another file of cases over samples/")
    add("--tenant", help="ask what this tenant has stored in DATABASE_URL; with --cases")
    add("--data", type=Path, help="folder of the public sets, which the other suites need")
    add("--limit", type=int, default=LIMIT, help="of a public set, questions of a kind at most")
    add("--judge", choices=(OFFLINE, "model"), help="default: a model where one can be had")
    add("--json", type=Path, metavar="FILE", help="write the report")
    add("--html", type=Path, metavar="FILE", help="write the report as a page of its own")
    add("--markdown", type=Path, metavar="FILE", help="write the totals for a pull request")
    add("--baseline", type=Path, help="compare with this one; default: the golden set's")
    add(
        "--save-baseline",
        action="store_true",
        help="make this run the baseline; with --baseline unless it is the whole golden set",
    )
    add("--keep", action="store_true", help="keep the run's own database")
    add("--last", type=Path, help="where the last report is kept, if not in the user's data folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when all minima were reached, 1 when not, 2 when the run could not be made."""
    given = _parser().parse_args(arguments)
    configure_logging("warning")
    try:
        _check(given)
        baseline = _baseline(given)
        run = _run(given)
        _report(given, run, baseline)
    except HelixError as error:
        print(f"evals: {error}", file=sys.stderr)
        return 2
    return 1 if run.failed else 0


def _run(given: argparse.Namespace) -> Run:
    if given.tenant:
        stored_cases = stored_suite(given.cases, tenant_name(given.tenant))
        return run_suite(load_settings(), stored_cases, tags=given.tag, judge=given.judge)
    with tempfile.TemporaryDirectory(prefix="helix-evals-set-") as folder:
        suite = build_suite(
            given.suite, SuiteOptions(given.data, Path(folder), given.limit, given.cases)
        )
        with settings_of_run(given.keep) as settings:
            return run_suite(settings, suite, tags=given.tag, judge=given.judge)


def _report(given: argparse.Namespace, run: Run, baseline: Json | None) -> None:
    try:
        _write(given, run, baseline)
    except OSError as error:
        named = error.filename2 or error.filename or "the report"
        raise CaseError(f"{named} cannot be written: {error.strerror or error}") from None


def _write(given: argparse.Namespace, run: Run, baseline: Json | None) -> None:
    compared = compare(run, baseline, whole=not given.tag) if baseline else None
    report = to_json(run, compared)
    console = Console()
    show(console if console.is_terminal else Console(width=WIDTH), run, compared)
    print(f"{len(run.outcomes)} cases in {run.seconds:.0f} s")
    if _golden(given) and not given.tag:
        write_json(given.last or last_report_file(), report)
    if given.save_baseline:
        write_json(given.baseline or BASELINE, baseline_of(report))
    if given.json:
        write_json(given.json, report)
    if given.html:
        given.html.write_text(page(report), "utf-8")
    if given.markdown:
        given.markdown.write_text(markdown(run, compared), "utf-8")


def _check(given: argparse.Namespace) -> None:
    """Raises CaseError for what would be in vain: told before it costs a run."""
    if given.limit < 1:
        raise CaseError("--limit is at least 1")
    named = (given.json, given.html, given.markdown, given.last)
    for path in [*named, given.baseline if given.save_baseline else None]:
        if path is not None and (path.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK)):
            raise CaseError(f"{path} cannot be written: give a file in a folder that is there")
    whole = _golden(given) and not given.tag
    if given.save_baseline and not whole and (given.baseline or BASELINE).resolve() == BASELINE:
        raise CaseError(
            "this is not the whole golden set: say with --baseline FILE where its baseline is kept"
        )


def _name(given: argparse.Namespace) -> str:
    """The name that the suite will have."""
    if given.tenant:
        return STORED
    other = given.suite == GOLDEN and given.cases.resolve() != CASES.resolve()
    return OTHER if other else str(given.suite)


def _golden(given: argparse.Namespace) -> bool:
    return _name(given) == GOLDEN


def _baseline(given: argparse.Namespace) -> Json | None:
    """The baseline to compare with; raises CaseError where it is unreadable or of another suite."""
    path: Path | None = given.baseline
    if path is None and _golden(given) and BASELINE.exists():
        path = BASELINE
    if path is None or given.save_baseline:
        return None
    found = load_baseline(path)
    if found.get("suite") != _name(given):
        raise CaseError(
            f"{path.name} is of the suite {found.get('suite')}, and this run of {_name(given)}"
        )
    return found


if __name__ == "__main__":
    raise SystemExit(main())
