"""The report as JSON, where the last one is kept, and what became of the cases of a baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.case_metrics import case_metrics, latency, mean_metrics
from evals.cases import CaseError
from evals.metrics.statistics import Agreement, Estimate
from evals.runner import Outcome
from helix.settings import Settings

VERSION = 1
"""Of the shape; a reader leaves what has another one alone."""
BASELINE = Path(__file__).parent.parent / "baseline.json"

Json = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """All that is reported of one run. ``judges`` has the one that decides first."""

    suite: str
    tags: Sequence[str]
    judges: Sequence[str]
    settings: Mapping[str, str | float | int]
    seconds: float
    ceiling: float
    outcomes: Sequence[Outcome]
    totals: Mapping[str, Estimate]
    minima: Mapping[str, float]
    failed: Sequence[str]
    agreement: Mapping[str, Agreement] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Cases by id: those that have faults and had none, the other way round, and not in both.

    ``settings`` names what the baseline was made with and this run was not, judges included.
    """

    worse: Sequence[str]
    better: Sequence[str]
    new: Sequence[str]
    missing: Sequence[str]
    settings: Sequence[str]


def reported_settings(
    settings: Settings, embedder: str, model: str
) -> dict[str, str | float | int]:
    """The settings that a figure depends on."""
    return {
        "embedder": embedder, "llm": model, "retrieval": settings.retrieval,
        "top_k": settings.retrieval_top_k, "reranker": settings.reranker, "gate": settings.gate,
    }  # fmt: skip


def to_json(run: Run, compared: Comparison | None = None) -> Json:
    """``run`` as JSON: numbers from 0 to 1 but for distances and seconds."""
    return {
        "version": VERSION,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "suite": run.suite,
        "tags": list(run.tags),
        "judges": list(run.judges),
        "settings": dict(run.settings),
        "seconds": round(run.seconds, 2),
        "ceiling": run.ceiling,
        "totals": [{"name": name, **value.to_json()} for name, value in run.totals.items()],
        "metrics": [
            {"name": name, **value.to_json()} for name, value in mean_metrics(run.outcomes).items()
        ],
        "latency": {name: round(value, 3) for name, value in latency(run.outcomes).items()},
        "minima": dict(run.minima),
        "failed": list(run.failed),
        "agreement": [{"name": name, **asdict(value)} for name, value in run.agreement.items()],
        "comparison": asdict(compared) if compared else None,
        "cases": [_case(outcome) for outcome in run.outcomes],
    }


def _case(outcome: Outcome) -> Json:
    case, distance = outcome.case, outcome.distance
    return {
        "id": case.id,
        "tags": list(case.tags),
        "question": case.question,
        "refusal": case.refusal,
        "refused": outcome.refused,
        "reason": outcome.reason,
        "answer": outcome.answer,
        "cited": list(outcome.cited),
        "faults": outcome.faults,
        "distance": None if distance is None or distance != distance else round(distance, 4),
        "found": {name: round(value, 4) for name, value in outcome.found.items()},
        "keywords": outcome.keywords,
        "metrics": {
            name: None if value is None else round(value, 4)
            for name, value in case_metrics(outcome).items()
        },
        "judgements": {
            name: {
                "faithful": judged.faithful,
                "relevant": judged.relevant,
                "citation_recall": round(judged.citations.recall, 4),
                "citation_precision": round(judged.citations.precision, 4),
                "verdict": judged.verdict.model_dump() if judged.verdict else None,
                "unreadable": judged.unreadable,
            }
            for name, judged in outcome.judgements.items()
        },
        "seconds": round(outcome.seconds, 3),
    }


def baseline_of(report: Json) -> Json:
    """The part of a report that others are compared with: faults by case, and the totals."""
    keys = ("version", "suite", "judges", "settings", "totals")
    faults = {case["id"]: case["faults"] for case in report["cases"]}
    return {name: report[name] for name in keys} | {"faults": faults}


def load_baseline(path: Path) -> Json:
    """A saved baseline.

    Raises:
        CaseError: it is none, or of another version.
    """
    try:
        payload = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        raise CaseError(f"{path.name} cannot be read: save one with --save-baseline") from None
    if (
        not isinstance(payload, dict)
        or payload.get("version") != VERSION
        or "faults" not in payload
    ):
        raise CaseError(f"{path.name} is no baseline: save one with --save-baseline")
    return payload


def compare(run: Run, baseline: Json, *, whole: bool) -> Comparison:
    """The cases that got worse or better; only a ``whole`` run can tell which are gone."""
    before: dict[str, list[str]] = baseline["faults"]
    now = {outcome.case.id: outcome.faults for outcome in run.outcomes}
    baseline_settings = {**baseline["settings"], "judges": baseline["judges"]}
    settings = {**run.settings, "judges": list(run.judges)}
    both = [name for name in now if name in before]
    return Comparison(
        worse=[name for name in both if now[name] and not before[name]],
        better=[name for name in both if before[name] and not now[name]],
        new=[name for name in now if name not in before],
        missing=[name for name in before if name not in now] if whole else [],
        settings=[name for name in settings if settings[name] != baseline_settings.get(name)],
    )


def write_json(path: Path, value: Json) -> None:
    """Put ``value`` into ``path`` as a whole: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
    fresh.replace(path)
