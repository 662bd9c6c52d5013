"""The tracing that HELIX_TRACING names; OpenTelemetry's SDK is imported only where it is on."""

from __future__ import annotations

from typing import Literal

from helix.errors import SettingsError
from helix.telemetry.tracing import Tracing


def build_tracing(exporter: Literal["off", "otlp"]) -> Tracing:
    """The tracing of an ``exporter``, as HELIX_TRACING names it.

    Raises:
        SettingsError: the extra is not installed, or a variable OTEL_… is malformed.
    """
    if exporter == "off":
        return Tracing()
    try:
        from helix.telemetry.otlp import OtlpTracing
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
