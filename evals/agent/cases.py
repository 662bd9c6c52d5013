"""Tool cases over ``samples/``: which tools are called, what is cited, what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.agent.answers import ask, faults
from evals.database import ingest
from evals.suites import ROOT, Suite
from helix.answering.answer import Answer
from helix.domain.scope import Scope
from helix.services import Services, open_services
from helix.settings import Settings

CASES = Path(__file__).with_name("cases.json")
SUITE = Suite("agent", ROOT, "samples", ())
_SOURCES = """
SELECT row_to_json(x) FROM (SELECT id, source_uri FROM documents WHERE tenant_id = %(tenant)s) x
"""


@dataclass(frozen=True)
class ToolCase:
    """A question with the tools that have to be called for it, in the order of their first calls.

    ``sources`` are the files that have to be cited, and no others; ``says`` is what the answer has
    to have. ``refused``: it has to be the refusal. ``calculated``: a calculation has to prove it.
    """

    id: str
    question: str
    tools: tuple[str, ...]
    sources: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    refused: bool = False
    calculated: bool = False

    @classmethod
    def of_json(cls, payload: dict[str, Any]) -> ToolCase:
        """A case as the file has it."""
        lists = ("tools", "sources", "says")
        fields: dict[str, Any] = {
            key: tuple(value) if key in lists else value for key, value in payload.items()
        }
        return cls(**fields)


@dataclass(frozen=True)
class CaseOutcome:
    """A case, and what is wrong with its answer; nothing where it is right."""

    case: ToolCase
    faults: tuple[str, ...]


def load_tool_cases() -> list[ToolCase]:
    """The cases of CASES."""
    return [ToolCase.of_json(one) for one in json.loads(CASES.read_text("utf-8"))]


async def run_cases(settings: Settings) -> list[CaseOutcome]:
    """Store ``samples/`` and ask every case of the agent."""
    await asyncio.to_thread(ingest, settings, SUITE)  # it runs a loop of its own
    async with open_services(settings) as services:
        return await outcomes(services, load_tool_cases())


async def outcomes(services: Services, cases: Sequence[ToolCase]) -> list[CaseOutcome]:
    """The cases asked of the samples, which are stored."""
    rows = await services.library.of(SUITE.tenant).rows(_SOURCES, {})
    names = {row["id"]: row["source_uri"].rpartition("/")[2] for row in rows}
    case_outcomes = []
    for case in cases:
        answer = await ask(services, case.question, Scope(SUITE.tenant), "agent")
        wrong = (*_wrong(case, answer, names), *faults(answer))
        case_outcomes.append(CaseOutcome(case, tuple(wrong)))
    return case_outcomes


def _wrong(case: ToolCase, answer: Answer, names: dict[int, str]) -> Iterator[str]:
    gathered = answer.retrieval.gathered
    tools_called = tuple(dict.fromkeys(call.name for call in gathered.calls)) if gathered else ()
    if tools_called != case.tools:
        yield f"calls {', '.join(tools_called) or 'nothing'}"
    cited = {names[number] for number in answer.cited_documents}
    if cited != set(case.sources):
        yield f"cites {', '.join(sorted(cited)) or 'nothing'}"
    yield from (
        f"does not say {text!r}: {answer.text}" for text in case.says if text not in answer.text
    )
    if answer.abstained != case.refused:
        yield "is refused" if answer.abstained else f"is answered: {answer.text}"
    computed = [one for one in answer.proof.statements if one.calculation]
    if case.calculated != bool(computed):
        yield "no calculation proves it" if case.calculated else "is computed"
