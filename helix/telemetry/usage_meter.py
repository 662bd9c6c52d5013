"""The meter of one request: what it uses is counted where that happens, for whoever asked.

Calls of models are told by ``count_call``, questions by their outcome. It holds no text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime

import prometheus_client

COUNTS = (
    "questions", "refusals", "votes_up", "votes_down", "calls", "unpriced", "input_tokens",
    "output_tokens", "cached_tokens", "thought_tokens", "nano_usd",
)  # fmt: skip
"""The counts of a row of usage. ``cached_tokens`` are among ``input_tokens``; ``unpriced`` are the
``calls`` whose cost is not known; ``nano_usd`` is the cost of the others, 1e-9 US dollars each."""
NANO = 10**9
RETRIES = prometheus_client.Counter(
    "helix_upstream_retries", "Requests to a model's service tried again", ["service"],
    registry=None,
)  # fmt: skip
RERANK_FAILURES = prometheus_client.Counter(
    "helix_rerank_failures", "Rerankings that failed; the hits stay", registry=None
)
MODEL_CALLS = prometheus_client.Counter(
    "helix_model_calls", "Calls of language models that ended, by the model that answered",
    ["model"], registry=None,
)  # fmt: skip
MODEL_TOKENS = prometheus_client.Counter(
    "helix_model_tokens", "Tokens of those calls, as the model's service counts them",
    ["model", "kind"], registry=None,
)  # fmt: skip
MODEL_COST = prometheus_client.Counter(
    "helix_model_cost_usd", "US dollars of those calls, where the prices are known", ["model"],
    registry=None,
)  # fmt: skip
_MOST_MODELS = 50
"""Models that have series of their own: a service may name what it likes."""
_models: set[str] = set()
USAGE_LIMITED = prometheus_client.Counter(
    "helix_usage_limited", "Questions refused because a limit of usage was reached",
    ["measure", "period"], registry=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Payer:
    """The payer of what is used in a tenant: a person, a key, or a person by a key of theirs."""

    tenant: str
    person_id: int | None
    key_id: int | None


@dataclass(frozen=True, slots=True)
class UsageKey:
    """A row of usage: whose, on which day (UTC), in which space, by which model.

    ``space`` is None where the question was about all that may be read; ``model`` is empty where
    none is known: of a question that is being answered.
    """

    payer: Payer
    day: date
    space: int | None
    model: str


Add = Callable[[UsageKey, Counter[str]], None]


def today() -> date:
    """The day that is counted by."""
    return datetime.now(UTC).date()


class UsageMeter:
    """Counts for ``payer`` by calling ``add``, which costs no I/O.

    ``space`` is the one that the request names. What a question takes is counted on the day on
    which it began, whenever its answer ends.
    """

    def __init__(self, payer: Payer, add: Add, space: int | None = None) -> None:
        self.payer = payer
        self._add = add
        self._space, self._model = space, ""
        self._is_version: Callable[[str], bool] = lambda _: False
        self._day: date | None = None
        self._reserved = 0

    def about(self, space: int | None, model: str, is_version: Callable[[str], bool]) -> None:
        """Count what follows for a question about ``space`` that is put to ``model``.

        ``is_version`` tells of a name that a service has for a model whether it is that one.
        """
        self._space, self._model, self._is_version = space, model, is_version
        self._day = self._day or today()

    def reserve(self, day: date) -> None:
        """Note that a question of ``day`` was counted already, of no model."""
        self._day = day
        self._reserved += 1

    def release(self) -> None:
        """Take back a reserved question that was never asked; nothing where it was."""
        if self._reserved:
            self._settle()

    def question(self) -> None:
        """Count a question to which an answer was begun."""
        if self._reserved:
            self._settle()
        self._count(self._model, questions=1)

    def refused(self) -> None:
        """Count the answer to a counted question as a refusal."""
        self._count(self._model, refusals=1)

    def call(self, model: str, tokens: Mapping[str, int | None], cost: float | None) -> None:
        """Count a call that ``model`` answered; ``tokens`` are named as the fields of Usage."""
        name = model.rpartition("/")[2]
        counts = {kind: count for kind, count in tokens.items() if count}
        counts |= {"unpriced": 1} if cost is None else {"nano_usd": round(cost * NANO)}
        self._count(self._model if self._is_version(name) else name, calls=1, **counts)

    def vote(self, rating: str, space: int | None, model: str) -> None:
        """Count a vote, ``up`` or ``down``, on an answer that ``model`` gave about ``space``."""
        key = UsageKey(self.payer, today(), space, model)
        self._add(key, Counter({f"votes_{rating}": 1}))

    def _settle(self) -> None:
        self._reserved -= 1
        self._add(UsageKey(self.payer, self._day or today(), None, ""), Counter(questions=-1))

    def _count(self, model: str, **counts: int) -> None:
        key = UsageKey(self.payer, self._day or today(), self._space, model)
        self._add(key, Counter(counts))


_meter: ContextVar[UsageMeter | None] = ContextVar("usage_meter", default=None)


def use_meter(meter: UsageMeter | None) -> None:
    """Count what happens in this context with ``meter``; None: for nobody."""
    _meter.set(meter)


def current_meter() -> UsageMeter | None:
    """The meter of this context; None where nobody is counted for."""
    return _meter.get()


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
