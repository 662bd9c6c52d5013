"""The walk to the files: folders, links, names and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.files.scan import scan


def test_the_walk(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("outside")
    folder = tmp_path / "folder"
    for name in ("b/2.md", "b/1.TXT", "a.txt", "p.png", "~$a.docx", ".hidden.txt", ".git/x.txt"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("text")
    (folder / "within.txt").symlink_to("a.txt")
    (folder / "leads-out.txt").symlink_to(outside)
    (folder / "leads-out").symlink_to(tmp_path, target_is_directory=True)
    (folder / "loop.txt").symlink_to("loop.txt")
    found = scan([f"{folder}/"])
    names = [source.source_uri.removeprefix(f"{folder}/") for source in found.sources]
    assert names == ["a.txt", "within.txt", "b/1.TXT", "b/2.md"]
    assert found.problems == [
        (f"{folder}/leads-out.txt", "a symbolic link that leads out of the folder"),
        (f"{folder}/loop.txt", "a symbolic link that leads to itself"),
    ]
    assert found.ignored == 2


def test_paths_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/a.txt").write_text("text")
    Path("empty").mkdir()
    Path("link.txt").symlink_to("notes/a.txt")
    found = scan(["./notes//a.txt", "notes", "notes/../link.txt", "missing.txt", "empty"])
    assert [source.source_uri for source in found.sources] == ["notes/a.txt", "link.txt"]
    assert found.problems == [
        ("missing.txt", "no such file or folder"),
        ("empty", "no readable file in this folder"),
    ]
    odd = scan(["x" * 300, "notes/a.txt/b", "loop"])
    assert [reason for _, reason in odd.problems] == [
        "cannot be read: File name too long",
        "no such file or folder",
        "no such file or folder",
    ]


def test_a_name_that_is_not_utf_8_is_a_problem(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.txt")).write_text("text")
    [(name, reason)] = scan([str(tmp_path)]).problems
    assert name.endswith(r"/caf\xe9.txt") and reason == "its name is not UTF-8: rename it"


def test_a_folder_that_may_not_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's refusal is feigned: root, as whom these tests may run, is refused nothing."""
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "a.txt").write_text("text")
    (tmp_path / "locked").mkdir()
    real = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = scan([str(tmp_path)])
    assert [source.path.name for source in found.sources] == ["a.txt"]
    assert found.problems == [(f"{tmp_path}/locked", "cannot be read: Permission denied")]
