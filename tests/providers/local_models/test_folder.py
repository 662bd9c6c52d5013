"""The folder of fetched models: names, origins, removal."""

from __future__ import annotations

from pathlib import Path

import pytest

from helix.errors import NotFound, SettingsError
from helix.providers.local_models.folder import (
    Origin,
    fetched,
    model_file,
    models_folder,
    note_origin,
    origin_of,
    remove,
)

ORIGIN = Origin("owner/name", "c0ffee", "a.gguf", "huggingface.co", "apache-2.0", "ab" * 32, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.gguf", "b.gguf", "c.txt"):
        (tmp_path / name).write_text("abc")
    return tmp_path


def test_models_are_found_by_path_and_by_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = folder / "elsewhere"
    assert model_file(str(folder / "a.gguf"), elsewhere) == folder / "a.gguf"
    assert model_file("a.gguf", folder) == model_file("a", folder) == folder / "a.gguf"
    monkeypatch.chdir(folder)
    assert model_file("b.gguf", elsewhere) == folder / "b.gguf"


@pytest.mark.parametrize("name", ["missing", "deep/a.gguf", "~nobody-here/a.gguf", "."])
def test_a_name_of_nothing_says_what_to_do(folder: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="`helix model pull` fetches one"):
        model_file(name, folder)


def test_an_origin_is_kept_beside_the_file_and_goes_with_it(folder: Path) -> None:
    note_origin(folder / "a.gguf", ORIGIN)
    assert origin_of(folder / "a.gguf") == ORIGIN
    assert origin_of(folder / "b.gguf") is None
    assert [file.name for file in fetched(folder)] == ["a.gguf", "b.gguf"]
    assert remove(folder, "a") == folder / "a.gguf"
    assert sorted(file.name for file in folder.iterdir()) == ["b.gguf", "c.txt"]
    with pytest.raises(NotFound, match=r"no model is named a in .*; there: b\.gguf"):
        remove(folder, "a")


@pytest.mark.parametrize("text", ["", "[]", '{"repository": "x"}'])
def test_a_damaged_origin_is_none(folder: Path, text: str) -> None:
    (folder / "a.gguf.json").write_text(text)
    assert origin_of(folder / "a.gguf") is None


def test_the_folder_is_the_settings_else_the_users_own(folder: Path) -> None:
    assert models_folder(str(folder)) == folder
    assert models_folder().parts[-2:] == ("helix", "models")
