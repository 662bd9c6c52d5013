"""Counters of the whole process, for events that happen far from an application's metrics."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import Counter

from helix.telemetry.usage_meter import current_meter

RETRIES = Counter(
    "helix_upstream_retries", "Requests to a model's service tried again", ["service"],
    registry=None,
)  # fmt: skip
RERANK_FAILURES = Counter(
    "helix_rerank_failures", "Rerankings that failed; the hits stay", registry=None
)
MODEL_CALLS = Counter(
    "helix_model_calls", "Calls of language models that ended, by the model that answered",
    ["model"], registry=None,
)  # fmt: skip
MODEL_TOKENS = Counter(
    "helix_model_tokens", "Tokens of those calls, as the model's service counts them",
    ["model", "kind"], registry=None,
)  # fmt: skip
MODEL_COST = Counter(
    "helix_model_cost_usd", "US dollars of those calls, where the prices are known", ["model"],
    registry=None,
)  # fmt: skip
_MOST_MODELS = 50
"""Models that have series of their own: a service may name what it likes."""
_models: set[str] = set()
USAGE_LIMITED = Counter(
    "helix_usage_limited", "Questions refused because a limit of usage was reached",
    ["measure", "period"], registry=None,
)  # fmt: skip
for _service in ("gemini", "vendor"):
    RETRIES.labels(_service)  # a series of 0 until the first retry


def count_call(model: str, tokens: Mapping[str, int | None], cost: float | None = None) -> None:
    """Count a call that ``model`` answered; ``tokens`` are named as the fields of Usage.

    It is counted for whoever asked in this context, too.
    """
    if meter := current_meter():
        meter.call(model, tokens, cost)
    if model not in _models and len(_models) >= _MOST_MODELS:
        model = "other"
    _models.add(model)
    MODEL_CALLS.labels(model).inc()
    for name, count in tokens.items():
        if count:
            MODEL_TOKENS.labels(model, name.removesuffix("_tokens")).inc(count)
    if cost:
        MODEL_COST.labels(model).inc(cost)
