"""``python -m evals.browser``: twenty natural questions over filings, asked in a browser.

The filings of sec10q below ``--data`` are brought in with their files into a database of the run's
own, and `helix serve` serves them; or ``--server`` names one that has them. Each question is typed
into the page in Chromium, and the reader opened at the first citation. Prints Markdown. The exit
status is 1 where fewer than 14 answers are right or one is wrong yet supported, 2 where the run
could not be made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from httpx import HTTPError

from evals.browser.outcomes import Result, judged
from evals.browser.report import markdown, to_json
from evals.browser.server import served
from evals.browser.visit import chromium, visit
from evals.cases import CaseError
from evals.database import ingest, settings_of_run
from evals.datasets.value_questions import natural_questions
from evals.report.data import write_json
from evals.suites import Suite
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError
from helix.telemetry.logs import configure_logging

LEAST_RIGHT = 14
"""Of the twenty."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evals.browser", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", type=Path, metavar="DIR", help="folder that has sec10q/")
    where.add_argument("--server", metavar="URL", help="a server that has the filings' pages")
    add("--pictures", type=Path, metavar="DIR", help="a screenshot of each answer and its reader")
    add("--json", type=Path, metavar="FILE", help="write what was answered and opened")
    add("--question", action="append", metavar="ID", help="one of the questions; default all")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where enough is right and nothing wrong is supported, else 1; 2 where it could not run."""
    given = _parser().parse_args(arguments)
    configure_logging("warning")
    try:
        results = _asked(given)
    except (HelixError, OSError, HTTPError) as error:
        print(f"evals.browser: {error}", file=sys.stderr)
        return 2
    print(markdown(results))
    if given.json:
        write_json(given.json, to_json(results))
    right = sum(one.outcome == "right" for one in results)
    wrong = sum(one.outcome == "wrong yet supported" for one in results)
    return int(wrong > 0 or right < min(LEAST_RIGHT, len(results)))


def _asked(given: argparse.Namespace) -> list[Result]:
    questions = [one for one in natural_questions() if one.id in (given.question or [one.id])]
    if not questions:
        raise CaseError(f"no question has the id {given.question[0]}: natural-1 to natural-20")
    if given.data and not (given.data / "sec10q/docs").is_dir():
        raise CaseError(f"{given.data} has no sec10q/docs: give the folder of the public sets")
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        site = given.server or _filings_served(given.data, stack)
        browser = stack.enter_context(chromium())
        return [
            judged(site, one, visit(browser, site, one.question, _picture(given.pictures, one.id)))
            for one in questions
        ]


def _picture(folder: Path | None, name: str) -> Path | None:
    return folder / f"{name}.png" if folder else None


def _filings_served(data: Path, stack: ExitStack) -> str:
    """The address of a server that has the filings, for as long as the stack is open."""
    settings = stack.enter_context(settings_of_run())
    # the page asks as the default tenant
    suite = Suite("browser-sec10q", data / "sec10q", "docs", (), DEFAULT_TENANT)
    ingest(settings, suite, keep_files=True)
    return stack.enter_context(served(settings))


if __name__ == "__main__":
    raise SystemExit(main())
