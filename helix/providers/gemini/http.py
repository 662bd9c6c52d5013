"""The one HTTP client under Gemini: its timeouts and its retries.

The retries sit in ``send`` of two httpx clients and not in a transport, because a client that
is given a transport ignores the environment's proxies.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast
from weakref import WeakKeyDictionary

import google.genai
import httpx
from google.genai.errors import APIError
from google.genai.types import HttpOptionsDict

from helix.errors import SettingsError
from helix.providers.base import collect
from helix.providers.gemini.errors import Failure, Target, client_failure, status_failure
from helix.providers.retries import RetryPolicy, retry_after_seconds
from helix.settings import HOW, Settings

CONNECT_SECONDS = 5.0
"""Longest wait for a connection; a host that answers at all does so in well under a second."""


def _restore_timeouts(request: httpx.Request, timeout: httpx.Timeout) -> None:
    """Put our timeouts back, and take out the deadline the SDK makes of its own.

    The SDK sends one number for all four timeouts, and asks Google in ``X-Server-Timeout`` to
    end a stream after that many seconds in all, though it never fell silent.
    """
    request.extensions["timeout"] = timeout.as_dict()
    request.headers.pop("x-server-timeout", None)


@dataclass(frozen=True)
class _Judge:
    """The judge of one client's failures: which of them another attempt may mend."""

    target: Target
    policy: RetryPolicy

    def __call__(self, error: Exception) -> float | None:
        if not isinstance(error, Failure):
            return None
        again = error.retry or (error.silent and self.policy.through_silence)
        return (error.delay or 0.0) if again else None

    def failure(self, response: httpx.Response) -> Failure:
        try:
            payload = response.json()
        except ValueError:
            payload = None
        asked = retry_after_seconds(response.headers.get("retry-after"))
        return status_failure(
            response.status_code, payload, self.target,
            retry_after=asked, longest_wait=self.policy.longest_wait,
        )  # fmt: skip


class AsyncGeminiHttp(httpx.AsyncClient):
    """An httpx client that retries by the policy; a final failure is an UpstreamError.

    A connection belongs to the event loop that opened it, and blocking code runs in a loop beside
    the application's (helix.storage.write_pool): each loop has a client of its own.
    """

    def __init__(self, target: Target, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._judge, self._policy, self._options = _Judge(target, policy), policy, options
        self._loop: asyncio.AbstractEventLoop | None = None
        self._others: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]
        self._others = WeakKeyDictionary()

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _restore_timeouts(request, self.timeout)
        retrying = self._policy.retrying_async(self._judge, "gemini")
        try:
            return await retrying(self._attempt, request, options)
        except Failure as failure:
            raise failure.error(retrying.statistics["attempt_number"]) from None

    async def _attempt(self, request: httpx.Request, options: dict[str, Any]) -> httpx.Response:
        try:
            response = await self._send_in_loop(request, options)
            if response.is_success:
                collect(response)
                return response
            await response.aread()
        except httpx.HTTPError as error:
            raise client_failure(error, self._judge.target) from None
        raise self._judge.failure(response)

    async def _send_in_loop(
        self, request: httpx.Request, options: dict[str, Any]
    ) -> httpx.Response:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if loop is self._loop:
            return await super().send(request, **options)
        if loop not in self._others:
            self._others[loop] = httpx.AsyncClient(**self._options)
        return await self._others[loop].send(request, **options)


class GeminiHttp(httpx.Client):
    """AsyncGeminiHttp for synchronous callers."""

    def __init__(self, target: Target, policy: RetryPolicy, **options: Any) -> None:
        super().__init__(**options)
        self._judge, self._policy = _Judge(target, policy), policy

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        _restore_timeouts(request, self.timeout)
        retrying = self._policy.retrying(self._judge, "gemini")
        try:
            return retrying(self._attempt, request, options)
        except Failure as failure:
            raise failure.error(retrying.statistics["attempt_number"]) from None

    def _attempt(self, request: httpx.Request, options: dict[str, Any]) -> httpx.Response:
        try:
            response = super().send(request, **options)
            if response.is_success:
                collect(response)
                return response
            response.read()
        except httpx.HTTPError as error:
            raise client_failure(error, self._judge.target) from None
        raise self._judge.failure(response)


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


@contextmanager
def upstream_errors(target: Target) -> Iterator[None]:
    """Turn what the SDK or httpx raises into UpstreamError, with no cause that a log would print.

    The SDK's errors carry the response body, which may echo the prompt; httpx's the request,
    whose headers hold the key.
    """
    try:
        yield
    except (APIError, httpx.HTTPError, ValueError) as error:
        raise client_failure(error, target).error() from None
