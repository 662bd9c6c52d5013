"""Counters of the whole process, for events that happen far from an application's metrics."""

from __future__ import annotations

from prometheus_client import Counter

RETRIES = Counter(
    "helix_upstream_retries", "Requests to a model's service tried again", ["service"],
    registry=None,
)  # fmt: skip
RERANK_FAILURES = Counter(
    "helix_rerank_failures", "Rerankings that failed; the hits stay", registry=None
)
for _service in ("gemini", "vendor"):
    RETRIES.labels(_service)  # a series of 0 until the first retry
