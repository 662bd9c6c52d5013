"""The prompts of one request: the tenant's own where it has them, and a record of those used.

They are a context variable: a prompt that is built deep inside an answer, in one of its tasks or
threads, is the asking tenant's without being passed through every function.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from helix.prompts.shipped import template
from helix.prompts.template import BrokenPrompt

_logger = logging.getLogger(__name__)


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
    """The prompts of one request; ``used`` lists those that were asked for so far."""

    overrides: Mapping[str, Override] = field(default_factory=dict)
    used: dict[str, PromptUse] = field(default_factory=dict)

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
        self.used[name] = PromptUse(
            name, override.version if override else None, _digest(shipped.whole(text)), broken
        )
        return shipped.filled(text, values)


def prompt(name: str, **values: object) -> str:
    """The prompt ``name`` of the request under way, its placeholders filled; else the shipped one.

    Raises:
        NoSuchPrompt: there is no such prompt.
    """
    return (_ACTIVE.get() or Prompts()).text(name, values)


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


_ACTIVE: ContextVar[Prompts | None] = ContextVar("prompts", default=None)
