"""The right to read that an answer is written by: looked at again while it is being written."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from helix.errors import HelixError

LOOK_SECONDS = 1.0
"""Seconds between two looks: a right that is taken away ends the answer after so many at most."""


class RightLost(HelixError):
    """The right was taken away while the answer was being written."""

    status = 403

    def __init__(self) -> None:
        super().__init__("what this answer is written from may not be read any more: ask again")


@dataclass
class ReadingRight:
    """The right of whoever asks to read the documents that an answer is written from.

    ``holds`` says of their ids whether it does now. ``owner`` names whoever asks, as a Reach does.
    """

    holds: Callable[[Collection[int]], Awaitable[bool]]
    owner: str = ""
    looked_at: float = field(default_factory=time.monotonic)

    async def require(self, documents: Collection[int]) -> None:
        """Return where it holds, or was looked at within LOOK_SECONDS.

        Raises:
            RightLost: it does not.
            StoreUnavailable: the database did not answer.
        """
        now = time.monotonic()
        if now - self.looked_at < LOOK_SECONDS:
            return
        self.looked_at = now
        if not await self.holds(documents):
            raise RightLost
