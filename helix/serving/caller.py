"""The caller of a request: a tenant, what it may read and write there, and who is learning."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fastapi import Request
from starlette.datastructures import State

from helix.answering.reading_right import ReadingRight
from helix.domain.scope import Reach, Scope, Spaces, tenant_name, within_both
from helix.errors import BadRequest, HelixError
from helix.library.access import Library
from helix.library.keys import KEY_SCOPES
from helix.library.people.browser_sessions import SessionAccess
from helix.library.spaces import space_of
from helix.library.usage_limits import Allowance
from helix.services import Services
from helix.serving.access_recorder import AccessRecorder
from helix.telemetry.usage_meter import Payer, UsageMeter, use_meter

if TYPE_CHECKING:
    from helix.study.progress.actions import Action


class OtherTenant(HelixError):
    """The key is not the named tenant's, whether there is such a tenant or not."""

    status = 403


class OtherSpace(HelixError):
    """The caller may read some spaces only, and this is about more, or another."""

    status = 403


@dataclass(frozen=True)
class Caller:
    """The tenant that a request is about.

    ``keyed``: its API key, of the id ``key_id``, decides that. ``named``: the request's address
    does. ``learner`` is the key's name, whose progress and cards are kept apart; empty where it has
    none, as without keys. ``person_id`` is whose ``session`` or personal access token it is, who is
    then the learner. ``spaces`` are those whose documents it may read, of which ``asked`` is what
    the request is about, and ``edits`` those whose documents it may change; None: all. ``scopes``
    are those of its key or role, ``limits`` those of usage that hold for it. ``state`` is the
    request's: its ``caller``, and what it changed, are for the audit log. ``renewed`` gives the
    caller as it is now: None, if nobody is let in by the same key any more; where it is None,
    nobody is kept out.
    """

    services: Services
    tenant: str
    keyed: bool
    named: bool = False
    key_id: int | None = None
    learner: str = ""
    person_id: int | None = None
    session: SessionAccess | None = None
    state: State = field(default_factory=State)
    spaces: Spaces = None
    asked: Spaces = None
    edits: Spaces = None
    scopes: frozenset[str] = frozenset(KEY_SCOPES)
    limits: Sequence[Mapping[str, Any]] | None = None
    renewed: Callable[[], Awaitable[Caller | None]] | None = None

    @property
    def owner(self) -> str:
        """The owner of the conversations that it begins; empty: the tenant."""
        if self.person_id is not None:
            return f"person:{self.person_id}"
        limited = self.spaces is not None and self.key_id is not None
        return f"key:{self.key_id}" if limited else ""

    @property
    def reach(self) -> Reach:
        """The part of the tenant's data that it may read, and that the request is about."""
        return Reach(within_both(self.spaces, self.asked), self.owner, self.edits)

    @property
    def scope(self) -> Scope:
        """The documents that a question is about which says no more."""
        return Scope(self.tenant, spaces=self.reach.spaces)

    @property
    def asked_space(self) -> int | None:
        """The one space that the request names; None: it names none."""
        return self.asked[0] if self.asked else None

    @property
    def library(self) -> Library:
        """Documents and runs of the tenant, of those that may be read."""
        return self.services.library.of(self.tenant, self.reach)

    @property
    def right(self) -> ReadingRight | None:
        """The right that an answer is written by; None where nobody can take it away."""
        if self.renewed is None:
            return None
        renewed = self.renewed

        async def holds(documents: Collection[int]) -> bool:
            now = await renewed()
            if now is None or now.tenant != self.tenant:
                return False
            reach = replace(now, asked=self.asked).reach
            if reach.spaces is None or not documents:
                return True
            return not await self.services.library.of(self.tenant, reach).unreadable(documents)

        return ReadingRight(holds, self.owner)

    async def reaches_the_same(self) -> bool:
        """True while it may read and change what it could when the request came."""
        now = self if self.renewed is None else await self.renewed()
        return (
            now is not None
            and now.tenant == self.tenant
            and replace(now, asked=self.asked).reach == self.reach
        )

    def writable_space(self) -> int | None:
        """The space that what it brings is to stand in: the one asked for, or its first.

        None: wherever it stands, or the library.

        Raises:
            OtherSpace: it may put documents into none, or not into this one.
        """
        spaces = within_both(self.edits, self.asked)
        if spaces is None:
            return None
        if not spaces:
            here = "this space" if self.edits else "any space"
            raise OtherSpace(f"you may not put documents into {here}")
        return min(spaces)

    def require_whole_key(self) -> None:
        """Return where no key limits it to spaces: what is the tenant's is every space's.

        Raises:
            OtherSpace: its key does.
        """
        if self.spaces is not None and self.person_id is None:
            raise OtherSpace("this is of the whole tenant, and your key is limited to spaces")

    def may_edit(self, space: int) -> bool:
        """True if it may change the documents of a space that it may read."""
        return self.edits is None or space in self.edits

    def placed(self, scope: dict[str, Any]) -> dict[str, Any]:
        """The stored ``scope`` of what is made in the space that the request names."""
        return scope if self.asked_space is None else {"space": self.asked_space, **scope}

    async def in_space(self, named: str | int | None) -> Caller:
        """The caller of a request about the space of this id or name alone; None: it names none.

        Raises:
            NotFound: there is no such space, or it may not be read.
            BadRequest: the request names another one already.
        """
        if named is None:
            return self
        space = await space_of(self.services.library.of(self.tenant), named, self.spaces)
        if self.asked is not None and space not in self.asked:
            raise given_twice("space")
        self.state.caller = caller = replace(self, asked=(space,))
        return caller

    def note(self, action: Action, n: int = 1) -> None:
        """Note for the learner's progress that ``action`` was done ``n`` times; never fails."""
        if study := self.services.study:
            study.note(self.tenant, self.learner, action, n)

    def changed(self, what: str) -> None:
        """Tell the audit log what the request changed, by its ids; "": it changed nothing."""
        self.state.changed = what

    def for_tenant(self, tenant_id: str | None) -> Caller:
        """The caller of a request that also names ``tenant_id``; None: it names none.

        Raises:
            OtherTenant: the key is not this tenant's.
            BadRequest: the name is malformed, or another than the one in the address.
        """
        if tenant_id is None:
            return self
        if self.keyed:
            if tenant_id != self.tenant:
                raise OtherTenant("tenant_id is not yours: leave it out")
            return self
        if self.named and tenant_id != self.tenant:
            raise given_twice("tenant_id")
        self.state.caller = caller = replace(self, tenant=tenant_name(tenant_id), named=True)
        return caller


def given_twice(name: str) -> BadRequest:
    """The error for a request that has two values of a parameter which is one."""
    return BadRequest(f"{name} is given twice, and not the same")


def learner_of(person_id: int) -> str:
    """The learner that a person is, by whatever they come in."""
    return f"person {person_id}"


def allowance_of(request: Request, caller: Caller) -> Allowance | None:
    """The allowance of ``caller``; None: nobody is known, or HELIX_USAGE_DAYS=0 counts nothing."""
    known = caller.key_id is not None or caller.person_id is not None
    if not known or not caller.services.settings.usage_days:
        return None
    recorder: AccessRecorder = request.state.recorder
    spaces = caller.reach.spaces
    payer = Payer(caller.tenant, caller.person_id, caller.key_id)
    only = spaces[0] if spaces and len(spaces) == 1 else None
    meter = UsageMeter(payer, recorder.used.add, only)
    return Allowance(caller.services.store, meter, caller.limits or (), recorder.used)


def meter_request(request: Request, caller: Caller) -> None:
    """Count for ``caller`` what is used in this context from now on, within their limits."""
    allowance = allowance_of(request, caller)
    request.state.allowance = allowance
    use_meter(allowance.meter if allowance else None)
