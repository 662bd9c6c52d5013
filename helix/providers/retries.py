"""The one retry policy: which failed attempts are made again, and after how many seconds.

tenacity runs the attempts. Each caller says, by a ``Judge``, which of its errors another attempt
may mend; the policy says how many attempts there are and how long the waits between them.
"""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import tenacity

from helix.errors import problem_of
from helix.telemetry.usage_meter import RETRIES

TRANSIENT_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses that another attempt may mend."""

Judge = Callable[[Exception], float | None]
"""The seconds to wait after a failed attempt, as the other side asks (0 where it does not say), or
None where another attempt mends nothing."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RetryPolicy:
    """The attempts that a request may cost, and the seconds that may go by between them.

    The wait doubles from ``first_wait`` up to ``longest_wait``, of which a random half is left out
    to spread clients. A delay that the other side asks for is the least that is waited; one above
    ``longest_wait`` ends the attempts. All waits of one request together stay within ``budget``.
    ``through_silence``: a request that was not answered in time is made again too, although the
    first may still be running and be paid for.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 30.0
    budget: float = 45.0
    through_silence: bool = False

    def wait(self, attempt: int, asked: float = 0.0, chance: float | None = None) -> float:
        """Seconds to wait after the ``attempt``-th attempt (from 1); ``asked`` as a Judge says.

        ``chance``, 0 to 1, is random unless it is given.
        """
        chance = random.random() if chance is None else chance  # noqa: S311
        backoff: float = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 64))
        return asked + backoff * chance / 2 if asked else backoff * (1 + chance) / 2

    def retrying(self, judge: Judge, service: str) -> tenacity.Retrying:
        """A retryer that calls a function until it succeeds, else raises the last attempt's error.

        ``service`` names the other side in the log and in the count of retries.
        """
        return tenacity.Retrying(**self._rules(judge, service))

    def retrying_async(self, judge: Judge, service: str) -> tenacity.AsyncRetrying:
        """``retrying`` for a coroutine function."""
        return tenacity.AsyncRetrying(**self._rules(judge, service))

    def _rules(self, judge: Judge, service: str) -> dict[str, Any]:
        def asked(error: BaseException | None) -> float:
            delay = judge(error) if isinstance(error, Exception) else None
            return math.inf if delay is None else delay

        def report(state: tenacity.RetryCallState) -> None:
            error = state.outcome.exception() if state.outcome else None
            problem = problem_of(error) if error else ""
            text = "%s, attempt %d failed (%s): trying again in %.1f s"
            _logger.info(text, service, state.attempt_number, problem, state.upcoming_sleep)
            RETRIES.labels(service).inc()

        return {
            "retry": tenacity.retry_if_exception(lambda error: asked(error) <= self.longest_wait),
            "wait": lambda state: self.wait(state.attempt_number, asked(state.outcome.exception())),
            "stop": lambda state: (
                state.attempt_number >= self.attempts
                or state.idle_for + state.upcoming_sleep > self.budget
            ),
            "before_sleep": report,
            "reraise": True,
        }


INTERACTIVE = RetryPolicy()
"""For a question: somebody waits for its answer."""
PATIENT = RetryPolicy(
    attempts=5, first_wait=1.0, longest_wait=30.0, budget=180.0, through_silence=True
)
"""For ingestion: four waits of the 30 seconds that Google may ask for fit in, jitter included."""


def retry_after_seconds(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which is a number of seconds or a date; None if neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())
