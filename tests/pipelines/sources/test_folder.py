"""A folder as a source: its listing, what hides from it, and what it says of what is gone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipelines.sources.base import Connector, Entry, EntryGone, SourceError
from pipelines.sources.stored_source import open_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shared" / "guides").mkdir(parents=True)
    (tmp_path / "shared" / "one.md").write_text("One.")
    (tmp_path / "shared" / "guides" / "two.md").write_text("Two.")
    return tmp_path / "shared"


def opened(folder: Path, **options: object) -> Connector:
    return open_source("folder", str(folder), options, {})


def keys(folder: Path) -> list[str]:
    return sorted(entry.key for entry in opened(folder).entries())


def test_files_are_listed_by_their_path_within_it(folder: Path) -> None:
    (entry, other) = sorted(opened(folder).entries(), key=lambda entry: entry.key)
    assert (entry.key, other.key) == ("guides/two.md", "one.md")
    assert entry.size == 4 and entry.modified is not None and entry.readers is None
    assert opened(folder).read(entry) == b"Two."


def test_a_write_that_keeps_size_and_time_changes_the_entry(folder: Path) -> None:
    file = folder / "one.md"
    times = file.stat()
    before = {entry.key: entry for entry in opened(folder).entries()}
    file.write_text("Two.")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = {entry.key: entry for entry in opened(folder).entries()}
    assert after["guides/two.md"] == before["guides/two.md"]
    assert after["one.md"].modified == before["one.md"].modified
    assert after["one.md"] != before["one.md"]


def test_hidden_files_pipes_and_links_that_lead_out_are_not_listed(
    folder: Path, tmp_path: Path
) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config.md").write_text("x")
    (folder / ".hidden.md").write_text("x")
    os.mkfifo(folder / "pipe.md")
    (tmp_path / "secret.md").write_text("x")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (folder / "loop.md").symlink_to(folder / "loop.md")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "within.md").symlink_to(folder / "one.md")
    assert keys(folder) == ["guides/two.md", "one.md", "within.md"]
    with pytest.raises(SourceError, match="leads out of the folder"):
        opened(folder).read(Entry("out.md"))
    with pytest.raises(SourceError, match="leads out of the folder"):
        opened(folder).read(Entry("../secret.md"))


def test_a_file_whose_name_is_not_utf_8_is_listed_and_says_so_when_it_is_read(
    folder: Path,
) -> None:
    (folder / os.fsdecode(b"caf\xe9")).mkdir()
    (folder / os.fsdecode(b"caf\xe9") / "menu.md").write_text("Menu.")
    source = opened(folder)
    assert {entry.key for entry in source.entries()} == {
        "guides/two.md", "one.md", r"caf\xe9/menu.md",
    }  # fmt: skip
    with pytest.raises(SourceError, match="its name is not UTF-8: rename it"):
        source.read(Entry(r"caf\xe9/menu.md"))
    assert source.is_there(r"caf\xe9/menu.md")
    (folder / os.fsdecode(b"caf\xe9")).rename(folder / "café")
    assert not source.is_there(r"caf\xe9/menu.md")


def test_what_went_is_gone_and_what_is_there_is_not(folder: Path) -> None:
    source = opened(folder)
    (folder / "one.md").unlink()
    assert source.is_there("guides/two.md") and not source.is_there("one.md")
    with pytest.raises(EntryGone):
        source.read(Entry("one.md"))


def test_what_is_behind_a_link_that_no_listing_follows_is_gone(folder: Path) -> None:
    (folder / "guides").rename(folder.with_name("guides"))
    (folder / "guides").symlink_to(folder.with_name("guides"))
    (folder / "one.md").unlink()
    (folder / "one.md").symlink_to(folder.with_name("guides") / "two.md")
    assert not keys(folder)
    assert not opened(folder).is_there("guides/two.md") and not opened(folder).is_there("one.md")


def test_a_folder_that_is_away_says_nothing_of_its_files(folder: Path) -> None:
    source = opened(folder)
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(SourceError, match="cannot be listed"):
        list(source.entries())
    with pytest.raises(SourceError, match="is away"):
        source.is_there("one.md")
    with pytest.raises(SourceError, match=r"cannot be opened on .+: No such file"):
        opened(folder)


def test_a_folder_below_that_may_not_be_read_makes_the_listing_incomplete(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refusing(path: Path) -> object:  # root may read whatever its mode says
        if Path(path).name == "guides":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    listed: list[str] = []
    with pytest.raises(SourceError, match=r"guides/ \(Permission denied\)"):
        listed.extend(entry.key for entry in opened(folder).entries())
    found = opened(folder).entries()
    assert next(found).key == "one.md"


@pytest.mark.parametrize("address", ["shared", "one.md"])
def test_an_address_that_is_no_folder_is_refused(folder: Path, address: str) -> None:
    given = address if address == "shared" else str(folder / "one.md")
    with pytest.raises(SourceError, match=r"absolute path|is a file"):
        open_source("folder", given, {}, {})


def test_a_kind_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(SourceError, match=r"no kind of source 'tape': folder"):
        open_source("tape", "x", {}, {})
