"""Twelve kinds of filler, at three lengths, and how the work of reading them grows."""

from __future__ import annotations

import time
from collections.abc import Callable

FILLERS = {
    "spaces": " ",
    "newlines": "\n",
    "tabs": "\t",
    "quotes": '"',
    "digits": "7",
    "numbers": "1 ",
    "letters": "a",
    "words": "a ",
    "commas": ",",
    "stops": ".",
    "brackets": "(",
    "hyphens": "-",
}
LENGTHS = (1_000, 10_000, 100_000)
"""Characters of a filler."""
TENFOLD = 30.0
"""Most that the work may grow by where the text grows tenfold; 100 is quadratic."""
_FLOOR = 0.03  # seconds of the processor, below which growth says nothing


def filled(filler: str, length: int, before: str = "x", after: str = "y") -> str:
    """``before``, about ``length`` characters of the kind ``filler``, and ``after``."""
    unit = FILLERS[filler]
    return f"{before}{unit * (length // len(unit))}{after}"


def processor_seconds(work: Callable[..., object], *args: object) -> float:
    """The processor time of this process that ``work(*args)`` takes, waiting left out."""
    started = time.process_time()
    work(*args)
    return time.process_time() - started


def grows_linearly(shorter: float, longer: float) -> bool:
    """True where ``longer`` seconds are what linear work takes over a text ten times as long.

    Work below 30 ms counts as 30 ms: so little tells nothing of its growth.
    """
    return longer <= TENFOLD * max(shorter, _FLOOR)
