"""The way of a request into a server, and its one entry: a place for its answer, or a refusal.

connections -> early refusal, by the head -> rates of address, key and tenant -> a place
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from helix.overload.admission import Admission, Place
from helix.overload.early_refusal import EarlyRefusal, Ticket
from helix.overload.limits import Asker, Limits, address_of, subjects_of


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
