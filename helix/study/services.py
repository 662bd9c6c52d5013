"""The services of study that a server holds open: the progress of learners, speech as text."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from helix.library.access import Library, in_background
from helix.providers.base import LanguageModel
from helix.settings import Settings
from helix.study.progress.actions import Action, Learner
from helix.study.progress.storage import ProgressLog
from helix.study.voice.transcription import Transcriber, build_transcriber


@dataclass(frozen=True)
class StudyServices:
    """The open services; ``transcriber`` is None where no model for speech is set up."""

    progress: ProgressLog
    transcriber: Transcriber | None

    def note(self, tenant: str, learner: str, action: Action, n: int) -> None:
        """Note that a learner of ``tenant`` did ``action`` ``n`` times; never fails."""
        self.progress.note(Learner(tenant, learner), action, n)


@asynccontextmanager
async def open_study(
    settings: Settings, library: Library, llm: LanguageModel
) -> AsyncIterator[StudyServices]:
    """The services of ``settings``; what was noted is written when the block ends.

    Raises:
        SettingsError: as build_transcriber does.
    """
    transcriber = build_transcriber(settings, llm)
    idle = timedelta(seconds=settings.study_idle_seconds)
    progress = ProgressLog(library, idle, settings.progress)
    try:
        async with in_background(progress.keep()):
            yield StudyServices(progress, transcriber)
    finally:
        await progress.write()  # what was noted in the last second
        if transcriber:
            await transcriber.aclose()
