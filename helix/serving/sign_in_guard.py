"""Tries to sign in: how many there may be, and how many passwords are hashed at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import TypeVar

from fastapi import HTTPException

from helix.overload.limits import Rates, subjects_of
from helix.overload.usage import NOBODY, Subject

Result = TypeVar("Result")

WINDOW_SECONDS = 900.0
MOST_OF_ACCOUNT_AND_ADDRESS = 10
MOST_OF_ACCOUNT = 100
"""From all addresses together: many more than its owner needs, who is not to be kept out."""
MOST_OF_ADDRESS = 60
MOST_CHALLENGES_OF_ADDRESS = 600
"""Challenges for passkeys: each page that signs people in asks for one, and they guess nothing."""
_HASHED_AT_ONCE = 2
"""Each takes 64 MiB and half a core's tenth of a second."""


class SignInGuard:
    """The guard of one process, for one event loop. Every try counts, a good one too."""

    def __init__(self) -> None:
        self._rates = Rates(window=WINDOW_SECONDS)
        self._hashing = asyncio.Semaphore(_HASHED_AT_ONCE)

    def check(self, address: str, account: str | None = None) -> None:
        """Count one try on ``account``, whether there is such a one or not, from ``address``.

        Without an account, as of a link, the address alone counts: nobody can keep others out.

        Raises:
            HTTPException: 429, there were too many in a quarter of an hour.
        """
        where = _network_of(address)
        limits = [(f"try from {where}", MOST_OF_ADDRESS)]
        if account is not None:
            limits += [
                (f"try at {account} from {where}", MOST_OF_ACCOUNT_AND_ADDRESS),
                (f"try at {account}", MOST_OF_ACCOUNT),
            ]
        self._count(limits)

    def check_challenge(self, address: str) -> None:
        """Count a challenge for a passkey that somebody at ``address`` asks for.

        Raises:
            HTTPException: 429, as ``check``.
        """
        where = _network_of(address)
        self._count([(f"challenge for {where}", MOST_CHALLENGES_OF_ADDRESS)])

    def _count(self, limits: list[tuple[str, int]]) -> None:
        for name, most in limits:
            if wait := self._rates.count(Subject(NOBODY, name), most):
                seconds = max(1, math.ceil(wait))
                raise HTTPException(
                    429, f"too many tries to sign in: try again in {seconds} s",
                    {"Retry-After": str(seconds)},
                )  # fmt: skip

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of ``work``, which hashes a password, in a thread; few at once."""
        async with self._hashing:
            return await asyncio.to_thread(work)


def _network_of(address: str) -> str:
    network = subjects_of(address=address).get("address")
    return network.name if network else ""
