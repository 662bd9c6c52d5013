"""TAT-QA dev: derivations given their operands, and arithmetic end to end without a model."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from evals.agent.answers import Expected, ask, faults, is_proved, states_number
from evals.database import ingest
from evals.datasets.tatqa import load_tatqa
from evals.documents.parts import FORMATS, Part, printed
from evals.documents.question_outcomes import Shelf
from evals.suites import Suite
from helix.answering.question import Mode
from helix.domain.arithmetic import NotArithmetic, evaluate, is_percentage, parse
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings

_HALF = Decimal("0.005001")
_SCALES = (1, 100, Decimal("1e-3"), Decimal("1e-6"))
"""A derivation is of the numbers as printed; the answer may be in percent, thousands, millions."""
MODES: tuple[Mode, ...] = ("answer", "agent")


@dataclass(frozen=True)
class ArithmeticQuestion:
    """A question whose answer is computed: of the table ``context``, as ``derivation`` says."""

    context: str
    text: str
    derivation: str
    expected: Expected


def load_arithmetic(data: Path) -> Iterator[ArithmeticQuestion]:
    """The questions of TAT-QA dev below the folder ``data`` that are answered by arithmetic."""
    for one in json.loads((data / "tatqa/dev.json").read_text("utf-8")):
        for question in one["questions"]:
            if question["answer_type"] == "arithmetic":
                expected = Expected(Decimal(str(question["answer"])), question["scale"])
                yield ArithmeticQuestion(
                    one["table"]["uid"], question["question"], question["derivation"], expected
                )


def derivations(data: Path) -> Part:
    """The share of derivations, operands given, that the calculator brings to the set's answer."""
    part, failed, count = Part(), [], 0
    for question in load_arithmetic(data):
        count += 1
        if not _comes_to(question):
            failed.append(f"{question.derivation} | {question.expected.value}")
    part.add("TAT-QA derivations reproduced", count - len(failed), count, failed)
    return part


def _comes_to(question: ArithmeticQuestion) -> bool:
    try:
        tree = parse(question.derivation, printed=True)
        value = evaluate(tree)
    except NotArithmetic:
        return False
    scales = (1,) if is_percentage(tree) else _SCALES
    return any(abs(value * scale - question.expected.value) <= _HALF for scale in scales)


def measure_arithmetic(settings: Settings, data: Path, every: int) -> Part:
    """The arithmetic of every Nth table, each printed and asked of its own document, both ways."""
    questions: list[tuple[str, ArithmeticQuestion]] = []
    by_context: dict[str, list[ArithmeticQuestion]] = {}
    for question in load_arithmetic(data):
        by_context.setdefault(question.context, []).append(question)
    with tempfile.TemporaryDirectory(prefix="helix-evals-agent-") as place:
        folder = Path(place, "tatqa")
        folder.mkdir()
        for number, context in enumerate(load_tatqa(data)[::every]):
            document = printed(context)
            if document is None or context.id not in by_context:
                continue
            kind, make = list(FORMATS.values())[number % len(FORMATS)]
            name = f"{number:03}.{kind}"
            (folder / name).write_bytes(make(document))
            questions += [(name, question) for question in by_context[context.id]]
        suite = Suite("agent-tatqa", Path(place), "tatqa", ())
        ingest(settings, suite)
    return asyncio.run(_ask_all(settings, suite.tenant, questions))


async def _ask_all(
    settings: Settings, tenant: str, questions: list[tuple[str, ArithmeticQuestion]]
) -> Part:
    part = Part()
    async with open_services(settings) as services:
        shelf = await Shelf.of(services, tenant)
        for mode in MODES:
            right = answered_count = proved = wrong_yet_proved = unresolved = 0
            failed = []
            for name, question in questions:
                scope = Scope(tenant, (shelf.ids[name],))
                answer = await ask(services, question.text, scope, mode)
                is_right, whole = states_number(answer, question.expected), is_proved(answer)
                right += is_right
                answered_count += not answer.abstained
                proved += is_right and whole
                computed = any(one.calculation for one in answer.proof.statements)
                wrong_yet_proved += not is_right and whole and computed
                unresolved += bool(list(faults(answer)))
                if not is_right:
                    label = " ".join(answer.text.split())[:200]
                    failed.append(f"{question.text} | {question.derivation} | {label}")
            label = f"TAT-QA arithmetic, {'agent' if mode == 'agent' else 'single search'}"
            part.add(f"{label}: right", right, len(questions), failed)
            part.add(f"{label}: right and proved", proved, len(questions))
            part.add(f"{label}: answered", answered_count, len(questions))
            part.add(
                f"{label}: no calculation that is wrong",
                len(questions) - wrong_yet_proved,
                len(questions),
            )
            part.add(
                f"{label}: markers and quotes resolve", len(questions) - unresolved, len(questions)
            )
    return part
