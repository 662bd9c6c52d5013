"""The metrics of several processes: counts never go back, gauges are of those that live."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from helix.telemetry.shared_metrics import FOLDER
from tests.support.repository import ROOT

_PROCESSES = """
import os
from helix.library.run_counts import RunCounts
from helix.telemetry.metrics import Metrics
from helix.telemetry.shared_metrics import FOLDER, process_ended

class Rewriter:
    calls, failures = 3, 1

metrics = Metrics()
nowhere = RunCounts("postgresql://nobody@127.0.0.1:1/none")
metrics.watch(nowhere, lambda: {"read": {"pool_size": 4}}, Rewriter)

def told(requests):
    for _ in range(requests):
        metrics.request("GET", "/ask", 200, 0.01)
    return metrics.exposition()[0].decode()

child = os.fork()
if not child:
    told(5)
    os._exit(0)
os.waitpid(child, 0)
print(told(2), "----", sep="")
process_ended(os.environ[FOLDER], child)
print(told(1))
"""


def _figures(told: str) -> dict[str, float]:
    lines = [line.rsplit(" ", 1) for line in told.splitlines() if line and line[0] != "#"]
    return {name: float(value) for name, value in lines}


def test_what_processes_counted_is_added_up_and_stays(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", _PROCESSES],
        env={**os.environ, "PYTHONPATH": str(ROOT), FOLDER: str(tmp_path)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    both, later = map(_figures, told.split("----"))
    asked = 'helix_http_requests_total{method="GET",route="/ask",status="200"}'
    connections = 'helix_database_connections{pool="read"}'
    assert (both[asked], both[connections], both["helix_rewrites_total"]) == (7, 8, 6)
    assert (later[asked], later[connections], later["helix_rewrites_total"]) == (8, 4, 6)
    assert later["helix_database_up"] == 0  # the server's own figures are told once
