"""Packages that hand on names: the same names, the same objects, imported one by one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helix.storage.lazy_packages import import_lazily
from tests.support.repository import ROOT

EVERY_NAME = """
import importlib, json, pkgutil, sys
import helix, llama_index.core

def is_lazy(module):
    return type(module).__name__ == "_LazyPackage"

assert is_lazy(llama_index.core), "it is not lazy any more: see helix/storage/lazy_packages.py"
below = pkgutil.walk_packages(llama_index.core.__path__, "llama_index.core.")
packages = ["llama_index.core", *(found.name for found in below if found.ispkg)]
lazy = [each for each in map(importlib.import_module, packages) if is_lazy(each)]
wrong, names = [], 0
for package in lazy:
    loader = package.__spec__.loader
    late = {name: getattr(package, name) for name in loader.handed_on.names}
    loader.run_body(package)
    names += len(late)
    wrong += [
        f"{package.__name__}.{name}"
        for name, value in late.items()
        if vars(package).get(name) is not value
    ]
print(json.dumps({"packages": len(lazy), "names": names, "wrong": wrong}))
"""


@pytest.mark.processes
def test_every_name_of_llama_index_is_the_object_that_its_package_hands_on() -> None:
    """Notices a release whose packages do more than hand on names."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", EVERY_NAME],
        cwd="/", env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert told["packages"] > 40 and told["names"] > 400


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for packages that this test makes lazy, forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    return tmp_path


def _write(folder: Path, **files: str) -> None:
    for name, source in files.items():
        file = folder.joinpath(*name.split("__")).with_suffix(".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source)


def test_a_module_is_imported_when_a_name_of_it_is_asked_for(late: Path) -> None:
    _write(
        late,
        parcel__init='"""A package."""\nfrom .one import First\nimport os.path\n'
        "from parcel.two import second as two\nAlias = First\n__all__ = ['First']\n",
        parcel__one="class First: ...",
        parcel__two="second = 2",
        parcel__three="",
    )
    (late / "parcel" / "init.py").rename(late / "parcel" / "__init__.py")
    import_lazily("parcel")
    import parcel  # type: ignore[import-not-found]

    assert "parcel.one" not in sys.modules
    assert parcel.First is parcel.Alias is sys.modules["parcel.one"].First
    assert "parcel.two" not in sys.modules
    assert (parcel.two, parcel.__all__, parcel.os.path.sep) == (2, ["First"], "/")
    from parcel import three

    assert three is sys.modules["parcel.three"]
    with pytest.raises(AttributeError, match="'parcel' has no attribute 'four'"):
        _ = parcel.four


def test_what_else_a_body_does_is_done_once_and_keeps_what_was_set(late: Path) -> None:
    _write(
        late,
        bale__init="from bale.one import first\nhandler: object = None\nmade = [first]\n",
        bale__one="first = 1",
    )
    (late / "bale" / "init.py").rename(late / "bale" / "__init__.py")
    import_lazily("bale")
    import bale  # type: ignore[import-not-found]

    bale.handler = "set by hand"
    assert "bale.one" not in sys.modules
    made = bale.made
    assert made == [1] and bale.made is made
    assert bale.handler == "set by hand"
    with pytest.raises(AttributeError, match="'bale' has no attribute 'other'"):
        _ = bale.other


def test_a_package_below_whose_body_does_something_is_imported_as_always(late: Path) -> None:
    _write(late, crate__init="", crate__busy__init="from os import sep\nmade = [sep]\n")
    for folder in (late / "crate", late / "crate" / "busy"):
        (folder / "init.py").rename(folder / "__init__.py")
    import_lazily("crate")
    import crate.busy  # type: ignore[import-not-found]

    assert vars(crate.busy)["made"] == ["/"]
