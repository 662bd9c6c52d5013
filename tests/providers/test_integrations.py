"""Other vendors' integrations: their extras, their options, what their embedders declare."""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError
from helix.providers.base import LanguageModel
from helix.providers.factories import EMBEDDERS, LANGUAGE_MODELS, build_embedder, build_llm
from tests.support.scripted_model import Says
from tests.support.vendor_packages import (
    CHATS,
    EMBEDDINGS,
    KEY,
    LetterEmbedding,
    install,
    settings,
)


@pytest.mark.parametrize("kind", ["openai", "ollama", "huggingface"])
def test_an_embedder_whose_extra_is_missing_names_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, EMBEDDINGS[kind].module, None)  # as if not installed
    with pytest.raises(SettingsError) as caught:
        build_embedder(settings(embedder=f"{kind}:some-model"))
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)
    assert "HELIX_EMBEDDER" in str(caught.value)


def test_a_kind_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(SettingsError, match=r"HELIX_EMBEDDER names no model: .* openai:<model>"):
        build_embedder(settings(embedder="openai"))
    with pytest.raises(SettingsError, match=r"HELIX_LLM names no model: .* anthropic:<model>"):
        build_llm(settings(llm="anthropic"))


def test_every_vendor_is_found_by_its_kind() -> None:
    vendors = set(EMBEDDERS) | set(LANGUAGE_MODELS)
    assert vendors == {"gemini", "local", "offline", "server", *EMBEDDINGS, *CHATS}
    for factory in (*EMBEDDERS.values(), *LANGUAGE_MODELS.values()):
        module, _, name = factory.partition(":")
        assert callable(getattr(import_module(module), name))


@pytest.mark.parametrize(
    ("model", "gate"),
    [
        ("all-MiniLM-L6-v2", 0.537),
        ("sentence-transformers/all-MiniLM-L6-v2", 0.537),
        ("BAAI/bge-small-en-v1.5", None),
    ],
)
def test_an_installed_embedder_brings_its_identity_and_its_gate(
    monkeypatch: pytest.MonkeyPatch, model: str, gate: float | None
) -> None:
    module = EMBEDDINGS["huggingface"].module
    install(monkeypatch, module, "HuggingFaceEmbedding", LetterEmbedding)
    embedder = build_embedder(settings(embedder=f"huggingface:{model}"))
    assert embedder.identity == f"huggingface:{model}:1536"
    assert embedder.max_distance == gate
    assert len(embedder.model.get_query_embedding("abba")) == EMBEDDING_DIMENSIONS


def test_a_constructor_that_fails_is_one_line_without_the_vendors_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(**_: object) -> None:
        raise ValueError(f"bad key {KEY}")

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", refuse)
    with pytest.raises(SettingsError, match=r"cannot be set up \(ValueError\)") as caught:
        build_embedder(settings(embedder="openai:text-embedding-3-large"))
    assert KEY not in str(caught.value)


def test_openais_third_generation_is_asked_for_1536(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def embedding(**options: Any) -> LetterEmbedding:
        asked.update(options)
        return LetterEmbedding()

    install(monkeypatch, EMBEDDINGS["openai"].module, "OpenAIEmbedding", embedding)
    build_embedder(settings(embedder="openai:text-embedding-3-large"))
    assert (asked["model_name"], asked["dimensions"]) == ("text-embedding-3-large", 1536)
    asked.clear()
    build_embedder(settings(embedder="openai:text-embedding-ada-002"))
    assert "dimensions" not in asked


@pytest.mark.parametrize("kind", ["openai", "ollama", "anthropic"])
def test_a_model_whose_extra_is_missing_names_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, CHATS[kind].module, None)
    with pytest.raises(SettingsError) as caught:
        build_llm(settings(llm=f"{kind}:some-model"))
    assert f"pip install 'helix-answers[{kind}]'" in str(caught.value)
    assert "HELIX_LLM" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "most", "set_by_hand"),
    [("ollama", 3328, 500), ("anthropic", 8192, 500), ("openai", None, 500)],
)
def test_an_answer_is_bounded(kind: str, most: int | None, set_by_hand: int) -> None:
    for given, wanted in ((None, most), (set_by_hand, set_by_hand)):
        chosen = settings().model_copy(update={"answer_tokens": given})
        options = CHATS[kind].options(chosen, "some-model")
        sent = options["additional_kwargs"]["num_predict"] if kind == "ollama" else None
        assert (sent or options["max_tokens"]) == wanted


def test_ollamas_window_is_given_so_that_nobody_asks_the_server_for_it() -> None:
    def window(top_k: int) -> int:
        chosen = settings().model_copy(update={"retrieval_top_k": top_k})
        return int(CHATS["ollama"].options(chosen, "llama3")["context_window"])

    assert window(5) > 5 * 500 + 4000
    assert window(50) > 50 * 500 + 4000


def test_a_plugin_says_how_long_its_model_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model in its own process may read a long prompt for minutes."""
    made = LanguageModel(Says(said=""), "acme:slow", silence=300.0)
    plugin = SimpleNamespace(call=lambda *_: made)
    monkeypatch.setattr("helix.providers.factories.plugins", lambda _: {"acme": plugin})
    assert build_llm(settings(llm="acme:slow")).silence == 300.0
