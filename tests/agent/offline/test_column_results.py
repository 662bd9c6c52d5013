"""Operations over a column, from the file to the proven answer of the agent without a model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evals.database import ingest
from evals.suites import Suite
from helix.answering.answer import Answer
from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.scope import Scope
from helix.services import Services
from helix.settings import load_settings
from tests.support.live_server import OFFLINE
from tests.support.receipt_corpus import services

pytestmark = pytest.mark.processes

ORDERS = """Order,Customer,Country,Status,Amount (EUR)
SO-1,Lima Boats,Portugal,Shipped,1250.00
SO-2,Nord Segel,Germany,Cancelled,890.50
SO-3,Baie Bleue,France,Shipped,3120.75
SO-4,Kieler Werft,Germany,Shipped,2045.00
SO-5,Porto Mar,Portugal,Open,415.25
SO-6,Atlantic Rope,Ireland,Cancelled,77.00
"""
OTHERS = "A harbour has a keeper. " * 40
WANTED = {
    "Which order has the highest amount?":
        "SO-3, Baie Bleue: 3120.75, Amount (EUR), the highest of 6 rows [1]",
    "How many orders are cancelled?": "Order: 2 of 6 rows, Status: Cancelled [1]",
    "What is the total amount of all orders?": "Amount (EUR): 7,798.50, the sum of 6 rows [1]",
}  # fmt: skip


async def test_a_result_of_all_words_passes_however_far_its_table_is(
    database_url: str, tmp_path: Path
) -> None:
    """The distance of a table's passage from a question in few words is above the gate's."""
    folder = tmp_path / "orders"
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS)
    (folder / "harbour.txt").write_text(OTHERS)
    settings = load_settings(database_url=database_url, **{**OFFLINE, "workers": 0})
    suite = Suite("orders", tmp_path, "orders", (), "default")
    await asyncio.to_thread(ingest, settings, suite)
    async with services(database_url, retrieval_max_distance=0.1) as opened:
        for question, wanted in WANTED.items():
            answer = await _asked(opened, question)
            assert answer.text == wanted
            assert [one.status for one in answer.proof.statements] == ["borne out"]
        assert (await _asked(opened, "Which orders are late?")).abstained


async def _asked(opened: Services, question: str) -> Answer:
    asked = Question(question, Scope("default"), mode="agent")
    return await AnswerRequest(opened.answering, asked).run()
