"""The models of a process: the embedders, the model that answers, and the judge's."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import dataclass

from helix.answering.judging import Judge, build_judge
from helix.errors import SettingsError
from helix.providers import build_embedder, build_llm, build_next_embedder
from helix.providers.base import Embedder, LanguageModel
from helix.services.closing import closed_by
from helix.settings import Settings


@dataclass(frozen=True)
class Models:
    """The open models of a process.

    ``embedders`` are HELIX_EMBEDDER's and, where one is set, HELIX_EMBEDDER_NEXT's.
    """

    embedders: tuple[Embedder, ...]
    llm: LanguageModel
    judge: Judge

    @property
    def offline(self) -> bool:
        """Whether answers are written and judged without a model that reads prompts."""
        return all(
            identity.partition(":")[0] == "offline"
            for identity in (self.llm.identity, self.judge.identity)
        )


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
        SettingsError: as build_embedder and build_llm do; for HELIX_JUDGE too.
    """
    embedders = [closed_by(stack, embedder or build_embedder(settings))]
    if following := following or build_next_embedder(settings):
        embedders.append(closed_by(stack, following))
    llm = closed_by(stack, llm or build_llm(settings))
    return Models(tuple(embedders), llm, build_judge(settings, _judging_llm(settings, llm, stack)))


def _judging_llm(
    settings: Settings, answering: LanguageModel, stack: AsyncExitStack
) -> LanguageModel:
    """The model of HELIX_JUDGE, closed with ``stack``; where none is set, the one that answers."""
    if settings.judge is None:
        return answering
    try:
        llm = build_llm(settings.model_copy(update={"llm": settings.judge}))
    except SettingsError as error:
        raise SettingsError(str(error).replace("HELIX_LLM", "HELIX_JUDGE")) from None
    return closed_by(stack, llm)
