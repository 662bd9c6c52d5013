"""The names of models for people."""

from __future__ import annotations

import pytest

from helix.providers.base import LanguageModel
from helix.providers.factories import build_llm
from helix.providers.gemini.families import gemini_title
from helix.providers.offline.answerer import OfflineLLM
from helix.settings import Settings


@pytest.mark.parametrize(
    ("model", "title"),
    [
        ("gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite"),
        ("models/gemini-2.5-flash", "Gemini 2.5 Flash"),
        ("gemini-4-hydrogen", "Gemini 4 Hydrogen"),
        ("learnlm-2.0", "learnlm-2.0"),
    ],
)
def test_a_gemini_id_is_written_as_google_writes_its_name(model: str, title: str) -> None:
    assert gemini_title(model) == title


@pytest.mark.parametrize(
    ("name", "title", "quotes_only"),
    [
        ("gemini:gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", False),
        ("openai:gpt-4o-mini", "gpt-4o-mini", False),
        ("offline", "No model: quotes only", True),
    ],
)
def test_every_built_model_has_a_title(
    monkeypatch: pytest.MonkeyPatch, name: str, title: str, quotes_only: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    settings = Settings(
        database_url="embedded", llm=name, embedder="offline", gemini_api_key="a-key"
    )

    llm = build_llm(settings)

    assert (llm.title, llm.quotes_only) == (title, quotes_only)


def test_a_model_without_a_title_is_named_by_its_identity() -> None:
    assert LanguageModel(OfflineLLM(), "scripted:one").title == "scripted:one"
