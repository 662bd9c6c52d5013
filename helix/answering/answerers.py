"""The model that answers: a question's own choice, its space's, its tenant's; and what it used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

from helix.answering.engine import CitationQueryEngine
from helix.answering.gatherer import Gatherer
from helix.domain.scope import Spaces
from helix.domain.usage import Usage
from helix.library.tenant_models import TenantModels
from helix.providers.base import LanguageModel
from helix.providers.choices import named
from helix.telemetry.usage_meter import current_meter


@dataclass(frozen=True)
class Answerer:
    """A model with the engine and the agent that call it; ``name`` is the one it is chosen by."""

    engine: CitationQueryEngine
    agent: Gatherer | None = None
    name: str | None = None

    @property
    def llm(self) -> LanguageModel:
        """The model."""
        return self.engine.llm


@dataclass(frozen=True)
class Answerers:
    """The answerers of a process by their models' names; the first is that of the settings."""

    by_name: Mapping[str, Answerer]
    tenants: TenantModels

    async def chosen(self, name: str | None, tenant: str, space: int | None = None) -> Answerer:
        """The one of this name; without one that of ``space`` or the tenant, else the first.

        What is no longer there is passed over.

        Raises:
            ModelNotAllowed: there is none of this name.
            StoreUnavailable: what space and tenant have chosen could not be read.
        """
        return self.by_name[await self.name_of(name, tenant, space)]

    async def name_of(self, name: str | None, tenant: str, space: int | None = None) -> str:
        """The name of the one that ``chosen`` gives; raises as it does."""
        if name is not None:
            named(self.by_name, name)
            return name
        first = next(iter(self.by_name))
        usual = await self.tenants.usual(tenant, space) if len(self.by_name) > 1 else []
        return next((each for each in usual if each in self.by_name), first)

    def of_identity(self, identity: str | None) -> str | None:
        """The name of the one whose model has this identity; None where there is none."""
        found = (name for name, one in self.by_name.items() if one.llm.identity == identity)
        return next(found, None)


_VERSION = ("-", ":", "@")
"""Separators between a model's name and its version, in the names of one service."""


def model_json(llm: LanguageModel, usages: Sequence[Usage]) -> dict[str, Any]:
    """The ``model`` of an answer's JSON; ``usages`` are those of its calls, in order.

    ``asked`` and ``answered`` are identities. ``routed``: another model answered than was asked.
    A count or a cost that is not known of every call is null.
    """
    kind, _, name = llm.identity.partition(":")
    total = reduce(add, usages, Usage(""))
    answered = plain_name(total.model) or plain_name(name)
    routed = bool(name) and kind != "local" and not is_version_of(answered, plain_name(name))
    return {
        "asked": llm.identity,
        "answered": f"{kind}:{answered}" if routed else llm.identity,
        "routed": routed,
        "title": llm.title_of(answered) if routed else llm.title,
        **total.tokens,
        "cost_usd": cost_of(llm, usages),
    }


def cost_of(llm: LanguageModel, usages: Sequence[Usage]) -> float | None:
    """The US dollars of all ``usages``; None where that of one of them is not known, or of none."""
    costs = [llm.cost(usage) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    return round(sum(known), 9) if costs and len(known) == len(costs) else None


def tell_meter(llm: LanguageModel, spaces: Spaces) -> None:
    """Have what is used from now on counted for ``llm``, and the one space that is asked."""
    if meter := current_meter():
        name = model_name(llm.identity)
        only = spaces[0] if spaces and len(spaces) == 1 else None
        meter.about(only, name, partial(is_version_of, asked=name))


def model_name(identity: str) -> str:
    """The name of a model without what provides it, as its service calls it."""
    return plain_name(identity.partition(":")[2] or identity)


def plain_name(name: str) -> str:
    """``name`` without the path that some services put in front of it."""
    return name.rpartition("/")[2]


def is_version_of(answered: str, asked: str) -> bool:
    """True if the model ``answered`` is the one ``asked``, or a version of it."""
    rest = answered.lower().removeprefix(asked.lower())
    return not rest or (rest != answered.lower() and _begins_version(rest))


def _begins_version(rest: str) -> bool:
    return rest.startswith(_VERSION) and (rest[0] != "-" or rest[1:2].isdigit())
