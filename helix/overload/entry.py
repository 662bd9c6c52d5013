"""The way of a request into a server, and its one entry: a place for its answer, or a refusal.

connections -> early refusal, by the head -> rates of address, key and tenant -> a place
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qs

from fastapi import Request

from helix.overload.admission import Admission, Overloaded, Place
from helix.overload.limits import Asker, Limits, address_of, subjects_of

QUESTIONS = frozenset({(b"GET", b"/ask"), (b"POST", b"/v1/query")})
"""The requests that are a question each, and are refused with one line of JSON."""
MOST_UNKNOWN = 8
"""Questions in the application at once, on a full server, whose tenant the head does not tell."""
QUIET_SECONDS = 0.01
"""Seconds without a refusal before a question begins."""
MANY_CONNECTIONS = 4
"""Connections of one iteration of the loop, mostly, behind which more wait to be accepted."""
PATIENCE_SECONDS = 0.3
"""Longest that a question waits for that."""
REFUSED_STATUS = Overloaded().status_code
_MOST_KEYS = 4096

Headers = Sequence[tuple[bytes, bytes]]
OnRefused = Callable[[str, str, int, float], None]
"""Is called with method, route, status and seconds, as Metrics.request is."""


class Ticket:
    """A question that was let in, and of which the application has not decided yet."""

    def __init__(self, early: EarlyRefusal, tenant: str | None) -> None:
        self._early, self._tenant = early, tenant
        self._open = True
        early.undecided[tenant] += 1

    def close(self) -> None:
        """The question has a place or waits for one, is refused, or is over."""
        if self._open:
            self._open = False
            self._early.undecided[self._tenant] -= 1
            if not self._early.undecided[self._tenant]:
                del self._early.undecided[self._tenant]


class EarlyRefusal:
    """The refusal of questions by their heads, for one server and one event loop.

    Args:
        admission: the places that the questions ask for.
        anybody: the tenant of whoever names none in the request's address or body; None where an
            API key names the tenant.
        answer: the refusal of a request with these headers, but for its status line and what the
            server itself adds.
        on_refused: counts a refusal.
    """

    def __init__(
        self,
        admission: Admission,
        *,
        anybody: str | None,
        answer: Callable[[Headers], bytes],
        on_refused: OnRefused,
    ) -> None:
        self._admission = admission
        self._anybody = anybody
        self._answer = answer
        self._on_refused = on_refused
        self._tenants: OrderedDict[bytes, str] = OrderedDict()
        self._starts: deque[tuple[float, Callable[[], None]]] = deque()
        self._refused_at = -math.inf
        self._connected = 0  # since the last look whether a question may begin
        self.undecided: Counter[str | None] = Counter()
        """By tenant, None where it is not known: the questions with an open ticket."""

    def knows(self, authorization: bytes, tenant: str) -> None:
        """Remember whose key is in a header that was found good; of the key itself a digest."""
        digest = sha256(authorization).digest()
        self._tenants[digest] = tenant
        self._tenants.move_to_end(digest)
        if len(self._tenants) > _MOST_KEYS:
            self._tenants.popitem(last=False)

    def connected(self) -> None:
        """A client has connected."""
        self._connected += 1

    def look(self, method: bytes, url: bytes, headers: Headers) -> Ticket | bytes | None:
        """A ticket for a question that may enter, the head and body of its refusal, or None.

        None: the request is no question.
        """
        path, _, query = url.partition(b"?")
        if (method, path) not in QUESTIONS:
            return None
        tenant = self._tenant(method, query, headers)
        if self._may_enter(tenant):
            return Ticket(self, tenant)
        self._refused_at = time.monotonic()
        self._on_refused(method.decode(), path.decode(), REFUSED_STATUS, 0.0)
        return self._answer(headers)

    def begin(self, start: Callable[[], None]) -> None:
        """Call ``start`` of a question that was let in: of several one an iteration of the loop.

        An iteration in which all of them began would hold up whoever is to be refused, or asks for
        /healthz. And as long as others are being refused none begins, for PATIENCE_SECONDS at most:
        whoever is refused has waited for nothing, and answers would take the processor from that.
        While many connect in one iteration, more of them wait to be accepted, and may have to be
        refused.
        """
        self._starts.append((time.monotonic() + PATIENCE_SECONDS, start))
        if len(self._starts) == 1:
            asyncio.get_running_loop().call_soon(self._begin_next)

    def _begin_next(self) -> None:
        now, (latest, start) = time.monotonic(), self._starts[0]
        loop = asyncio.get_running_loop()
        more_connect, self._connected = self._connected >= MANY_CONNECTIONS, 0
        if more_connect and now < latest:
            loop.call_soon(self._begin_next)
            return
        pause = min(self._refused_at + QUIET_SECONDS, latest) - now
        if pause > 0:
            loop.call_later(pause, self._begin_next)
            return
        self._starts.popleft()
        if self._starts:
            loop.call_soon(self._begin_next)
        start()

    def _may_enter(self, tenant: str | None) -> bool:
        if self._admission.has_room(self.undecided.total()):
            return True
        if tenant is None:
            return self.undecided[None] < MOST_UNKNOWN
        return self._admission.gives_way_to(tenant, self.undecided[tenant])

    def _tenant(self, method: bytes, query: bytes, headers: Headers) -> str | None:
        """The tenant that asks, where the head alone tells."""
        given = [value for name, value in headers if name == b"authorization"]
        if any(name == b"origin" for name, _ in headers):
            return None  # the answer's headers depend on it
        if self._anybody is None:
            return self._tenants.get(sha256(given[0]).digest()) if len(given) == 1 else None
        if method != b"GET":
            return None  # its body may name one
        # as text: of bytes parse_qs takes no other letters than ASCII's
        named = parse_qs(query.decode("latin-1")) if b"tenant_id" in query else {}
        return named.get("tenant_id", [self._anybody])[0]


@dataclass(frozen=True)
class Overload:
    """The parts that decide who is served, for one event loop; ``request.state.overload``."""

    limits: Limits
    admission: Admission
    early: EarlyRefusal


def asker(request: Request) -> Asker:
    """The asker that pays for a request: its caller and its address, or this alone before that."""
    overload: Overload = request.state.overload
    limits, caller = overload.limits, getattr(request.state, "caller", None)
    allowance = getattr(request.state, "allowance", None)
    if not any(limits.drawn.values()):
        return Asker(limits, {}, allowance)
    address = address_of(request.scope)
    if caller is None:
        return Asker(limits, subjects_of(address=address))
    subjects = subjects_of(caller.tenant, caller.key_id, address, caller.person_id)
    return Asker(limits, subjects, allowance)


def place_for(request: Request) -> Place:
    """A place for an answer to the request's caller, not yet taken; ``Place.run`` takes it.

    It is refused there: with LimitReached, or Overloaded.
    """
    overload: Overload = request.state.overload
    ticket: Ticket | None = getattr(request.state, "ticket", None)
    decided = ticket.close if ticket else None
    return overload.admission.place(request.state.caller.tenant, asker(request).pays(), decided)
