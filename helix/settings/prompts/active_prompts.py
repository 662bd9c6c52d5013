"""The prompts of one request: the tenant's own where it has them, and a record of those used.

They are a context variable: a prompt that is built deep inside an answer, in one of its tasks or
threads, is the asking tenant's without being passed through every function. While they are still
being read, the variable has the task that reads them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from helix.settings.prompts.template import BrokenPrompt, template

_logger = logging.getLogger(__name__)


STYLE = "answering_style"
"""The prompt that a space's style is added to."""


@dataclass(frozen=True)
class Override:
    """A tenant's own text of a prompt; ``version`` counts from 1."""

    version: int
    text: str


@dataclass(frozen=True)
class PromptUse:
    """A prompt that was used; ``version`` is the override's, None for the shipped prompt.

    ``sha256`` is the hash of the prompt with its placeholders, in hex. ``broken`` is the version of
    an override that was passed over because it cannot be used.
    """

    name: str
    version: int | None
    sha256: str
    broken: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The entry of a receipt; it has ``broken`` only where an override was passed over."""
        entry: dict[str, Any] = {
            "name": self.name, "version": self.version, "sha256": self.sha256
        }  # fmt: skip
        return entry if self.broken is None else entry | {"broken": self.broken}


@dataclass(frozen=True)
class Prompts:
    """The prompts of one request; ``used`` lists those that were asked for so far.

    ``style`` stands below the tenant's own style of answers: that of the space that is asked.
    """

    overrides: Mapping[str, Override] = field(default_factory=dict)
    used: dict[str, PromptUse] = field(default_factory=dict)
    style: str = ""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within the block, and in tasks started in it, ``prompt`` reads these prompts."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)

    def text(self, name: str, values: Mapping[str, object]) -> str:
        """The prompt ``name`` with its placeholders filled; the shipped one for a broken override.

        Raises:
            NoSuchPrompt: there is no such prompt.
        """
        shipped, override, broken = template(name), self.overrides.get(name), None
        if override:
            try:
                shipped.check(override.text)
            except BrokenPrompt as error:
                broken = override.version
                _logger.warning(
                    "version %d of the prompt %s is broken, the shipped one is used: %s",
                    broken, name, error,
                )  # fmt: skip
                override = None
        text = override.text if override else None
        if name == STYLE and self.style:
            text = "\n".join(part for part in (text or shipped.text, self.style) if part.strip())
        self.used[name] = PromptUse(
            name, override.version if override else None, _digest(shipped.whole(text)), broken
        )
        return shipped.filled(text, values)


@contextmanager
def reading(prompts: Coroutine[Any, Any, Prompts]) -> Iterator[asyncio.Task[Prompts]]:
    """Within the block, ``prompts`` are read while other work goes on; gives the task that reads.

    ``active_prompts`` waits for it. Leaving the block before it has ended cancels it.
    """
    task = asyncio.ensure_future(prompts)
    token = _ACTIVE.set(task)
    try:
        yield task
    finally:
        _ACTIVE.reset(token)
        if not task.cancel() and not task.cancelled():
            task.exception()  # the block met it, or failed before it did


async def active_prompts() -> Prompts:
    """The prompts of the request under way, once they are read; else the shipped ones.

    Raises:
        StoreUnavailable: they could not be read.
    """
    active = _ACTIVE.get()
    if isinstance(active, asyncio.Task):
        return await asyncio.shield(active)
    return active or Prompts()


def prompt(name: str, **values: object) -> str:
    """The prompt ``name`` of the request under way, its placeholders filled; else the shipped one.

    Raises:
        NoSuchPrompt: there is no such prompt.
        InvalidStateError: the prompts are still being read; await ``active_prompts`` first.
    """
    active = _ACTIVE.get()
    prompts = active.result() if isinstance(active, asyncio.Task) else active
    return (prompts or Prompts()).text(name, values)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


_ACTIVE: ContextVar[Prompts | asyncio.Task[Prompts] | None] = ContextVar("prompts", default=None)
