"""The models of a process: the embedders, the model that answers, and the judge's."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from helix.answering.judging import Judge, build_judge
from helix.providers.base import Embedder, LanguageModel, Lifetime
from helix.providers.choices import build_models, build_other
from helix.providers.factories import build_embedder, build_llm, build_next_embedder
from helix.settings import Settings


class Closable(Protocol):
    """An object that holds connections, threads or processes until it is closed."""

    @property
    def aclose(self) -> Callable[[], Awaitable[None]]:
        """Ends them."""
        ...


Opened = TypeVar("Opened", bound=Closable)


def closed_by(stack: AsyncExitStack, opened: Opened) -> Opened:
    """``opened``, which ``stack`` closes before everything that it was given earlier."""
    stack.push_async_callback(opened.aclose)
    return opened


_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Models:
    """The open models of a process.

    ``embedders`` are HELIX_EMBEDDER's and, where one is set, HELIX_EMBEDDER_NEXT's. ``choices`` are
    the models that a question may choose, by name: ``llm`` first, then those of HELIX_MODELS.
    """

    embedders: tuple[Embedder, ...]
    llm: LanguageModel
    judge: Judge
    choices: Mapping[str, LanguageModel]
    lifetimes: tuple[Lifetime, ...] = ()
    """Of all of them, the judge's model too, that have a known one."""


def open_models(
    settings: Settings,
    stack: AsyncExitStack,
    embedder: Embedder | None,
    following: Embedder | None,
    llm: LanguageModel | None,
) -> Models:
    """The models of ``settings``; each of the last three arguments stands in for one of them.

    All of them are closed with ``stack``.

    Raises:
        SettingsError: as build_embedder and build_llm do; for HELIX_MODELS and HELIX_JUDGE too.
    """
    embedders = [closed_by(stack, embedder or build_embedder(settings))]
    if following := following or build_next_embedder(settings):
        embedders.append(closed_by(stack, following))
    llm = closed_by(stack, llm or build_llm(settings))
    choices = build_models(settings, llm)
    for other in choices.values():
        if other is not llm:
            closed_by(stack, other)
    judging = _judging_llm(settings, llm, stack)
    opened: list[LanguageModel | Embedder] = [*choices.values(), judging, *embedders]
    lifetimes = {each.lifetime for each in opened if each.lifetime}
    told = tuple(sorted(lifetimes, key=lambda each: each.model))
    _warn_of_ends(told)
    return Models(tuple(embedders), llm, build_judge(settings, judging), choices, told)


def _warn_of_ends(lifetimes: Sequence[Lifetime]) -> None:
    """Log each model that has ended, or ends soon."""
    today = datetime.now(UTC).date()
    for lifetime in lifetimes:
        if notice := lifetime.notice(today):
            _logger.warning("%s", notice)


def _judging_llm(
    settings: Settings, answering: LanguageModel, stack: AsyncExitStack
) -> LanguageModel:
    """The model of HELIX_JUDGE, closed with ``stack``; where none is set, the one that answers."""
    if settings.judge is None:
        return answering
    return closed_by(stack, build_other(settings, settings.judge, "HELIX_JUDGE"))
