"""What every request of a server finds in its state, besides what it brings there itself."""

from __future__ import annotations

from typing import TypedDict

from helix.services import Services
from helix.serving.access_books import AccessBooks
from helix.serving.admission import Admission
from helix.serving.limits import Limits
from helix.serving.vitals import Vitals


class RequestState(TypedDict):
    """The state that an application's lifespan gives to its requests."""

    services: Services
    admission: Admission
    books: AccessBooks
    limits: Limits
    vitals: Vitals


def request_state(services: Services) -> RequestState:
    """The state of a server of ``services``, for one event loop.

    The tokens of its answers are counted from now on; its books are not written before
    ``books.kept``.
    """
    settings = services.settings
    books = AccessBooks(settings.audit_days > 0, services.metrics.audit_dropped.inc)
    limits = Limits(settings, services.store, books)
    services.answering.observers.append(limits.answered)
    return RequestState(
        services=services,
        admission=Admission(settings.answers, settings.answers_waiting),
        books=books,
        limits=limits,
        vitals=Vitals(services.store),
    )
