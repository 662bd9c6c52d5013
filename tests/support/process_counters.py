"""The counters of this process, as a scrape would show them."""

from __future__ import annotations

from helix.telemetry.metrics import Metrics


def retries(service: str) -> float:
    """Requests to ``service`` that were tried again so far."""
    labels = {"service": service}
    return Metrics().registry.get_sample_value("helix_upstream_retries_total", labels) or 0.0


def rerank_failures() -> float:
    """Rerankings that failed so far."""
    return Metrics().registry.get_sample_value("helix_rerank_failures_total") or 0.0
