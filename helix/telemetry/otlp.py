"""Spans to an OTLP collector over HTTP, LlamaIndex's among them; the extra ``otel`` brings it.

The SDK's own OTEL_… variables configure collector, headers and limits. A thread of the SDK sends
the spans, so a collector that is slow or gone costs no answer, only its spans.
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
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import set_span_in_context

from helix import __version__
from helix.telemetry.tracing import Tracing, current_tracer, set_error

CLOSE_SECONDS = 3.0
"""Longest that a stop waits for the last spans to be sent."""

_MODEL_NAME = re.compile(r"[\w./:@+-]{1,100}")
_logger = logging.getLogger(__name__)


class OtlpTracing(Tracing):
    """Tracing whose spans go to the collector that the environment names.

    Raises:
        ValueError: a variable OTEL_… is malformed.
    """

    def __init__(self) -> None:
        # not the process's global provider: several applications may be in one process
        self._provider = TracerProvider(resource=_resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self.tracer = self._provider.get_tracer("helix", __version__)
        _follow_llama_index()

    async def aclose(self) -> None:
        # a daemon thread: the SDK would hold the process for as long as the collector's timeout
        closing = threading.Thread(target=self._provider.shutdown, daemon=True)
        closing.start()
        await asyncio.to_thread(closing.join, CLOSE_SECONDS)
        if closing.is_alive():
            _logger.warning("the last spans could not be sent within %.0f s", CLOSE_SECONDS)


def _resource() -> Resource:
    """OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES; a service without a name is ``helix``."""
    resource = Resource.create({SERVICE_VERSION: __version__})
    has_name = "OTEL_SERVICE_NAME" in os.environ or SERVICE_NAME in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    return resource if has_name else resource.merge(Resource({SERVICE_NAME: "helix"}))


class _BridgedSpan(BaseSpan):
    """LlamaIndex's span with the OpenTelemetry span that stands for it."""

    bridged: Any


class LlamaIndexSpans(BaseSpanHandler[_BridgedSpan]):
    """LlamaIndex's own spans (embedding, model, engine) as ours: a name and a model, nothing else.

    Arguments and results hold questions and documents: it reads neither. What runs outside of a
    traced request makes no span.
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
        *_: Any,
        **__: Any,
    ) -> _BridgedSpan | None:
        name = id_[:-37]  # Class.method, without a dash and a UUID
        tracer = current_tracer()
        if tracer is None or name.rpartition(".")[2].startswith("_"):  # a part of a public method
            return None
        parent = self.open_spans.get(parent_span_id or "")
        context = set_span_in_context(parent.bridged) if parent else None
        bridged = tracer.start_span(name, context)
        if model := _model_name(instance):
            bridged.set_attribute("gen_ai.request.model", model)
        return _BridgedSpan(id_=id_, parent_id=parent_span_id, bridged=bridged)

    def prepare_to_exit_span(self, id_: str, *_: Any, **__: Any) -> _BridgedSpan | None:
        if span := self.open_spans.get(id_):
            span.bridged.end()
        return span

    def prepare_to_drop_span(
        self, id_: str, *_: Any, err: BaseException | None = None, **__: Any
    ) -> _BridgedSpan | None:
        if err is not None and (span := self.open_spans.get(id_)):
            set_error(span.bridged, err)
        return self.prepare_to_exit_span(id_)


def _model_name(instance: Any) -> str | None:
    for attribute in ("model_name", "model"):
        name = getattr(instance, attribute, None)
        if isinstance(name, str) and _MODEL_NAME.fullmatch(name):
            return name
    return None


def _follow_llama_index() -> None:
    """Add the bridge to LlamaIndex's dispatcher once: the dispatcher is the process's."""
    dispatcher = get_dispatcher()
    if not any(isinstance(handler, LlamaIndexSpans) for handler in dispatcher.span_handlers):
        dispatcher.add_span_handler(LlamaIndexSpans())
