"""Conversations: MTRAG is read as it lies, its measures are right, and a wrong turn is told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from evals.conversations.report import ndcg, recall
from evals.conversations.searches import REWRITE, SERVED, history_of, ways_of
from evals.conversations.suite import TurnOutcome, outcomes, report
from evals.datasets.mtrag import COLLECTIONS, HUMAN, UN, load_mtrag
from helix.settings import load_settings
from tests.support.live_server import OFFLINE


def _lines(file: Path, rows: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")


def _judged(file: Path, *rows: str) -> None:
    file.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n", "utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two turns, of which one is judged by a passage that is not in the pool."""
    folder = tmp_path / "mtrag"
    said = [("user", "What is a kettle?"), ("agent", "A pot."), ("user", "Who makes it?")]
    task = {
        "task_id": "a<::>2", "answerability": ["ANSWERABLE"],
        "contexts": [{"document_id": "p1", "text": "Kettles are pots."}],
        "input": [{"speaker": speaker, "text": text} for speaker, text in said],
    }  # fmt: skip
    _lines(folder / "un_reference.jsonl", [task])
    rated = {"documents": [{"document_id": "p2", "text": "Anna makes kettles."}]}
    (folder / "human_ratings.json").write_text(json.dumps(rated), "utf-8")
    for name in COLLECTIONS:
        below = folder / "retrieval" / name
        first = name == COLLECTIONS[0]
        told = "|user|: What is a kettle?\n|user|: Who makes it?"
        rows = [{"_id": "b<::>2", "text": told}] if first else []
        _lines(below / f"{name}_questions.jsonl", rows)
        _lines(below / f"{name}_rewrite.jsonl", [{**row, "text": "|user|: Who?"} for row in rows])
        _judged(below / "un_qrels.tsv", *(["a<::>2\tp2\t1"] if first else []))
        _judged(below / "qrels.tsv", *(["b<::>2\tp1\t1", "c<::>1\tp9\t1"] if first else []))
    return tmp_path


def test_turns_are_read_with_what_came_before_and_complete_judgements(data: Path) -> None:
    passages, turns = load_mtrag(data)
    assert [document.text for document in passages.documents] == [
        "Kettles are pots.", "Anna makes kettles."
    ]  # fmt: skip
    un, human = turns
    assert (un.source, un.kind, un.relevant, un.conversation) == (
        UN, "answerable", frozenset({1}), "a"
    )  # fmt: skip
    assert (human.source, human.relevant, human.rewrite) == (HUMAN, frozenset({0}), "Who?")
    assert un.asked == human.asked == ("What is a kettle?", "Who makes it?")
    assert [turn.answer for turn in history_of(un).turns] == ["A pot."]
    assert ways_of(un)[SERVED].terms and REWRITE not in ways_of(un) and REWRITE in ways_of(human)


def test_measures_count_the_first_five_places() -> None:
    assert recall([9, 1, 8, 7, 6, 2], frozenset({1, 2})) == 0.5
    assert ndcg([1, 2, 9], frozenset({1, 2})) == 1.0
    assert ndcg([9, 1], frozenset({1})) == pytest.approx(0.63093, abs=1e-5)


async def test_a_turn_that_goes_wrong_is_told(database_url: str) -> None:
    settings = load_settings(database_url=database_url, **{**OFFLINE, "workers": 0})
    found = await outcomes(settings)  # nothing is stored: what must be answered is not
    assert {"reason is no_documents"} <= {fault for one in found for fault in one.faults}
    right = [one for one in found if not one.faults]
    assert [one.question for one in right] == ["Great, thank you!", "Thanks!"]
    wrong = TurnOutcome("c", "Why?", ["is standalone, not dependent"])
    told = list(report([right[0], wrong, TurnOutcome("c", "When?", ["refused"], known=True)]))
    assert told == [
        "1 of 3 turns of conversations over samples/ are right",
        "- c: Why? (is standalone, not dependent)",
        "- c: When? (refused, known)",
    ]
