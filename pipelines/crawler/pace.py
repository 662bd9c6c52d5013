"""The time between two requests: a site is somebody's machine."""

from __future__ import annotations

import asyncio
import time


class Pace:
    """Lets a request through at most every ``seconds``; a change holds from the next one on."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._last: float | None = None

    def at_least(self, seconds: float) -> None:
        """Slow down to one request every ``seconds``; never faster than before."""
        self.seconds = max(self.seconds, seconds)

    async def wait(self) -> None:
        """Return when the next request may start."""
        if self._last is not None:
            await asyncio.sleep(max(0.0, self._last + self.seconds - time.monotonic()))
        self._last = time.monotonic()
