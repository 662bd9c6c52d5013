"""The dashboard and the alert rules name metrics, and labels' values, that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
import yaml

from helix.telemetry.metrics import Metrics, Outcome
from tests.support.repository import ROOT

DASHBOARD = ROOT / "deploy/grafana/helix.json"
ALERTS = ROOT / "deploy/prometheus/alerts.yml"
_NAME = re.compile(r"\bhelix_[a-z_]+")


def _panels() -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    return panels


def _rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _expressions() -> Iterator[str]:
    yield from (target["expr"] for panel in _panels() for target in panel["targets"])
    yield from (rule["expr"] for rule in _rules())
    yield from (each["query"] for each in json.loads(DASHBOARD.read_text())["templating"]["list"])


@pytest.fixture(scope="module")
def exposed() -> set[str]:
    """The names of all series that a server exposes, or says that it would."""
    documented = set(_NAME.findall((ROOT / "docs/observability.md").read_text()))
    metrics = Metrics()
    kinds = {
        line.split()[2]: line.split()[3]
        for line in metrics.exposition()[0].decode().splitlines()
        if line.startswith("# TYPE")
    }
    parts = {
        name + suffix
        for name, kind in kinds.items()
        if kind == "histogram"
        for suffix in ("_bucket", "_sum", "_count")
    }
    short = {"helix_database_connections_idle", "helix_database_connections_limit"}
    return documented | set(kinds) | parts | short


def test_every_metric_that_is_drawn_or_alerted_on_is_there(exposed: set[str]) -> None:
    named = {name for expression in _expressions() for name in _NAME.findall(expression)}
    assert len(named) > 15
    assert named <= exposed


def test_outcomes_are_those_that_there_are() -> None:
    matched = [
        set(found.split("|"))
        for expression in _expressions()
        for found in re.findall(r'outcome=~?"([^"]+)"', expression)
    ]
    assert matched and all(each <= set(get_args(Outcome)) for each in matched)


def test_panels_and_rules_are_whole() -> None:
    panels, rules = _panels(), _rules()
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({tuple(sorted(panel["gridPos"].items())) for panel in panels}) == len(panels)
    operations = (ROOT / "docs/operations.md").read_text()
    for rule in rules:
        assert rule["labels"]["severity"] in ("page", "ticket") and rule["annotations"]["summary"]
        assert f"`{rule['alert']}`" in operations, "what to do about it"
    for expression in _expressions():
        assert expression.count("(") == expression.count(")")
