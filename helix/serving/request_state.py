"""The state that every request of a server finds, besides what it brings there itself."""

from __future__ import annotations

from typing import TypedDict

from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.serving.admission import Admission
from helix.serving.early_refusal import EarlyRefusal
from helix.serving.health_watch import HealthWatch
from helix.serving.limits import Limits


class RequestState(TypedDict):
    """The state that an application's lifespan gives to its requests."""

    services: Services
    admission: Admission
    early_refusal: EarlyRefusal
    recorder: AccessRecorder
    limits: Limits
    health: HealthWatch


def request_state(services: Services) -> RequestState:
    """The state of a server of ``services``, for one event loop.

    The tokens of its answers are counted from now on; its access records are not written before
    ``recorder.writing``.
    """
    settings = services.settings
    recorder = AccessRecorder(settings.audit_days > 0, services.metrics.audit_dropped.inc)
    limits = Limits(settings, services.store, recorder)
    services.answering.observers.append(limits.answered)
    admission = Admission(settings.answers, settings.answers_waiting)
    return RequestState(
        services=services,
        admission=admission,
        early_refusal=EarlyRefusal(
            admission, keyed=settings.auth == "keys", on_refused=services.metrics.request
        ),
        recorder=recorder,
        limits=limits,
        health=HealthWatch(services.store),
    )
