"""Settings: each bad value stops with one line that names the variable and how to set it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from helix.errors import SettingsError
from helix.settings import HOW, Settings, load_settings

GOOD = {"DATABASE_URL": "embedded", "GEMINI_API_KEY": "secret-key"}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> pytest.MonkeyPatch:
    monkeypatch.chdir(str(tmp_path))  # away from any .env
    for name in HOW:
        monkeypatch.delenv(name, raising=False)
    for name, value in GOOD.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_defaults(environment: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    assert (settings.llm, settings.embedder) == ("gemini", "gemini")
    assert settings.gemini_model == "gemini-2.5-flash"
    assert settings.embed_model == "gemini-embedding-001"
    assert settings.retrieval_max_distance is None
    assert settings.retrieval_top_k == 5


def test_frozen_and_silent_about_the_key(environment: pytest.MonkeyPatch) -> None:
    settings = load_settings()
    assert "secret-key" not in repr(settings) + str(settings)
    with pytest.raises(ValidationError):
        settings.llm = "offline"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", ""),
        ("DATABASE_URL", "mysql://u:hunter2@h/d"),
        ("DATABASE_URL", "embeddedx"),
        ("DATABASE_URL", "postgresql://u:hunter2@h:port/d"),
        ("DATABASE_URL", "postgresql://"),
        ("GEMINI_API_KEY", ""),
        ("GEMINI_API_KEY", "   "),
        ("GEMINI_MODEL", "two words"),
        ("RETRIEVAL_MAX_DISTANCE", "near"),
        ("RETRIEVAL_MAX_DISTANCE", "-0.1"),
        ("RETRIEVAL_MAX_DISTANCE", "2.1"),
        ("RETRIEVAL_MAX_DISTANCE", "nan"),
        ("RETRIEVAL_TOP_K", "0"),
        ("HELIX_LLM", "Gemini!"),
        ("HELIX_EMBEDDER", "a b"),
        ("HELIX_POOL_SIZE", "many"),
        ("HELIX_CORS_ORIGINS", "example.com"),
        ("HELIX_LOG_LEVEL", "loud"),
        ("HELIX_MODEL_TIMEOUT", "0"),
        ("HELIX_RETRIEVAL", "sparse"),
        ("HELIX_FUSION", "1.5"),
        ("HELIX_EF_SEARCH", "5"),
        ("HELIX_MAX_FILE_MB", "0"),
        ("HELIX_MAX_QUESTION_CHARS", "0"),
    ],
)
def test_one_line_names_the_variable(
    environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    told = str(caught.value)
    assert told.startswith(f"{name} is ") and HOW[name] in told
    assert "\n" not in told and "hunter2" not in told


def test_no_key_is_needed_offline(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("GEMINI_API_KEY")
    environment.setenv("HELIX_LLM", "offline")
    environment.setenv("HELIX_EMBEDDER", "offline")
    assert load_settings().gemini_api_key is None


def test_every_variable_has_a_how(environment: pytest.MonkeyPatch) -> None:
    names = {(field.alias or name).upper() for name, field in Settings.model_fields.items()}
    assert names == set(HOW)
