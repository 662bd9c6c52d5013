"""The one HTTP client under Gemini: its timeouts, and retries by the policy of gemini_faults.

The retries sit in ``send`` of two httpx clients and not in a transport, because a client that
is given a transport ignores the environment's proxies.
"""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import google.genai
import httpx
from google.genai.types import HttpOptionsDict

from helix.errors import SettingsError
from helix.providers.gemini_faults import (
    Fault,
    RetryPolicy,
    Target,
    failure,
    retry_after,
    status_fault,
)
from helix.settings import HOW, Settings
from helix.telemetry.retries import retried

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
"""Longest wait for a connection; a host that answers at all does so in well under a second."""

_opened: ContextVar[list[httpx.Response] | None] = ContextVar("opened", default=None)


@contextmanager
def noting_responses(into: list[httpx.Response]) -> Iterator[None]:
    """Append each streamed response that begins in this context to ``into``.

    The SDK's stream holds its response in a reference cycle, so dropping the stream leaves the
    socket open until garbage collection: whoever reads a stream closes what is noted here.
    """
    token = _opened.set(into)
    try:
        yield
    finally:
        _opened.reset(token)


@dataclass
class _Attempts:
    """The attempts of one request: counts them, and says how long to wait for the next."""

    target: Target
    policy: RetryPolicy
    count: int = 1
    waited: float = 0.0

    def judge(self, response: httpx.Response) -> Fault:
        try:
            payload = response.json()
        except ValueError:
            payload = None
        return status_fault(
            response.status_code,
            payload,
            self.target,
            retry_after=retry_after(response.headers.get("retry-after")),
            longest_wait=self.policy.longest_wait,
        )

    def wait(self, fault: Fault) -> float:
        """Seconds to the next attempt; raises the fault's error where there is to be none."""
        wait = self.policy.wait(fault, self.count, self.waited, random.random())  # noqa: S311
        if wait is None:
            raise fault.error(self.count)
        log.info("%s, attempt %d: trying again in %.1f s", fault.problem, self.count, wait)
        retried("gemini")
        self.count += 1
        self.waited += wait
        return wait


def _ready(request: httpx.Request, timeout: httpx.Timeout) -> None:
    """Put our timeouts back, and take out the deadline the SDK makes of its own.

    The SDK sends one number for all four timeouts, and asks Google in ``X-Server-Timeout`` to
    end a stream after that many seconds in all, though it never fell silent.
    """
    request.extensions["timeout"] = timeout.as_dict()
    request.headers.pop("x-server-timeout", None)


def _begun(response: httpx.Response) -> httpx.Response:
    opened = _opened.get()
    if opened is not None and not response.is_closed:
        opened.append(response)
    return response


class AsyncGeminiHttp(httpx.AsyncClient):
    """An httpx client that retries by the policy; a final failure is an UpstreamError."""

    def __init__(self, target: Target, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._target, self._policy = target, policy

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _ready(request, self.timeout)
        attempts = _Attempts(self._target, self._policy)
        while True:
            try:
                response = await super().send(request, **options)
                if response.is_success:
                    return _begun(response)
                await response.aread()
                fault = attempts.judge(response)
            except httpx.HTTPError as error:
                fault = failure(error, self._target)
            await asyncio.sleep(attempts.wait(fault))


class GeminiHttp(httpx.Client):
    """AsyncGeminiHttp for synchronous callers."""

    def __init__(self, target: Target, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._target, self._policy = target, policy

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _ready(request, self.timeout)
        attempts = _Attempts(self._target, self._policy)
        while True:
            try:
                response = super().send(request, **options)
                if response.is_success:
                    return _begun(response)
                response.read()
                fault = attempts.judge(response)
            except httpx.HTTPError as error:
                fault = failure(error, self._target)
            time.sleep(attempts.wait(fault))


@dataclass(frozen=True)
class GeminiConnection:
    """The SDK's client over our two HTTP clients, and how to close those."""

    sdk: google.genai.Client
    target: Target
    aclose: Callable[[], Awaitable[None]]


def connect(settings: Settings, target: Target, policy: RetryPolicy) -> GeminiConnection:
    """Build the SDK's client; opens no connection.

    The address is what the SDK resolves (``GOOGLE_GEMINI_BASE_URL``, or Vertex AI where
    ``GOOGLE_GENAI_USE_VERTEXAI`` asks for it); the key is ours, over ``GOOGLE_API_KEY``.

    Raises:
        SettingsError: no key, or one that no HTTP header can carry.
    """
    key = settings.gemini_api_key.get_secret_value().strip() if settings.gemini_api_key else ""
    if not key or not re.fullmatch(r"[!-~]+", key):
        problem = "has characters that no key has" if key else "is not set"
        raise SettingsError(f"GEMINI_API_KEY {problem}: {HOW['GEMINI_API_KEY']}")
    tls = httpx.create_ssl_context()  # one for all: each costs some 30 ms to make
    options: dict[str, Any] = {
        "verify": tls,
        "timeout": httpx.Timeout(
            settings.model_timeout, connect=min(CONNECT_SECONDS, settings.model_timeout)
        ),
        # No cap of the client's own: a request that waits for a place in a pool of 100 looks
        # like a silent Gemini. Idle connections outlive httpx's 5 s to spare TLS handshakes.
        "limits": httpx.Limits(
            max_connections=None, max_keepalive_connections=100, keepalive_expiry=60
        ),
    }
    waiting = AsyncGeminiHttp(target, policy, **options)
    blocking = GeminiHttp(target, policy, **options)
    http_options = {
        "timeout": round(settings.model_timeout * 1000),
        "httpx_async_client": waiting,
        "httpx_client": blocking,
        "client_args": {"verify": tls},
        "async_client_args": {"verify": tls, "ssl": tls},
    }

    async def aclose() -> None:
        await waiting.aclose()
        blocking.close()

    sdk = google.genai.Client(api_key=key, http_options=cast(HttpOptionsDict, http_options))
    return GeminiConnection(sdk, target, aclose)
