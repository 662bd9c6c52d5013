"""The question and its sources as the offline answerer reads them: values, no text of a prompt."""

from __future__ import annotations

from dataclasses import dataclass, field

from helix.domain.prompt import Beside, Findings
from helix.domain.relevance import SourcePlace


@dataclass(frozen=True)
class OfferedSource:
    """A numbered source: its text as it stands in the document, and where that stands."""

    number: int
    text: str
    place: SourcePlace = field(default_factory=SourcePlace)


@dataclass(frozen=True)
class Offered:
    """The question, its sources, best first, and an agent's findings.

    ``follows`` are the questions that it may go on from, a line each, the latest first, ``said`` is
    the conversation so far; both are '' where it stands alone.
    """

    question: str
    sources: tuple[OfferedSource, ...] = ()
    findings: Findings = field(default_factory=Findings)
    follows: str = ""
    said: str = ""

    @classmethod
    def of(cls, beside: Beside) -> Offered:
        """The values beside a prompt; sources are numbered from 1."""
        sources = (OfferedSource(n, *source) for n, source in enumerate(beside.sources, 1))
        found = beside.findings or Findings()
        return cls(beside.question, tuple(sources), found, beside.follows, beside.said)
