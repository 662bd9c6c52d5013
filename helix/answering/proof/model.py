"""What a proof of an answer says: its statements, and the spans that each one rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from helix.domain.calculations import Calculation

NO_MARKER = "no marker"
NO_SOURCE = "no such source"
UNPLACED = "unplaced"
NUMBER = "number"
NAME = "name"
NEGATION = "negation"
CLAIM = "claim"
WORDS = "words"
"""Why a statement is unsupported: it cites nothing; it cites a number beyond the sources; what it
cites does not say where in its document it lies; else the first condition that its closest span
fails, ``claim`` being another quantity (all for some), duty (must for may) or no condition."""


@dataclass(frozen=True, slots=True)
class Support:
    """One span that a statement rests on: ``documents.text[start:end] == quote``.

    It lies within the chunk ``chunk_id`` of source ``n``, which counts from 1. ``page`` counts
    from 1; ``label`` says for people where the chunk lies: "page 12 (printed 9)", "slide 2".
    """

    n: int
    chunk_id: int
    document_id: int
    start: int
    end: int
    quote: str
    page: int | None
    label: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer: ``answer[start:end]``, markers included.

    ``numbers`` are those it cites, each once; ``problem`` is why it is unsupported, None when it is
    supported. ``irrelevance`` says why it does not bear on the question, for people; None where it
    does, or nobody asked. ``calculation`` is the one that proves it, whose operands stand in the
    supports; None of a statement that its sources say.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    supports: tuple[Support, ...]
    problem: str | None
    irrelevance: str | None = None
    calculation: Calculation | None = None

    def to_json(self) -> dict[str, Any]:
        calculated = {"calculation": self.calculation.to_json()} if self.calculation else {}
        return {
            "start": self.start,
            "end": self.end,
            "supported": self.problem is None,
            "numbers": list(self.numbers),
            "problem": self.problem,
            "relevant": self.irrelevance is None,
            "reason": self.irrelevance,
            "spans": [support.to_json() for support in self.supports],
            **calculated,
        }


@dataclass(frozen=True)
class Proof:
    """The statements of an answer, in its order; none of a refusal."""

    statements: tuple[Statement, ...]

    @property
    def ratio(self) -> float | None:
        """Supported statements by all, 0 to 1; None where there is no statement."""
        if not self.statements:
            return None
        supported = sum(statement.problem is None for statement in self.statements)
        return supported / len(self.statements)

    def support_of(self, n: int) -> Support | None:
        """The first span of source ``n`` that supports a statement; None where none does."""
        return next(iter(self._spans_of(n)), None)

    def quotes(self, n: int) -> list[str]:
        """What stands in the spans of source ``n`` that support statements, each once."""
        return list(dict.fromkeys(span.quote for span in self._spans_of(n)))

    def _spans_of(self, n: int) -> Iterator[Support]:
        for each in self.statements:
            if each.problem is None:
                yield from (span for span in each.supports if span.n == n)

    def to_json(self) -> dict[str, Any]:
        """The proof as the key ``support`` of an answer carries it; the ratio has 4 decimals."""
        ratio = None if self.ratio is None else round(self.ratio, 4)
        return {"ratio": ratio, "statements": [each.to_json() for each in self.statements]}
