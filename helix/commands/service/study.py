"""The sets, cards and attempts of ``helix study``, from a server or from the database."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from helix.commands.service.base import LibraryService
from helix.commands.service.service_choice import server_or_settings
from helix.errors import HelixError
from helix.library.access import Row
from helix.library.run_progress import Event
from helix.settings import Settings
from helix.study.formats import Format
from helix.study.items import Difficulty, Kind
from helix.study.repetition import Rating


class StudyOff(HelixError):
    """Study is not part of what is asked."""

    def __init__(self, where: str) -> None:
        super().__init__(f"study is off {where}: HELIX_STUDY=on turns it on")


class StudyService(Protocol):
    """The sets of one tenant, and one learner's attempts; rows are those of the HTTP API.

    Every method may raise NotFound for an unknown id, BadRequest and Unavailable.
    """

    @property
    def documents(self) -> LibraryService:
        """The documents that sets are made of, and the runs that make them."""
        ...

    async def list_sets(self) -> list[Row]:
        """The newest sets."""
        ...

    async def read_set(self, set_id: int) -> Row:
        """A set with its ``items``; the keys of questions are left out."""
        ...

    async def order(
        self, kind: Kind, title: str, scope: Row, difficulty: Difficulty, count: int | None
    ) -> Row:
        """Order a set of ``scope``, as POST /v1/study has it; returns it with its ``run_id``."""
        ...

    def follow(self, run_id: int) -> AsyncGenerator[Event, None]:
        """The changes of a run until it has ended; a worker is there that carries it out."""
        ...

    async def due(self, limit: int) -> Row:
        """The cards that are due, then new ones."""
        ...

    async def export(self, set_id: int, kind: Format) -> bytes:
        """A set as a file."""
        ...

    async def review(self, card_id: int, rating: Rating) -> Row:
        """Store how well a card was known; returns when it is due next."""
        ...

    async def undo_review(self) -> Row:
        """Undo the last review."""
        ...

    async def open_attempt(self, set_id: int) -> Row:
        """The unfinished attempt at a quiz, or a new one."""
        ...

    async def answer(self, attempt_id: int, item_id: int, answer: Any) -> Row:
        """Store an answer; returns whether it is right, with its key and sources."""
        ...

    async def finish(self, attempt_id: int) -> Row:
        """Score an attempt."""
        ...


@asynccontextmanager
async def study_service(option: str | None, tenant: str) -> AsyncIterator[StudyService]:
    """The tenant's sets, to be opened.

    Raises:
        StudyOff: HELIX_STUDY is off, here or at the server.
        HelixError: as ``named_server`` does.
    """
    target = await server_or_settings(option, tenant)
    if isinstance(target, Settings):
        if target.study == "off":
            raise StudyOff("here")
        from helix.commands.service.in_database import database_library
        from helix.commands.service.study_in_database import DatabaseStudy

        async with database_library(target, tenant) as library:
            yield DatabaseStudy(library, target)
        return
    from helix.commands.service.over_http import server_answers
    from helix.commands.service.study_over_http import ServerStudy

    async with server_answers(target, tenant) as answers:
        if not await answers.has_study():
            raise StudyOff(f"at {target.address}")
        yield ServerStudy(answers)
