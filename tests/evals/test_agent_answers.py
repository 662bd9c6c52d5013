"""Properties of every answer of the agent without a model, over questions from samples/."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from evals.agent.answers import ask, faults
from evals.agent.cases import SUITE, load_tool_cases
from evals.database import ingest
from helix.answering.answer import Answer
from helix.domain.citations import marker_numbers
from helix.domain.contract import REFUSAL
from helix.domain.scope import Scope
from helix.services import open_services
from helix.settings import Settings, load_settings
from tests.support.fake_embedder import rows
from tests.support.live_server import OFFLINE

THINGS = (
    "total revenue", "cost of sales", "gross profit", "operating profit", "inventories",
    "flow sensors", "services", "finance costs", "income tax", "profit before tax",
    "research and development", "sales and marketing", "employees", "the Norway allowance",
    "the monthly price of Forest", "refunds for gift cards", "parental leave", "the moon of Zed",
)  # fmt: skip
FORMS = (
    "What is the percentage change in {0} from 2024 to 2025?",
    "What was the change in {0} between 2024 and 2025?",
    "How much did {0} decrease by from 2024 to 2025?",
    "What is the average of {0} for 2024 and 2025?",
    "What are {0} as a percentage of {1} in 2025?",
    "What share of {1} came from {0} in 2024?",
    "What is the difference between {0} and {1} in 2025?",
    "What is the ratio of {0} to {1} in 2024?",
    "Compare {0} and {1}.",
    "What is said of {0}, and what of {1}?",
    "How have {0} changed over time?",
    "What is {0}?",
)


@pytest.fixture(scope="module")
def settings(module_durable_database_url: str) -> Settings:
    """A database that has the samples."""
    made = load_settings(database_url=module_durable_database_url, **{**OFFLINE, "workers": 0})
    ingest(made, SUITE)
    return made


def questions(count: int) -> Iterator[str]:
    """The tool cases, then drawn ones."""
    draw = random.Random(3)
    cases = [case.question for case in load_tool_cases()]
    draw.shuffle(cases)
    yield from cases[: count // 3]
    for _ in range(count - min(len(cases), count // 3)):
        yield draw.choice(FORMS).format(*draw.sample(THINGS, 2))


def check(answer: Answer, texts: dict[int, str]) -> None:
    """Markers are of the ledger, quotes the stored bytes, sentences proved or marked."""
    assert list(faults(answer)) == []
    sources = answer.retrieval.sources
    assert set(marker_numbers(answer.text)) <= set(range(1, len(sources) + 1))
    for each in answer.citations:
        if each["quote"] is not None and each["document_id"] is not None:
            start, end = each["start"], each["end"]
            stored = texts[each["document_id"]].encode()
            assert stored.decode()[start:end].encode() == each["quote"].encode()
    for statement in answer.proof.statements:
        assert (statement.problem is None) == bool(statement.supports)
        assert statement.calculation is None or statement.calculation.holds()
        for one in statement.calculation.operands if statement.calculation else ():
            assert one is None or texts[one.document_id][one.start : one.end] == one.quote
    if answer.abstained:
        assert answer.text == REFUSAL and answer.citations == []


async def check_answers(settings: Settings, count: int) -> Counter[str]:
    """The number of answers of each kind, all of them checked."""
    found = rows(settings.database_url, "SELECT id, text FROM documents")
    texts, kinds = dict(found), Counter[str]()
    async with open_services(settings) as services:
        for question in questions(count):
            answer = await ask(services, question, Scope(SUITE.tenant), "agent")
            check(answer, texts)
            statements = answer.proof.statements
            kinds["refused" if answer.abstained else "answered"] += 1
            kinds["computed"] += any(one.calculation for one in statements)
            kinds["sentences"] += len(statements)
            kinds["unproven, marked"] += sum(one.problem is not None for one in statements)
            kinds["quotes"] += sum(each["quote"] is not None for each in answer.citations)
    assert kinds["answered"] + kinds["refused"] == count
    return kinds


async def test_every_answer_is_of_its_ledger_and_of_stored_bytes(settings: Settings) -> None:
    kinds = await check_answers(settings, 15)
    assert kinds["answered"] >= 7 and kinds["computed"] >= 2 and kinds["refused"]


@pytest.mark.soak
@pytest.mark.timeout(1800)
async def test_a_thousand_answers_are_of_their_ledgers_and_of_stored_bytes(
    settings: Settings, record_property: Callable[[str, object], None]
) -> None:
    kinds = await check_answers(settings, 1000)
    record_property("kinds", dict(kinds))
    assert kinds["answered"] >= 500 and kinds["computed"] >= 150 and kinds["refused"]
