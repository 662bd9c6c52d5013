"""The state that every request of a server finds, besides what it brings there itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TypedDict, get_args

from starlette.responses import JSONResponse

from helix.domain.scope import DEFAULT_TENANT
from helix.library.usage import stored_count
from helix.overload.admission import Admission, Overloaded
from helix.overload.entry import EarlyRefusal, Headers, Overload
from helix.overload.limits import COUNTED, Limits, Who
from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.serving.health_watch import HealthWatch
from helix.serving.middleware import request_id_of
from helix.serving.network.origins import HEADERS
from helix.serving.openid import OpenIdProvider
from helix.serving.sign_in_guard import SignInGuard
from helix.settings import Settings


class RequestState(TypedDict):
    """The state that an application's lifespan gives to its requests."""

    services: Services
    overload: Overload
    recorder: AccessRecorder
    sign_ins: SignInGuard
    providers: dict[str, OpenIdProvider]
    health: HealthWatch


def request_state(services: Services) -> RequestState:
    """The state of a server of ``services``, for one event loop.

    The tokens of its answers are counted from now on; its access records are not written before
    ``recorder.writing``.
    """
    recorder = AccessRecorder(services.settings.audit_days > 0, services.metrics.audit_dropped.inc)
    overload = _overload(services, recorder)
    services.answering.observers.append(
        lambda answer: overload.limits.answered(sum(answer.debug["tokens"].values()))
    )
    return RequestState(
        services=services, overload=overload, recorder=recorder, sign_ins=SignInGuard(),
        providers={each.name: OpenIdProvider(each) for each in services.settings.oidc},
        health=HealthWatch(services.store),
    )  # fmt: skip


def _overload(services: Services, recorder: AccessRecorder) -> Overload:
    settings = services.settings
    admission = Admission(settings.answers, settings.answers_waiting)
    return Overload(
        Limits(drawn_limits(settings), recorder.usage, partial(stored_count, services.store)),
        admission,
        EarlyRefusal(
            admission,
            anybody=DEFAULT_TENANT if settings.auth == "off" else None,
            answer=early_answer,
            on_refused=services.metrics.request,
        ),
    )


def drawn_limits(settings: Settings) -> dict[str, list[tuple[Who, str, int]]]:
    """The limits that are set, by name: of whom, the setting, and how many."""

    def drawn(name: str) -> Iterator[tuple[Who, str, int]]:
        for who in get_args(Who):
            setting, most = settings.limit(who, name)
            if most:
                yield who, setting, most

    return {name: list(drawn(name)) for name in COUNTED}


def early_answer(headers: Headers) -> bytes:
    """The answer to a question with ``headers`` that is refused early, as the application has it.

    It is all but the status line and the headers that the server itself adds.
    """
    return _REFUSAL % request_id_of(headers).encode()


def _refusal() -> bytes:
    error = Overloaded()
    told = JSONResponse({"error": error.detail}, headers=error.headers)
    for name, value in HEADERS.items():
        told.headers[name] = value
    lines = b"".join(b"%b: %b\r\n" % field for field in told.raw_headers)
    return b"%bx-request-id: %%b\r\n\r\n%b" % (lines, bytes(told.body))


_REFUSAL = _refusal()
