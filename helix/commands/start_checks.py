"""Parts of a server besides database, embedder and model, opened for ``helix doctor``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial

from helix.errors import SettingsError
from helix.providers.base import LanguageModel
from helix.providers.choices import build_other
from helix.services.models import Closable, closed_by
from helix.services.retriever import reranker_of
from helix.settings import Settings
from helix.settings.prompts import use_folder
from helix.study.voice.transcription import build_transcriber
from helix.telemetry.build_info import build_tracing


def start_problems(settings: Settings, llm: LanguageModel, stack: AsyncExitStack) -> list[str]:
    """The errors that would end a server's start, one a setting; ``stack`` closes what is opened.

    Blocks as reranker_of does.
    """
    problems = []
    for opened in _openers(settings, llm):
        try:
            part = opened()
        except SettingsError as error:
            problems.append(str(error))
        else:
            if part is not None:
                closed_by(stack, part)
    return problems


def _openers(settings: Settings, llm: LanguageModel) -> Iterator[Callable[[], Closable | None]]:
    yield partial(use_folder, settings.prompts_folder)
    yield partial(build_tracing, settings.tracing)
    for name in settings.models:
        yield partial(build_other, settings, name, "HELIX_MODELS")
    if settings.judge is not None:
        yield partial(build_other, settings, settings.judge, "HELIX_JUDGE")
    yield partial(reranker_of, settings)
    if settings.study != "off":
        yield partial(build_transcriber, settings, llm)
