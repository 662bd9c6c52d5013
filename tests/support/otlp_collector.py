"""A collector of traces on loopback, and what the spans that it got say."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Collector:
    """An OTLP collector over HTTP on loopback; ``bodies`` are what came in, as it came."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # http.server's own name
                bodies.append(self.rfile.read(int(self.headers["content-length"])))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Collector:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def spans(self) -> list[Span]:
        """All that came, of scopes and resources alike."""
        sent = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        scopes = [one for all_of in sent for r in all_of.resource_spans for one in r.scope_spans]
        return [found for scope in scopes for found in scope.spans]

    def wait_for(self, trace: str, seconds: float = 60.0) -> None:
        """Wait until the span of a request of the trace, which ends last, has come."""
        end = time.monotonic() + seconds
        while not any(
            one.trace_id.hex() == trace and one.kind == Span.SPAN_KIND_SERVER for one in self.spans
        ):
            assert time.monotonic() < end, "the collector did not hear of the request"
            time.sleep(0.02)


def attributes_of(one: Span) -> dict[str, str | int | float | bool]:
    """The attributes of a span by name."""
    found = {}
    for attribute in one.attributes:
        kind = attribute.value.WhichOneof("value")
        found[attribute.key] = getattr(attribute.value, kind or "string_value")
    return found
