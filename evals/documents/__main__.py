"""``python -m evals.documents``: real documents read, found and answered.

Without ``--data`` tables and pages of our own making are read and drawn. With it come the filings
of sec10q (tables labelled by hand, furniture, boxes, values asked, pages found) and TAT-QA printed
as PDF and DOCX. The exit status is 1 where a figure fell below evals/documents/baseline.json, 2
where the run could not be made.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console

from evals.cases import CaseError
from evals.database import settings_of_run
from evals.datasets.tatqa import load_tatqa
from evals.documents.parts import (
    CITATIONS,
    Filings,
    Part,
    boxes,
    furniture_of,
    labelled,
    printed,
    printed_tables,
    tables_without_data,
)
from evals.documents.questions import filings_asked, tatqa_asked
from evals.documents.report import (
    BASELINE,
    DRAWN,
    WHOLE,
    fallen,
    load_baseline,
    save_baseline,
    show,
    to_json,
)
from evals.report.data import write_json
from helix.errors import HelixError
from helix.telemetry.logs import configure_logging

WIDTH = 150
DRAWN_CITATIONS, DRAWN_FILES = 200, 8
"""Without data: a file of every turn with one column and with two."""


def _tatqa_tables(data: Path, filings: Filings, every: int) -> Part:
    documents = [one for context in load_tatqa(data)[::every] if (one := printed(context))]
    return printed_tables("TAT-QA", documents)


def _filings_asked(data: Path, filings: Filings, every: int) -> Part:
    with settings_of_run() as settings:
        return filings_asked(settings, data, every)


def _tatqa_asked(data: Path, filings: Filings, every: int) -> Part:
    with settings_of_run() as settings:
        return tatqa_asked(settings, data, every)


PARTS: Mapping[str, Callable[[Path, Filings, int], Part]] = {
    "tables": _tatqa_tables,
    "labelled": lambda data, filings, every: labelled(filings),
    "furniture": lambda data, filings, every: furniture_of(filings),
    "boxes": lambda data, filings, every: boxes(filings, CITATIONS // every),
    "values": _filings_asked,
    "tatqa": _tatqa_asked,
}
"""By the name that ``--part`` takes; each needs the data sets."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evals.documents", description=(__doc__ or "").splitlines()[0]
    )
    add = parser.add_argument
    add("--data", type=Path, help="folder of the public sets; without it only what is drawn")
    add("--part", action="append", choices=PARTS, help="one of the parts with --data; default all")
    add("--sample", type=int, default=1, metavar="N", help="every Nth table, filing and question")
    add("--json", type=Path, metavar="FILE", help="write the measures and what failed")
    add("--baseline", type=Path, default=BASELINE, help="compare with this file")
    add("--save-baseline", action="store_true", help="make the figures of this run the baseline")
    add("--failures", type=int, default=0, metavar="N", help="print the first N failures")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """0 where no figure fell, 1 where one did, 2 where the run could not be made."""
    given = _parser().parse_args(arguments)
    configure_logging("warning")
    try:
        return _run(given)
    except HelixError as error:
        print(f"evals.documents: {error}", file=sys.stderr)
        return 2


def _run(given: argparse.Namespace) -> int:
    _check(given)
    began = time.perf_counter()
    part = _measured(given)
    seconds = time.perf_counter() - began
    run = WHOLE if given.data else DRAWN
    whole = not given.data or (given.sample == 1 and not given.part)
    baseline = load_baseline(given.baseline, run)
    if given.part:
        baseline = {name: least for name, least in baseline.items() if name in part.measures}
    console = Console()
    show(console if console.is_terminal else Console(width=WIDTH), part, baseline)
    print(f"{len(part.measures)} measures in {seconds:.0f} s")
    for line in part.failures[: given.failures]:
        print(line)
    if given.json:
        write_json(given.json, to_json(run, part, seconds))
    if given.save_baseline and whole:
        save_baseline(given.baseline, run, part)
        return 0
    below = list(fallen(part, baseline)) if given.sample == 1 else []
    for line in below:
        print(f"FAILED {line}")
    return 1 if below else 0


def _measured(given: argparse.Namespace) -> Part:
    part = Part()
    if given.data is None:
        part.join(tables_without_data())
        part.join(boxes(None, DRAWN_CITATIONS, DRAWN_FILES))
        return part
    filings = Filings(given.data, given.sample)
    try:
        for name in given.part or PARTS:
            part.join(PARTS[name](given.data, filings, given.sample))
    except OSError as error:
        file = Path(str(error.filename)).name
        raise CaseError(f"{file} cannot be read: --data is to have sec10q and tatqa") from None
    return part


def _check(given: argparse.Namespace) -> None:
    """Raises CaseError for what would be in vain: told before it costs a run."""
    if given.sample < 1:
        raise CaseError("--sample is at least 1")
    if given.data is not None and not given.data.is_dir():
        raise CaseError(f"{given.data} is no folder: give the public sets' with --data DIR")
    if given.part and given.data is None:
        raise CaseError("this part reads public sets: say where with --data DIR")
    if given.save_baseline and (given.sample > 1 or given.part):
        raise CaseError("a baseline is saved of a whole run: leave out --sample and --part")


if __name__ == "__main__":
    raise SystemExit(main())
