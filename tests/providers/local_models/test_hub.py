"""Fetching a model from a hub on loopback, by the real client: whole, resumed, checked, refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from helix.errors import BadRequest, HelixError, NotFound, SettingsError, Unavailable
from helix.providers.local_models.folder import origin_of
from helix.providers.local_models.hub import fetch, named, offered
from tests.support.model_hub import COMMIT, REPOSITORY, ModelHub, model_hub, sha256

CONTENT = os.urandom(3_000_000)
FILES = {
    "README.md": b"words",
    "some-model-Q8_0.gguf": b"large",
    "some-model-Q4_K_M.gguf": CONTENT,
    "mmproj-some-model-Q4_K_M.gguf": b"eyes",
    "big-Q4_K_M-00001-of-00002.gguf": b"part",
    "deep/some-model-Q2_K.gguf": b"small",
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelHub]:
    with model_hub(FILES) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def test_the_usual_quantization_is_taken_and_checked(hub: ModelHub, tmp_path: Path) -> None:
    origin = offered(REPOSITORY)
    assert (origin.file, origin.licence) == ("some-model-Q4_K_M.gguf", "apache-2.0")
    assert (origin.host, origin.commit) == ("127.0.0.1", COMMIT)
    assert (origin.sha256, origin.size) == (sha256(CONTENT), len(CONTENT))
    path = fetch(origin, tmp_path)
    assert path == tmp_path / "some-model-Q4_K_M.gguf"
    assert path.read_bytes() == CONTENT and origin_of(path) == origin
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, f"{path.name}.json"]
    asked = len(hub.asked)
    assert fetch(origin, tmp_path) == path and len(hub.asked) == asked


@pytest.mark.parametrize(
    ("wanted", "file"),
    [
        ("q8", "some-model-Q8_0.gguf"),
        ("some-model-Q8_0.gguf", "some-model-Q8_0.gguf"),
        ("Q2_K", "deep/some-model-Q2_K.gguf"),
    ],
)
def test_a_file_is_named_by_a_part_of_its_name(hub: ModelHub, wanted: str, file: str) -> None:
    assert offered(REPOSITORY, wanted).file == file


def test_a_file_of_a_folder_lies_flat(hub: ModelHub, tmp_path: Path) -> None:
    assert fetch(offered(REPOSITORY, "Q2_K"), tmp_path).name == "some-model-Q2_K.gguf"


def test_a_connection_that_breaks_goes_on_where_it_broke(hub: ModelHub, tmp_path: Path) -> None:
    hub.longest = 1_000_000
    assert fetch(offered(REPOSITORY), tmp_path).read_bytes() == CONTENT
    first, *later = hub.ranges()
    assert first == "" and len(later) == 3 and len(set(later)) == 3


def test_a_fetch_that_failed_goes_on_the_next_time(hub: ModelHub, tmp_path: Path) -> None:
    origin = offered(REPOSITORY)

    def break_down() -> None:
        hub.down = bool(hub.ranges())

    hub.longest = 1_000_000
    hub.asked = _Watched(break_down)
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 answered 503: try again"):
        fetch(origin, tmp_path)
    assert list(tmp_path.glob("*.gguf")) == []
    hub.longest, hub.down, hub.asked = None, False, []
    assert fetch(origin, tmp_path).read_bytes() == CONTENT
    assert hub.ranges() == [f"bytes={3 * 256 * 1024}-"]  # whole blocks are kept


class _Watched(list[tuple[str, str, str]]):
    """A list that calls ``before`` it takes another item."""

    def __init__(self, before: object) -> None:
        super().__init__()
        self._before = before

    def append(self, item: tuple[str, str, str]) -> None:
        assert callable(self._before)
        self._before()
        super().append(item)


def test_other_bytes_than_the_hub_lists_are_thrown_away(hub: ModelHub, tmp_path: Path) -> None:
    hub.lies = True
    with pytest.raises(Unavailable, match="has another SHA-256 than the hub lists"):
        fetch(offered(REPOSITORY), tmp_path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    hub.lies = False
    assert fetch(offered(REPOSITORY), tmp_path).read_bytes() == CONTENT


def test_another_model_of_the_name_is_not_overwritten(hub: ModelHub, tmp_path: Path) -> None:
    (tmp_path / "some-model-Q4_K_M.gguf").write_text("mine")
    with pytest.raises(BadRequest, match="is there already: `helix model rm"):
        fetch(offered(REPOSITORY), tmp_path)
    assert (tmp_path / "some-model-Q4_K_M.gguf").read_text() == "mine"


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ("big-Q4_K_M-00001-of-00002.gguf", "is one of several parts"),
        ("some-model", r"has several files that fit some-model: give .*some-model-Q8_0\.gguf"),
        ("Q3_K", r"names no one file: give .*:FILE; GGUF files there: deep/some-model-Q2_K\.gguf"),
    ],
)
def test_a_name_that_fits_not_one_file_lists_them(hub: ModelHub, wanted: str, problem: str) -> None:
    with pytest.raises(NotFound, match=problem):
        offered(REPOSITORY, wanted)


def test_what_is_wrong_with_the_hub_is_one_line(hub: ModelHub, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"127\.0\.0\.1 has no nobody/nothing"):
        offered("nobody/nothing")
    origin = offered(REPOSITORY)
    hub.gated = True
    with pytest.raises(Unavailable, match="asks for its terms to be accepted"):
        fetch(origin, tmp_path)


def test_a_hub_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1 did not answer") as caught:
        offered(REPOSITORY)
    assert "\n" not in str(caught.value)


def test_a_disk_without_room_is_told_before_anything_comes(
    hub: ModelHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(SettingsError, match=r"has 1 MB free .* HELIX_MODEL_FOLDER"):
        fetch(offered(REPOSITORY), tmp_path)
    assert hub.ranges() == []


@pytest.mark.parametrize("text", ["model", "a/b/c", "../x", "a b/c", "http://host/x:y"])
def test_another_form_than_owner_and_name_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="give OWNER/NAME"):
        named(text)
    assert issubclass(BadRequest, HelixError)


def test_a_repository_and_its_file_are_named_together() -> None:
    assert named("a-b/C.d") == ("a-b/C.d", None)
    assert named("a-b/C.d:Q4_K_M") == ("a-b/C.d", "Q4_K_M")
