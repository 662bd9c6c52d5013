"""Pure ASGI middleware: what was changed and who was refused goes into the audit log."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from helix.library.audit import NOBODY, Event
from helix.overload.limits import address_of
from helix.serving.access_recorder import AccessRecorder
from helix.serving.caller import Caller
from helix.serving.key_scopes import NEEDED
from helix.telemetry.metrics import METHODS, OTHER

_REFUSALS = frozenset({401, 403, 429})
_CHANGES = frozenset({"PUT", "PATCH", "DELETE"})
_ID = re.compile(r"[0-9]{1,19}|[0-9a-f]{32}")
"""The ids of an address that may be told: a number or 32 hex digits; anything else is a text."""


class AuditTrail:
    """Record each request that changed something, and each refused because of its sender.

    A route says itself what it changed (``state.changed``), or that it changed nothing; of one that
    says neither, its method and the scope that it needs do. The event tells that, the route, the
    ids in the address or the reason of the refusal (``state.refused_for``), and nothing else that
    the request holds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and look at the status of its answer."""
        recorder: AccessRecorder | None = scope.get("state", {}).get("recorder")
        if scope["type"] != "http" or recorder is None:
            await self.app(scope, receive, send)
            return

        async def send_and_record(message: Message) -> None:
            if message["type"] == "http.response.start":
                event = _event(scope, message["status"])
                if event is not None:
                    recorder.record(event)
            await send(message)

        await self.app(scope, receive, send_and_record)


def _event(scope: Scope, status: int) -> Event | None:
    """The event to record of a request that is answered with ``status``; None: nothing."""
    state, method = scope["state"], scope["method"]
    path = getattr(scope.get("route"), "path", None)
    if path is None:  # the page's own routes leave no trace in the scope
        path = scope["path"] if ("GET", scope["path"]) in NEEDED else OTHER
    if status in _REFUSALS:
        about = str(state.get("refused_for", ""))
    elif status < 400 and state.get("changed", _writes(method, path)):
        about = "; ".join(filter(None, (_ids(scope), str(state.get("changed", "")))))
    else:
        return None
    caller: Caller | None = state.get("caller")
    return Event(
        "refusal" if status in _REFUSALS else "write",
        f"{method if method in METHODS else OTHER} {path}",
        caller.tenant if caller else NOBODY,
        caller.key_id if caller else None,
        address_of(scope),
        about,
        status,
        caller.person_id if caller else None,
    )


def _writes(method: str, path: str) -> bool:
    """True if a route that says nothing of itself changes something."""
    return method in _CHANGES or NEEDED.get((method, path)) == "write"


def _ids(scope: Scope) -> str:
    """The ids in the request's address."""
    parts: dict[str, object] = scope.get("path_params", {})
    named = ((name.removesuffix("_id"), str(value)) for name, value in parts.items())
    return "; ".join(f"{name} {value}" for name, value in named if _ID.fullmatch(value))
