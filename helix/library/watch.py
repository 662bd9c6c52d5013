"""The state that all who follow a tenant's library in this process share."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Watch:
    """The one look at a tenant's library that its followers share."""

    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    state: dict[str, Any] | None = None
    error: Exception | None = None
    followers: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
