"""Sources that proofs are tried over: a policy of the samples and a page of a handbook."""

from __future__ import annotations

from helix.domain.context import Source
from helix.domain.records import Hit
from tests.support.repository import ROOT

SAMPLE = (ROOT / "samples/refund-policy.txt").read_text("utf-8")
HANDBOOK = """Full-time employees accrue 27 days of paid vacation per calendar year [7].
Up to five unused days may be carried over until March 31 of the
following year. Unused days are not paid out.

## Parental leave
Primary caregivers receive 16 weeks at full salary; secondary caregivers receive 6 weeks."""


def hit(number: int, text: str, start: int = 0, end: int | None = None, **more: object) -> Hit:
    content = text[start:end]
    where = (start, start + len(content))
    return Hit(number, 1, f"Title {number}", "a", number, content, *where, "n", 0.1, **more)  # type: ignore[arg-type]


def source(number: int, text: str) -> Source:
    one = hit(number, text)
    return Source(one, (one,), text, 0, len(text))


REFUNDS, HANDED = source(1, SAMPLE), source(2, HANDBOOK)
