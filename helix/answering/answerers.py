"""The model that answers a question: the one it chooses, its space's or tenant's, or the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from helix.answering.engine import CitationQueryEngine
from helix.answering.gatherer import Gatherer
from helix.providers.base import LanguageModel
from helix.providers.choices import named


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


class TenantModels(Protocol):
    """Reads which models a tenant's questions are answered by."""

    async def usual(self, tenant: str, space: int | None) -> list[str]:
        """Their names: that of ``space``, if it has one, then the tenant's, if it has one.

        Raises:
            StoreUnavailable: they could not be read.
        """
        ...


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
