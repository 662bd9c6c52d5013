"""The choice of a judge, and a model as judge."""

from __future__ import annotations

from typing import Any

import pytest

from evals.judges import judge_name, model_judge
from evals.metrics.alce import CitationScores
from helix.domain.contract import Verdict
from helix.errors import SettingsError
from helix.settings import load_settings
from tests.support.whole_sources import SOURCES
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

KEY = "AIza-not-a-real-key-0123456789"


@pytest.mark.parametrize(
    ("changes", "asked", "name"),
    [
        ({"llm": "offline"}, None, "offline"),
        ({"llm": "gemini", "gemini_api_key": KEY}, None, "gemini"),
        ({"llm": "offline", "gemini_api_key": KEY}, None, "gemini"),
        ({"llm": "gemini", "gemini_api_key": KEY}, "offline", "offline"),
        ({"llm": "offline", "judge": "openai:x"}, "model", "openai:x"),
    ],
)
def test_who_judges(changes: dict[str, Any], asked: str | None, name: str) -> None:
    settings = load_settings(database_url="embedded", embedder="offline", **changes)
    assert judge_name(settings, asked) == name


def test_without_a_model_none_can_be_asked_to_judge() -> None:
    settings = load_settings(database_url="embedded", embedder="offline", llm="offline")
    with pytest.raises(SettingsError, match="set GEMINI_API_KEY, or HELIX_JUDGE"):
        judge_name(settings, "model")


VERDICT = Verdict(
    grounded=True, unsupported_claims=[], cited_ids=[1], citations_correct=True, relevant=True
)


async def test_a_model_judges_and_unreadable_replies_are_counted(wire: GeminiWire) -> None:
    settings = load_settings(
        database_url="embedded", llm="offline", embedder="offline", gemini_api_key=KEY
    )
    judge, llm = model_judge(settings, "gemini")
    answer = "Refunds are accepted within 30 days of purchase. [1] Parcels get lost. [2]"
    # faithful, relevant, then each statement by what it cites, then the verdict
    replies = ("YES", "It is, yes.", "YES", "NO", VERDICT.model_dump_json())
    wire.script(*(Answer(deltas=(reply,)) for reply in replies), on="generate")
    try:
        judgement = await judge.judge("How long?", answer, SOURCES)
    finally:
        await llm.aclose()
    assert (judge.name, len(wire.received("generate"))) == ("gemini:gemini-3.5-flash-lite", 5)
    assert (judgement.faithful, judgement.relevant, judgement.unreadable) == (True, False, 1)
    assert judgement.citations == CitationScores(0.5, 0.5)
    assert judgement.verdict is not None and judgement.verdict.grounded
