"""The model that answers a question: the one it chooses, its tenant's, or that of the settings."""

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
    """Reads which model a tenant's questions are answered by."""

    async def of(self, tenant: str) -> str | None:
        """The name of it; None where the tenant has chosen none. Raises StoreUnavailable."""
        ...


@dataclass(frozen=True)
class Answerers:
    """The answerers of a process by their models' names; the first is that of the settings."""

    by_name: Mapping[str, Answerer]
    tenants: TenantModels

    async def chosen(self, name: str | None, tenant: str) -> Answerer:
        """The one of this name; without one the tenant's, where it is still there, else the first.

        Raises:
            ModelNotAllowed: there is none of this name.
            StoreUnavailable: the tenant's could not be read.
        """
        return self.by_name[await self.name_of(name, tenant)]

    async def name_of(self, name: str | None, tenant: str) -> str:
        """The name of the one that ``chosen`` gives; raises as it does."""
        if name is not None:
            named(self.by_name, name)
            return name
        first = next(iter(self.by_name))
        own = await self.tenants.of(tenant) if len(self.by_name) > 1 else None
        return own if own is not None and own in self.by_name else first

    def of_identity(self, identity: str | None) -> str | None:
        """The name of the one whose model has this identity; None where there is none."""
        found = (name for name, one in self.by_name.items() if one.llm.identity == identity)
        return next(found, None)
