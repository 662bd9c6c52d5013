"""Spans as the rest of Helix uses them; they cost next to nothing where nobody traces.

``span("search")`` is a child of the span around it, of one request's where a server serves one.
What is told of a span are ids, counts, names of models, seconds and outcomes, never text. This
module needs no OpenTelemetry: helix.telemetry.otel does, and is imported where HELIX_TRACING is on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol, Self

from helix.errors import SettingsError
from helix.settings import Settings
from helix.telemetry.traceparent import Parent

Value = str | bool | int | float


class Span(Protocol):
    """One that is under way. ``trace_id`` is 32 hex characters; ``end`` counts once."""

    trace_id: str

    def child(self, name: str) -> Span: ...

    def set(self, name: str, value: Value) -> None: ...

    def rename(self, name: str) -> None: ...

    def end(self, error: BaseException | None = None) -> None:
        """Of ``error`` the class is told, and nothing that it says."""
        ...


class Tracing(Protocol):
    """Where spans go. ``request`` begins the span of one HTTP request."""

    def request(self, name: str, trace_parent: Parent | None) -> Span: ...

    async def aclose(self) -> None:
        """Send what was not sent yet, within a few seconds; raises nothing."""
        ...


_current: ContextVar[Span | None] = ContextVar("helix_span", default=None)
_request: ContextVar[Span | None] = ContextVar("helix_request_span", default=None)


def build_tracing(settings: Settings) -> Tracing | None:
    """What HELIX_TRACING names; None for ``off``.

    Raises:
        SettingsError: the extra is not installed, or a variable OTEL_… is malformed.
    """
    if settings.tracing == "off":
        return None
    try:
        from helix.telemetry.otel import OtlpTracing
    except ImportError:
        raise SettingsError(
            "HELIX_TRACING is otlp, which is not installed: pip install 'helix-answers[otel]'"
        ) from None
    try:
        return OtlpTracing()
    except ValueError:
        raise SettingsError(
            "HELIX_TRACING is otlp, but a variable OTEL_… is malformed: see docs/observability.md"
        ) from None


@asynccontextmanager
async def closed_after(tracing: Tracing | None) -> AsyncIterator[None]:
    """Close ``tracing`` after the block, whatever became of it."""
    try:
        yield
    finally:
        if tracing:
            await tracing.aclose()


def current_span() -> Span | None:
    """The innermost span of this task; None where nothing is traced."""
    return _current.get()


@contextmanager
def within(span: Span | None) -> Iterator[None]:
    """Spans that begin in the block are children of ``span``.

    Not around a ``yield`` of a generator: what resumes it may be another task.
    """
    token = _current.set(span)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def request_span(span: Span) -> Iterator[None]:
    """``span`` is that of a request: ``note`` tells of it, and all others are below it."""
    token = _request.set(span)
    try:
        with within(span):
            yield
    finally:
        _request.reset(token)


def span(name: str, **told: Value) -> AbstractContextManager[None]:
    """A span for the block: a child of the current one; nothing where nothing is traced."""
    above = _current.get()
    return nullcontext() if above is None else _block(above.child(name), told)


@contextmanager
def _block(begun: Span, told: dict[str, Value]) -> Iterator[None]:
    _set(begun, told)
    try:
        with within(begun):
            yield
    except BaseException as error:
        begun.end(error)
        raise
    begun.end()


class LongSpan:
    """A span of what several tasks do in turn, such as a stream: it may be open across a ``yield``.

    It begins at once, as a child of the current one, and ends with its block. What is to be below
    it goes into a block of ``within``, which no ``yield`` may be in.
    """

    def __init__(self, name: str, **told: Value) -> None:
        above = _current.get()
        self._span = None if above is None else above.child(name)
        _set(self._span, told)

    def within(self) -> AbstractContextManager[None]:
        """Spans that begin in the block are its children."""
        return within(self._span) if self._span else nullcontext()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._span:
            self._span.end(error)


def tell(**told: Value | None) -> None:
    """Add to the current span what is known; what is None is left out."""
    _set(_current.get(), told)


def note(**told: Value | None) -> None:
    """Add to the request's span what is known; what is None is left out."""
    _set(_request.get(), told)


def _set(one: Span | None, told: dict[str, Value] | dict[str, Value | None]) -> None:
    if one is None:
        return
    for name, value in told.items():
        if value is not None:
            one.set(f"helix.{name}", value)
