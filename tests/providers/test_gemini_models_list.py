"""``GEMINI_MODEL=auto``: the rule, the list over HTTP, the file that keeps it, models that go."""

from __future__ import annotations

import json
import logging
import stat
import time
from datetime import date
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.providers.base import LanguageModel
from helix.providers.gemini import models_list as module
from helix.providers.gemini.families import AUTOMATIC
from helix.providers.gemini.llm import gemini_llm
from helix.providers.gemini.models_list import KEPT_SECONDS, best_model, listed_models
from helix.settings import Settings, load_settings
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Drop, Failure, Hang, Reply, refused_key
from tests.support.wire.gemini_rules import LISTED

TODAY = date(2026, 11, 24)
_keys = count()


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The cache directory of this test's process."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "helix" / "gemini-models.json"


@pytest.fixture
def settings(wire: GeminiWire) -> Settings:
    """The settings of a key that no test before has used."""
    return load_settings(database_url="embedded", gemini_api_key=f"AIza-listed-{next(_keys)}")


def _made(settings: Settings, model: str = "") -> LanguageModel:
    return gemini_llm(settings, model)


@pytest.mark.parametrize(
    ("models", "best"),
    [
        (LISTED, "gemini-3.5-flash-lite"),
        (["gemini-3.5-flash-lite", "gemini-3.8-flash"], "gemini-3.5-flash-lite"),
        (["gemini-3.5-flash-lite", "gemini-3.10-flash-lite"], "gemini-3.10-flash-lite"),
        (["gemini-3.5-flash-lite", "gemini-4-flash"], "gemini-4-flash"),
        (["gemini-4-flash", "gemini-4-flash-lite", "gemini-3.9-flash"], "gemini-4-flash-lite"),
        (["gemini-3.9-flash-lite-preview", "gemini-3.8-flash"], "gemini-3.8-flash"),
        (["gemini-3.8-flash-image", "gemini-3.6-flash-001", "gemini-flash-latest"], AUTOMATIC),
        (["gemini-2.5-flash", "gemini-2.5-pro"], AUTOMATIC),  # the former ends in a week
        (["gemini-4-neon", "gemini-embedding-001"], AUTOMATIC),
        ([], AUTOMATIC),
    ],
)
def test_the_best_of_a_list_by_the_rule(models: list[str], best: str) -> None:
    assert best_model(models, TODAY) == best


def test_a_model_that_ends_within_sixty_days_is_not_chosen() -> None:
    models = ["gemini-3.1-flash-lite", "gemini-2.5-flash-lite"]  # the former ends 7 May 2027
    assert best_model(models, date(2027, 3, 7)) == "gemini-3.1-flash-lite"
    assert best_model(models, date(2027, 3, 8)) == "gemini-2.5-flash-lite"


@given(st.lists(st.sampled_from([*LISTED, "gemini-4-flash", "gemini-4-flash-preview-05"])))
def test_the_order_of_a_list_does_not_matter_and_no_preview_is_chosen(models: list[str]) -> None:
    best = best_model(models, TODAY)
    assert best == best_model(reversed(models), TODAY)
    assert "preview" not in best


def test_auto_is_chosen_from_the_list_which_is_read_once_a_day(
    wire: GeminiWire, settings: Settings, cache: Path
) -> None:
    made = [_made(settings), _made(settings, "auto")]
    assert {each.identity for each in made} == {"gemini:gemini-3.5-flash-lite"}
    assert [each.title for each in made] == ["Gemini 3.5 Flash-Lite"] * 2
    assert len(wire.listings) == 1
    assert wire.listings[0].headers["x-goog-api-key"].startswith("AIza-listed")
    key = settings.gemini_api_key
    assert key is not None and key.get_secret_value() not in cache.read_text("utf-8")

    for seconds, read in ((KEPT_SECONDS - 60, 1), (KEPT_SECONDS, 2)):
        [(digest, (_, models))] = json.loads(cache.read_text("utf-8")).items()
        cache.write_text(json.dumps({digest: [time.time() - seconds, models]}), "utf-8")
        _made(settings)
        assert len(wire.listings) == read


def test_another_key_has_a_list_of_its_own(wire: GeminiWire, settings: Settings) -> None:
    _made(settings)
    _made(load_settings(database_url="embedded", gemini_api_key=f"AIza-listed-{next(_keys)}"))
    assert len(wire.listings) == 2
    _made(settings)
    assert len(wire.listings) == 2


@pytest.mark.parametrize("reply", [refused_key(), Failure(503, "UNAVAILABLE"), Drop(), Hang()])
def test_where_the_list_cannot_be_read_it_is_the_tables_own_default(
    wire: GeminiWire, settings: Settings, reply: Reply, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "LIST_SECONDS", 0.5)
    wire.script(reply, on="list")
    with caplog.at_level(logging.WARNING, logger="helix"):
        made = [_made(settings), _made(settings)]
    assert {each.identity for each in made} == {f"gemini:{AUTOMATIC}"}
    assert len(wire.listings) == 1, "who has just got none does not ask again"
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith("Gemini's list of models could not be read")


def test_without_a_way_out_it_is_the_tables_own_default(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1")
    assert _made(settings).identity == f"gemini:{AUTOMATIC}"


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"a": 1}', '{"a": [1, 2, 3]}', "\u0000"])
def test_a_spoilt_file_is_made_anew(
    wire: GeminiWire, settings: Settings, cache: Path, kept: str
) -> None:
    cache.parent.mkdir()
    cache.write_text(kept, "utf-8")
    assert listed_models(settings)
    assert len(json.loads(cache.read_text("utf-8"))) == 1


def test_a_cache_that_cannot_be_written_costs_no_start(
    wire: GeminiWire, settings: Settings, cache: Path
) -> None:
    cache.parent.parent.joinpath("helix").write_text("a file where the folder would be")
    assert listed_models(settings)
    assert stat.S_ISREG(cache.parent.stat().st_mode)


def test_a_model_that_the_key_may_not_use_is_said_to_be_gone(settings: Settings) -> None:
    there, gone = _made(settings, "gemini-4-neon"), _made(settings, "gemini-2.0-flash")
    assert there.lifetime and there.lifetime.notice(TODAY) is None
    assert gone.lifetime and gone.lifetime.notice(TODAY) == (
        "gemini-2.0-flash is not among the models that this key may use: set HELIX_LLM to"
        " gemini-3.5-flash-lite"
    )
    assert gone.lifetime.days_left(TODAY) == -1


def test_a_model_without_a_list_is_not_said_to_be_gone(
    wire: GeminiWire, settings: Settings
) -> None:
    wire.script(refused_key(), on="list")
    made = _made(settings, "gemini-2.0-flash")
    assert made.lifetime and made.lifetime.notice(TODAY) is None


@pytest.mark.parametrize(
    ("day", "notice"),
    [
        (date(2026, 10, 1), None),
        (
            date(2026, 10, 3),
            "gemini-2.5-flash ends on 1 December 2026, in 59 days: set GEMINI_MODEL to"
            " gemini-3.5-flash-lite",
        ),
        (
            date(2026, 12, 1),
            "gemini-2.5-flash ended on 1 December 2026; another model may answer, at another"
            " price: set GEMINI_MODEL to gemini-3.5-flash-lite",
        ),
    ],
)
def test_the_end_of_a_model_is_told_sixty_days_before(
    settings: Settings, day: date, notice: str | None
) -> None:
    made = _made(settings.model_copy(update={"gemini_model": "gemini-2.5-flash"}))
    assert made.lifetime and made.lifetime.notice(day) == notice
