"""The report for a terminal, by rich; and as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from evals.case_metrics import CASE_METRICS, case_metrics, latency, mean_metrics
from evals.report.data import Comparison, Run
from evals.runner import Outcome

_QUESTION = 60


def show(console: Console, run: Run, compared: Comparison | None) -> None:
    """Print the cases, the totals, the agreement of judges, the comparison and what failed."""
    console.print(_cases(run.outcomes))
    console.print(_metrics(run.outcomes))
    console.print(_totals(run))
    console.print(latency_line(run))
    for name, value in run.agreement.items():
        kappa = (
            "no kappa: both always say the same" if value.kappa is None else f"{value.kappa:.2f}"
        )
        console.print(f"judges on {name}: agree {value.raw:.3f}, kappa {kappa}, n={value.n}")
    for line in comparison_lines(compared):
        console.print(line, markup=False, highlight=False)
    for line in run.failed:
        console.print(f"FAILED {line}", style="red", markup=False, highlight=False)


def _cases(outcomes: Sequence[Outcome]) -> Table:
    table = Table("case", "question", "should", "did", "recall", "distance", "faults")
    for one in outcomes:
        distance = "" if one.distance is None else f"{one.distance:.3f}"
        recall = f"{one.found['recall']:.2f}" if one.found else ""
        question = one.case.question.replace("[", r"\[")
        table.add_row(
            one.case.id,
            question if len(question) <= _QUESTION else question[: _QUESTION - 1] + "…",
            "refuse" if one.case.refusal else "answer",
            _did(one),
            recall,
            distance,
            ", ".join(one.faults),
            style="red" if one.faults else None,
        )
    return table


def _did(outcome: Outcome) -> str:
    if outcome.refused:
        return "refuse (gate)" if outcome.gated else "refuse (model)"
    return "answer"


def _metrics(outcomes: Sequence[Outcome]) -> Table:
    table = Table("case", title="the five metrics by case", show_footer=True)
    table.columns[0].footer = "mean"
    means = mean_metrics(outcomes)
    for name in CASE_METRICS:
        footer = f"{means[name].value:.3f}" if name in means else ""
        table.add_column(name, footer=footer, justify="right")
    for one in outcomes:
        values = case_metrics(one).values()
        table.add_row(one.case.id, *("" if v is None else f"{v:.2f}" for v in values))
    return table


def latency_line(run: Run) -> str:
    """The latency of answers: half of them took p50 at most, and 95 of 100 took p95 at most."""
    told = ", ".join(f"{name} {value:.3f} s" for name, value in latency(run.outcomes).items())
    return f"seconds to the end of an answer: {told or 'nothing was asked'}"


def _totals(run: Run) -> Table:
    judges = " and ".join(run.judges)
    table = Table("measure", "value", "95% interval", "n", title=f"{run.suite}, judge: {judges}")
    for name, value in run.totals.items():
        table.add_row(
            name, f"{value.value:.3f}", f"{value.low:.3f} to {value.high:.3f}", f"{value.n}"
        )
    return table


def comparison_lines(compared: Comparison | None) -> list[str]:
    """A line a kind of change, the cases named; nothing without a baseline."""
    if compared is None:
        return []
    kinds = {
        "worse": compared.worse, "better": compared.better,
        "not in the baseline": compared.new, "only in the baseline": compared.missing,
        "set otherwise than in the baseline": compared.settings,
    }  # fmt: skip
    lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names]
    return lines or ["as the baseline"]


def markdown(run: Run, compared: Comparison | None) -> str:
    """The totals, what changed and what failed, as a comment on a pull request has it."""
    return "\n".join(_markdown(run, compared)) + "\n"


def _markdown(run: Run, compared: Comparison | None) -> Iterator[str]:
    state = "failed" if run.failed else "passed"
    yield f"### evals: {run.suite}, {state}, judge: {' and '.join(run.judges)}\n"
    yield "| measure | value [95% interval] | n |\n|---|---|---|"
    for name, value in run.totals.items():
        yield f"| {name} | {value} | {value.n} |"
    yield "\n| metric by case, mean | value [95% interval] | n |\n|---|---|---|"
    for name, value in mean_metrics(run.outcomes).items():
        yield f"| {name} | {value} | {value.n} |"
    yield f"\n{latency_line(run)}\n"
    yield from (f"- **{line}**" for line in run.failed)
    yield from (f"- {line}" for line in comparison_lines(compared))
