"""Spans over the OpenTelemetry API; they cost next to nothing where nothing is traced.

A request's tracer is in the OpenTelemetry context, not global: one process may run several
applications, each with its own collector. ``span("search")`` is a child of the span around it, and
nothing without a tracer. Spans carry ids, counts, names of models, seconds and outcomes, never
text. The SDK and its exporter are imported where HELIX_TRACING is on: helix.telemetry.otlp.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opentelemetry.context import Context, attach, create_key, detach, get_value, set_value
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    format_trace_id,
    get_current_span,
    set_span_in_context,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Value = str | bool | int | float
Headers = Sequence[tuple[bytes, bytes]]
"""Headers as ASGI has them, names in lower case."""

_TRACER = create_key("helix-tracer")
_REQUEST_SPAN = create_key("helix-request-span")
_PROPAGATOR = TraceContextTextMapPropagator()


class Tracing:
    """The destination of an application's spans: nowhere, without a ``tracer``."""

    tracer: Tracer | None = None

    async def aclose(self) -> None:
        """Send the last spans, within a few seconds; raises nothing."""


class _TraceParent(Getter[Headers]):
    """Reads ``traceparent``, and nothing where it came twice; ``tracestate`` is not passed on."""

    def get(self, carrier: Headers, key: str) -> list[str] | None:
        if key != "traceparent":
            return None
        values = [value.decode("latin-1") for name, value in carrier if name == b"traceparent"]
        return values if len(values) == 1 else None

    def keys(self, carrier: Headers) -> list[str]:
        return ["traceparent"]


_TRACE_PARENT = _TraceParent()


@contextmanager
def request_span(tracer: Tracer | None, name: str, headers: Headers) -> Iterator[Span]:
    """The span of one HTTP request, around all that the request does.

    It is a child of the caller's span where ``headers`` have a valid W3C ``traceparent``. Without
    a ``tracer`` it records nothing, but has a trace id all the same.
    """
    # an empty context: the current one may have a span that is not this caller's
    caller = _PROPAGATOR.extract(headers, Context(), _TRACE_PARENT)
    if tracer is not None:
        span = tracer.start_span(name, caller, SpanKind.SERVER)
        context = set_value(_TRACER, tracer, set_span_in_context(span))
    else:
        span, context = get_current_span(caller), None
        if span is INVALID_SPAN:
            ids = secrets.randbits(128) or 1, secrets.randbits(64) or 1
            span = NonRecordingSpan(SpanContext(*ids, is_remote=False))
    token = attach(set_value(_REQUEST_SPAN, span, context))
    try:
        yield span
    finally:
        detach(token)
        span.end()


def request_trace_id() -> str | None:
    """The trace id of the current request, 32 hex characters; None outside of a request."""
    span = get_value(_REQUEST_SPAN)
    return format_trace_id(span.get_span_context().trace_id) if isinstance(span, Span) else None


def current_tracer() -> Tracer | None:
    """The tracer of the current request; None where nothing is traced."""
    tracer = get_value(_TRACER)
    return tracer if isinstance(tracer, Tracer) else None


def span(name: str, **attributes: Value) -> AbstractContextManager[Span]:
    """A span around the block, the parent of those in it. Not around a ``yield`` of a generator:
    whatever resumes the generator may be another task, in another context.
    """
    tracer = current_tracer()
    return nullcontext(INVALID_SPAN) if tracer is None else _span(tracer, name, attributes, True)


def stream_span(name: str, **attributes: Value) -> AbstractContextManager[Span]:
    """A span around a block with a ``yield`` in it; ``within`` makes it a parent."""
    tracer = current_tracer()
    return nullcontext(INVALID_SPAN) if tracer is None else _span(tracer, name, attributes, False)


def within(span: Span) -> AbstractContextManager[object]:
    """Spans that begin in the block are children of ``span``; no ``yield`` may be in it."""
    if span is INVALID_SPAN:
        return nullcontext()
    return use_span(span, record_exception=False, set_status_on_exception=False)


@contextmanager
def _span(
    tracer: Tracer, name: str, attributes: Mapping[str, Value], is_parent: bool
) -> Iterator[Span]:
    span = tracer.start_span(name)
    _set(span, attributes)
    try:
        with within(span) if is_parent else nullcontext():
            yield span
    except BaseException as error:
        set_error(span, error)
        raise
    finally:
        span.end()


def set_error(span: Span, error: BaseException) -> None:
    """Mark ``span`` as failed, by the class of ``error`` alone: its message may hold text."""
    span.set_attribute("error.type", type(error).__name__)
    span.set_status(Status(StatusCode.ERROR))


def set_attributes(**attributes: Value | None) -> None:
    """Add attributes ``helix.…`` to the current span; those that are None are left out."""
    if current_tracer() is not None:
        _set(get_current_span(), attributes)


def set_span_attributes(span: Span, **attributes: Value | None) -> None:
    """``set_attributes`` of ``span``."""
    _set(span, attributes)


def set_request_attributes(**attributes: Value | None) -> None:
    """``set_attributes`` of the current request's span."""
    span = get_value(_REQUEST_SPAN)
    if isinstance(span, Span):
        _set(span, attributes)


def _set(span: Span, attributes: Mapping[str, Value | None]) -> None:
    if span.is_recording():  # it may have ended: a receipt may be stored after the response
        for name, value in attributes.items():
            if value is not None:
                span.set_attribute(f"helix.{name}", value)
