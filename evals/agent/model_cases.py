"""A dozen questions for the agent of a real model: sums, the time, look-ups, two documents.

    HELIX_LLM=server:NAME HELIX_MODEL_SERVER=http://127.0.0.1:8080/v1 HELIX_EMBEDDER=offline \\
        python -m evals.agent --model-cases

What is counted is what a model decides: whether the right tool was called, and the answer is right,
cited and borne out.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals.agent.answers import ask, is_proved
from evals.agent.cases import SUITE
from helix.answering.answer import Answer
from helix.domain.scope import Scope
from helix.errors import HelixError
from helix.services import Services

CASES = Path(__file__).with_name("model_cases.json")
MEASURES = ("called", "right", "cited", "borne out")


@dataclass(frozen=True)
class ModelCase:
    """A question, and what its answer needs.

    ``tool`` has to be called, among others. ``says``: one of these texts has to be in the answer; a
    format of ``strftime`` stands for the time of the answer, in UTC. ``sources`` counts the
    documents that have to be cited. ``refused``: the answer has to be the refusal.
    """

    id: str
    question: str
    tool: str
    says: tuple[str, ...] = ()
    sources: int = 0
    refused: bool = False


@dataclass(frozen=True)
class ModelOutcome:
    """A case with its answer: which of MEASURES hold, its text or error, and its seconds."""

    case: ModelCase
    held: frozenset[str]
    text: str
    seconds: float

    @property
    def line(self) -> str:
        """The outcome for people."""
        missing = [one for one in MEASURES if one not in self.held]
        said = " ".join(self.text.split())[:160]
        return f"{self.case.id}, {self.seconds:.0f} s: {', '.join(missing) or 'right'}: {said}"


def load_model_cases() -> list[ModelCase]:
    """The cases of CASES."""
    rows = json.loads(CASES.read_text("utf-8"))
    return [ModelCase(**row | {"says": tuple(row.get("says", ()))}) for row in rows]


async def model_outcomes(
    services: Services, cases: Sequence[ModelCase] | None = None
) -> AsyncIterator[ModelOutcome]:
    """Each case asked of the samples, which are stored (evals.database.ingest of SUITE)."""
    for case in load_model_cases() if cases is None else cases:
        began = time.perf_counter()
        try:
            answer = await ask(services, case.question, Scope(SUITE.tenant), "agent")
        except HelixError as error:
            yield ModelOutcome(case, frozenset(), str(error), time.perf_counter() - began)
            continue
        seconds = time.perf_counter() - began
        yield ModelOutcome(case, held(case, answer), answer.text, seconds)


def held(case: ModelCase, answer: Answer, now: datetime | None = None) -> frozenset[str]:
    """The MEASURES that an answer holds; a due refusal needs neither citation nor proof."""
    gathered = answer.retrieval.gathered
    called = {call.name for call in gathered.calls if not call.failure} if gathered else set()
    found = {"called"} if case.tool in called else set[str]()
    if case.refused:
        return frozenset(found | ({"right", "cited", "borne out"} if answer.abstained else set()))
    if answer.abstained:
        return frozenset(found)
    moment = now or datetime.now(UTC)
    texts = [when.strftime(one) for one in case.says for when in (moment, moment - _MINUTE)]
    if any(_says(answer.text, text) for text in texts):
        found.add("right")
    if answer.citations and len(answer.cited_documents) >= case.sources:
        found.add("cited")
    if is_proved(answer):
        found.add("borne out")
    return frozenset(found)


def _says(answer: str, text: str) -> bool:
    """True where an answer has a text, and not as a part of a longer number or word."""
    return bool(re.search(rf"(?<![\w.,:]){re.escape(text)}(?!\w|[.,:]\d)", answer))


_MINUTE = timedelta(minutes=1)


def table(outcomes: Sequence[ModelOutcome]) -> list[str]:
    """The number of outcomes that hold each measure, as rows of a table."""
    count = len(outcomes)
    return [
        f"| agent: {measure} | {sum(measure in one.held for one in outcomes)} of {count} |"
        for measure in MEASURES
    ]
