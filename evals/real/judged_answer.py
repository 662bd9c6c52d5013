"""The counts of one answer of a real run."""

from __future__ import annotations

from dataclasses import dataclass

from evals.real.answers import KeptAnswer
from evals.real.questions import RealQuestion
from helix.answering.answer import Answer
from helix.answering.proof import Statement


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer to ``question`` as it was ``kept``, and as the reader gets it.

    ``answer`` is None where it failed.
    """

    question: RealQuestion
    kept: KeptAnswer
    answer: Answer | None

    @property
    def failed(self) -> bool:
        """True where the answer broke off."""
        return self.answer is None

    @property
    def answered(self) -> bool:
        """True where something was answered, and whole."""
        return self.answer is not None and not self.answer.abstained

    @property
    def is_right(self) -> bool:
        """True where the answer is right, by the question's own rule."""
        if self.answer is None:
            return False
        return self.question.is_right(self.answer.text, abstained=self.answer.abstained)

    @property
    def cites(self) -> bool:
        """True where the answerer itself cites a source."""
        return any(one["by"] == "model" for one in self.answer.citations) if self.answer else False

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements of what was answered."""
        return self.answer.proof.statements if self.answer else ()


def is_marked(statement: Statement) -> bool:
    """True where the answerer itself put a marker to the statement."""
    return bool(statement.numbers) and not statement.by_proof


def is_proved(statement: Statement) -> bool:
    """True where the sources bear the statement out, whoever named them."""
    return statement.problem is None


def is_proved_as_marked(statement: Statement) -> bool:
    """True where the sources that the answerer itself named bear the statement out."""
    return is_proved(statement) and is_marked(statement)
