"""Spans to an OTLP collector over HTTP, LlamaIndex's among them; the extra ``otel`` brings it.

Collector, headers and limits are the SDK's own: the standard OTEL_… variables. Spans are sent by a
thread of their own, so a collector that is slow or gone costs no answer, only its spans.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import re
import threading
from typing import Any

from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.span import BaseSpan
from llama_index.core.instrumentation.span_handlers import BaseSpanHandler
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    format_trace_id,
    set_span_in_context,
)
from opentelemetry.trace import Span as OpenTelemetrySpan

from helix import __version__
from helix.telemetry.traceparent import Parent
from helix.telemetry.tracing import Span, Value, current_span

CLOSE_SECONDS = 3.0
"""Longest that a stop waits for the last spans to be sent."""

_MODEL_NAME = re.compile(r"[\w./:@+-]{1,100}")
_logger = logging.getLogger(__name__)


class OtelSpan:
    """A Span over OpenTelemetry's."""

    def __init__(self, tracer: Tracer, span: OpenTelemetrySpan) -> None:
        self._tracer = tracer
        self._span = span
        self._ended = False
        self.trace_id = format_trace_id(span.get_span_context().trace_id)

    def child(self, name: str) -> OtelSpan:
        above = set_span_in_context(self._span)
        return OtelSpan(self._tracer, self._tracer.start_span(name, context=above))

    def set(self, name: str, value: Value) -> None:
        if not self._ended:  # a receipt may be written when the response has ended
            self._span.set_attribute(name, value)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def end(self, error: BaseException | None = None) -> None:
        if self._ended:
            return
        self._ended = True
        if error is not None:
            # not record_exception: it sends the message and the traceback, which may hold text
            self._span.set_attribute("error.type", type(error).__name__)
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


class OtlpTracing:
    """Tracing whose spans go to a collector.

    Args:
        exporter: stands in for the one that the environment configures.

    Raises:
        ValueError: a variable OTEL_… is malformed.
    """

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        # no provider of the process's: several applications may be in one, each with its own
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("helix", __version__)
        follow_llama_index()

    def request(self, name: str, trace_parent: Parent | None) -> OtelSpan:
        """The span of a request, whose caller's is ``trace_parent``."""
        # an empty context, not None: that would be whatever is current
        context = set_span_in_context(NonRecordingSpan(_context(trace_parent)))
        span = self._tracer.start_span(name, context=context, kind=SpanKind.SERVER)
        return OtelSpan(self._tracer, span)

    async def aclose(self) -> None:
        """Send what is left, for at most CLOSE_SECONDS: a collector may be gone."""
        # a daemon: the SDK would hold the process for as long as the collector's timeout
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, CLOSE_SECONDS)
        if closing.is_alive():
            _logger.warning("the last spans could not be sent within %.0f s", CLOSE_SECONDS)


def _context(parent: Parent | None) -> SpanContext:
    if parent is None:
        return SpanContext(0, 0, is_remote=False)
    flags = TraceFlags(TraceFlags.SAMPLED if parent.sampled else TraceFlags.DEFAULT)
    return SpanContext(int(parent.trace_id, 16), int(parent.span_id, 16), True, flags)


def _resource() -> Resource:
    """Of OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES; a service without a name is helix."""
    found = Resource.create({SERVICE_VERSION: __version__})
    named = "OTEL_SERVICE_NAME" in os.environ or SERVICE_NAME in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return found if named else found.merge(Resource({SERVICE_NAME: "helix"}))


class _LlamaIndexSpan(BaseSpan):
    """LlamaIndex's span, and ours that goes with it."""

    ours: Any


class LlamaIndexSpans(BaseSpanHandler[_LlamaIndexSpan]):
    """LlamaIndex's own spans (embedding, model, engine) as ours: a name and a model, nothing else.

    Arguments and results, which it is given too, hold questions and documents: it looks at neither.
    What runs outside of a traced request is not told.
    """

    @classmethod
    def class_name(cls) -> str:
        return "LlamaIndexSpans"

    def new_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_span_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> _LlamaIndexSpan | None:
        name = id_[:-37]  # Class.method, without a dash and a UUID
        if name.rpartition(".")[2].startswith("_"):
            return None  # what a public method is made of
        parent = self.open_spans.get(parent_span_id or "")
        above: Span | None = parent.ours if parent else current_span()
        if above is None:
            return None
        ours = above.child(name)
        if model := _model_name(instance):
            ours.set("gen_ai.request.model", model)
        return _LlamaIndexSpan(id_=id_, parent_id=parent_span_id, ours=ours)

    def prepare_to_exit_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> _LlamaIndexSpan | None:
        return self._ended(id_, None)

    def prepare_to_drop_span(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> _LlamaIndexSpan | None:
        return self._ended(id_, err)

    def _ended(self, id_: str, error: BaseException | None) -> _LlamaIndexSpan | None:
        span = self.open_spans.get(id_)
        if span:
            span.ours.end(error)
        return span


def _model_name(instance: Any) -> str | None:
    for attribute in ("model_name", "model"):
        name = getattr(instance, attribute, None)
        if isinstance(name, str) and _MODEL_NAME.fullmatch(name):
            return name
    return None


def follow_llama_index() -> None:
    """Have LlamaIndex tell of its spans, once a process: its dispatcher is the process's."""
    dispatcher = get_dispatcher()
    if not any(isinstance(known, LlamaIndexSpans) for known in dispatcher.span_handlers):
        dispatcher.add_span_handler(LlamaIndexSpans())
