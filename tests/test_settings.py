"""Settings: each bad value stops with one line that names the variable and how to set it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Literal, get_args, get_origin

import pytest
from pydantic import ValidationError

from helix.domain.retrieval import Fusion
from helix.errors import SettingsError
from helix.retrieval.vector_space import fusion_of
from helix.settings import HOW, Settings, bounds_of, load_settings, variable_of
from pipelines.files.recipe import RECIPE, ChunkSizes
from tests.support.fake_embedder import word_embedder
from tests.support.repository import ROOT

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
    assert settings.gemini_model == "auto"
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
        ("DATABASE_REPLICA_URLS", "embedded"),
        ("DATABASE_REPLICA_URLS", "postgresql://h/d,postgresql://u:hunter2@h:port/d"),
        ("DATABASE_POOLER_URL", "u:hunter2@h:6432/d"),
        ("GEMINI_API_KEY", ""),
        ("GEMINI_API_KEY", "   "),
        ("GEMINI_MODEL", "two words"),
        ("RETRIEVAL_MAX_DISTANCE", "near"),
        ("RETRIEVAL_MAX_DISTANCE", "-0.1"),
        ("RETRIEVAL_MAX_DISTANCE", "2.1"),
        ("RETRIEVAL_MAX_DISTANCE", "nan"),
        ("RETRIEVAL_TOP_K", "0"),
        ("K_VEC", "0"),
        ("RRF_K", "sixty"),
        ("CHUNK_TARGET_TOKENS", "10"),
        ("HELIX_LLM", "Gemini!"),
        ("HELIX_EMBEDDER", "a b"),
        ("HELIX_POOL_SIZE", "many"),
        ("HELIX_CORS_ORIGINS", "example.com"),
        ("HELIX_CORS_ORIGINS", "*,https://a.example/path"),
        ("HELIX_ALLOW_HOSTS", "a.example,b/c"),
        ("HELIX_GUARDS", "injection,none"),
        ("HELIX_JUDGE", "two words"),
        ("HELIX_LOG_LEVEL", "loud"),
        ("HELIX_MODEL_SERVER", "http://[::1/v1"),
        ("HELIX_SERVER", "http://localhost:99999"),
        ("HELIX_MODEL_TIMEOUT", "0"),
        ("HELIX_RETRIEVAL", "sparse"),
        ("HELIX_FUSION", "1.5"),
        ("HELIX_EF_SEARCH", "5"),
        ("HELIX_OFFLINE_RISK", "1"),
        ("HELIX_OIDC", "[1]"),
        ("HELIX_OIDC", '[{"name": "corp"}]'),
        ("HELIX_OIDC", '[{"name": []}]'),
        ("HELIX_MAX_FILE_MB", "0"),
        ("HELIX_MAX_QUESTION_CHARS", "0"),
        ("HELIX_SIGNING_KEY", "hunter2"),
        ("HELIX_SECRETS_KEY", f"{'0' * 64},hunter2"),
        ("HELIX_SOURCE_READERS", "os.system"),
    ],
)
def test_one_line_names_the_variable(
    environment: pytest.MonkeyPatch, name: str, value: str
) -> None:
    environment.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    told = str(caught.value)
    problem = "malformed" if value.strip() else "not set"
    assert told.startswith(f"{name} is {problem}: ") and HOW[name] in told
    assert "\n" not in told and "hunter2" not in told and not told.endswith("set it to ")


def test_a_missing_variable_that_is_set_under_another_name_is_told(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.delenv("DATABASE_URL")
    environment.setenv("helix_database_url", "embedded:/secret")
    told = "DATABASE_URL is not set (HELIX_DATABASE_URL is no setting): set it to postgresql://"
    with pytest.raises(SettingsError, match=f"^{re.escape(told)}") as caught:
        load_settings()
    assert "secret" not in str(caught.value)


def test_lists_are_split_and_checked(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("HELIX_ALLOW_HOSTS", "Wiki.Example, [::1]")
    environment.setenv("HELIX_CORS_ORIGINS", "https://a.example , *")
    environment.setenv("HELIX_GUARDS", " Verdict,hygiene")
    settings = load_settings()
    assert settings.allow_hosts == ("wiki.example", "[::1]")
    assert settings.cors_origins == ("https://a.example", "*")
    assert settings.guards == ("verdict", "hygiene")
    environment.setenv("DATABASE_REPLICA_URLS", "postgresql://a:1,b:2/d, postgres://c/d")
    urls = [url.get_secret_value() for url in load_settings().database_replica_urls]
    assert urls == ["postgresql://a:1,b:2/d", "postgres://c/d"]
    environment.setenv("HELIX_GUARDS", "None")
    assert load_settings().guards == ()


def test_a_chunk_repeats_half_of_itself_at_most(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CHUNK_TARGET_TOKENS", "80")
    with pytest.raises(
        SettingsError, match=r"^CHUNK_OVERLAP_TOKENS is 50, .* set it to 40 or less$"
    ):
        load_settings()
    environment.setenv("CHUNK_OVERLAP_TOKENS", "40")
    settings = load_settings()
    assert (settings.chunk_target_tokens, settings.chunk_overlap_tokens) == (80, 40)


def test_the_usual_numbers_of_search_and_chunks_are_those_of_the_code(
    environment: pytest.MonkeyPatch,
) -> None:
    environment.setenv("HELIX_FUSION", "rrf")
    settings = load_settings()
    assert fusion_of(settings, word_embedder()) == Fusion(None)
    assert ChunkSizes.of(settings) == ChunkSizes() and ChunkSizes().recipe == RECIPE
    for name, value in (("K_VEC", "7"), ("K_FTS", "9"), ("RRF_K", "11")):
        environment.setenv(name, value)
    assert fusion_of(load_settings(), word_embedder()) == Fusion(None, 11, near=7, by_words=9)


def test_no_key_is_needed_offline(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("GEMINI_API_KEY")
    environment.setenv("HELIX_LLM", "offline")
    environment.setenv("HELIX_EMBEDDER", "offline")
    assert load_settings().gemini_api_key is None


VARIABLES = {variable_of(name, field): field for name, field in Settings.model_fields.items()}


def _written(value: object) -> str:
    """A default as it is written in an environment."""
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, bool | float) else str(value)


@cache
def _documented() -> dict[str, tuple[str, str]]:
    """Default and meaning of each variable of docs/settings.md, which has each once."""
    rows = re.findall(r"^\| (`[A-Z].*?) \| (.*?) \| (.*) \|$", _text("docs/settings.md"), re.M)
    found = [(name, row[1:]) for row in rows for name in re.findall(r"`(\w+)`", row[0])]
    assert len(found) == len(dict(found))
    return dict(found)


@cache
def _examples() -> dict[str, tuple[str, str]]:
    """Value and comment of each variable of .env.example, the last of them where it has two."""
    lines = re.findall(r"^(?:# )?([A-Z_]+)=(\S*)(?: +# (.*))?$", _text(".env.example"), re.M)
    return {name: (value, comment) for name, value, comment in lines}


def _text(path: str) -> str:
    return (ROOT / path).read_text()


@pytest.mark.parametrize("place", [_documented, _examples])
def test_every_variable_is_documented_and_no_other(
    place: Callable[[], dict[str, tuple[str, str]]],
) -> None:
    assert set(place()) == set(VARIABLES) == set(HOW)


def test_the_documented_default_is_the_default() -> None:
    for variable, field in VARIABLES.items():
        default = field.default
        documented, example = _documented()[variable][0], _examples()[variable][0]
        if default is None or field.is_required():
            assert re.match(r"required|none|as |`[\d.]+` with ", documented), variable
        else:
            assert documented == (f"`{_written(default)}`" if default != () else "none"), variable
            assert example == _written(default), variable


def test_bounds_and_choices_are_documented() -> None:
    for variable, field in VARIABLES.items():
        bounds, told = bounds_of(field), " ".join(_documented()[variable])
        comment, needed = " ".join(_examples()[variable]), []
        if bounds:
            needed = [f"{bounds[0]} to {bounds[1]}"]
        elif get_origin(field.annotation) is Literal:
            needed = [*get_args(field.annotation)]
            assert all(f"`{choice}`" in told for choice in needed), variable
        for each in needed:
            assert each in told and each in comment and each in HOW[variable], (variable, each)


def test_every_example_is_a_value_that_is_taken(environment: pytest.MonkeyPatch) -> None:
    for name, (value, _) in _examples().items():
        if value:
            environment.setenv(name, value)
    assert load_settings().retrieval_max_distance == 0.55


def test_the_example_as_it_stands_needs_no_key(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("GEMINI_API_KEY")
    for name, value in re.findall(r"^(\w+)=(.*)$", _text(".env.example"), re.M):
        environment.setenv(name, value)
    settings = load_settings()
    assert (settings.database_url, settings.llm, settings.embedder) == (
        "embedded", "offline", "offline",
    )  # fmt: skip
