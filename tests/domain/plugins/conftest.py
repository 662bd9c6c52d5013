"""Packages of this folder, built once a session and put where Python looks for packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from helix.agent.tools import all_tools
from helix.domain import plugins

FOLDER = Path(__file__).parent
Install = Callable[..., Path]
"""Takes names of folders or whole folders; gives the folder that the packages lie in."""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """The wheel of a package's folder, built without a network."""
    built: dict[Path, Path] = {}

    def wheel_of(folder: Path) -> Path:
        if folder not in built:
            work = tmp_path_factory.mktemp(folder.name)
            shutil.copytree(folder, work / "source")
            build = "from setuptools import build_meta; build_meta.build_wheel('..')"
            subprocess.run(
                [sys.executable, "-c", build], cwd=work / "source", check=True, timeout=100,
                capture_output=True,
            )  # fmt: skip
            (built[folder],) = work.glob("*.whl")
        return built[folder]

    return wheel_of


@pytest.fixture
def install(
    wheels: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Install:
    """Installs packages for this test alone."""

    def installed(*packages: str | Path) -> Path:
        target = tmp_path / "installed"
        for package in packages:
            zipfile.ZipFile(wheels(FOLDER / package)).extractall(target)
        monkeypatch.syspath_prepend(target)
        _forget(monkeypatch, target)
        return target

    return installed


@pytest.fixture(autouse=True)
def _looked_for_anew() -> None:
    plugins.plugins.cache_clear()
    all_tools.cache_clear()


def _forget(monkeypatch: pytest.MonkeyPatch, target: Path) -> None:
    """Modules of an earlier test, which lay elsewhere."""
    for file in target.glob("*.py"):
        monkeypatch.delitem(sys.modules, file.stem, raising=False)
