"""The entries of a source that are taken, and what its sheets and folders say of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from unittest.mock import Mock

import pytest

from helix.errors import BadRequest
from pipelines.files.metadata_sheet import Sheet, sheet_of
from pipelines.sources import base
from pipelines.sources.base import Entry
from pipelines.sources.comparison import Listing
from pipelines.sources.selection import Glob, ReaderMap, Selection, list_source
from pipelines.sources.sheets import given_to, sheets_by_file, sheets_of


@pytest.mark.parametrize(
    ("glob", "taken", "left"),
    [
        ("*.pdf", ["a.pdf", "x/y/a.pdf"], ["a.md", "a.pdf.md"]),
        ("drafts/", ["drafts/a.md", "x/drafts/y/a.md"], ["drafts.md", "a/drafts"]),
        ("docs/*.md", ["docs/a.md"], ["docs/x/a.md", "x/docs/a.md"]),
        ("docs/**/*.md", ["docs/a.md", "docs/x/y/a.md"], ["a.md"]),
        ("/docs/**", ["docs/a.md", "docs/x/a.md"], ["x/docs/a.md"]),
        ("report-?.md", ["report-1.md", "x/report-2.md"], ["report-12.md"]),
        ("a+b[1].md", ["a+b[1].md"], ["aab1.md"]),
    ],
)
def test_a_glob_means_keys(glob: str, taken: list[str], left: list[str]) -> None:
    meant = Glob(glob)
    assert [key for key in taken + left if meant.matches(key)] == taken


def test_a_glob_of_many_stars_and_a_long_key_take_no_time() -> None:
    long = "a" * 900
    assert not Glob("*a" * 200 + "*b.md").matches(f"{long}.md")
    assert Glob("*a" * 200 + "*.md").matches(f"x/{long}.md")
    assert not Glob("**/a" * 60 + "/b").matches("a/" * 400 + "c")


def test_a_listing_without_an_end_is_not_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "MOST_ENTRIES", 3)
    endless = Mock(entries=lambda: (Entry(f"{number}.md") for number in count()))
    listing = list_source(endless, Selection(), ReaderMap({}, [0], [0]))
    assert listing.listed == {"0.md", "1.md", "2.md"}
    assert listing.error == "it lists more than 3 entries: make it several sources"


def test_exclude_is_above_include_and_names_of_no_kind_are_left() -> None:
    chosen = Selection(include=["docs/"], exclude=["*.csv"])
    keys = ("docs/a.md", "docs/a.csv", "a.md", "docs/a.exe", "docs/README")
    assert [key for key in keys if chosen.takes(Entry(key))] == ["docs/a.md"]
    assert chosen.takes(Entry("docs/id-7", name="mail.html"))


def test_size_and_age_choose_where_they_are_known() -> None:
    now = datetime.now(UTC)
    chosen = Selection(largest=100, since=now - timedelta(days=7))
    assert chosen.takes(Entry("a.md"))
    assert not chosen.takes(Entry("a.md", size=101))
    assert not chosen.takes(Entry("a.md", modified=now - timedelta(days=8)))


def _sheet(text: str) -> Sheet:
    sheet = sheet_of(text.encode(), Path("metadata.csv"))
    assert sheet is not None
    return sheet


def test_the_nearest_sheet_has_the_last_word() -> None:
    sheets = {
        "metadata.csv": _sheet("file,year,team\nx/a.md,2023,one\nb.md,2020,two\n"),
        "x/metadata.csv": _sheet("file,year\na.md,2024\n"),
    }
    found = sheets_by_file(sheets, ["x/a.md", "x/y/b.md", "c.md"])
    assert found == {
        "x/a.md": {"year": 2024, "team": "one"}, "x/y/b.md": {"year": 2020, "team": "two"}
    }  # fmt: skip
    listing = Listing(listed={"metadata.csv", "a.md"}, sheets={"metadata.csv": Entry("")})
    sheet = b"file,year\na.md,2024,7\nb.md,2020\na.md,2021\n"
    listing.taken["a.md"] = Entry("a.md")
    described, wrong = sheets_of(Mock(read=Mock(return_value=sheet)), listing)
    assert described == {"a.md": {"year": 2021}}
    assert wrong == {
        "metadata.csv": "line 2: 3 cells in 2 columns; line 3: there is no file 'b.md'"
    }
    assert sheet_of(b"name of a column\n1\n", Path("metadata.csv")) is None
    assert sheet_of(b"\xff\xfe", Path("metadata.csv")) is None


def test_folders_sheet_source_and_owner_speak_in_this_order() -> None:
    entry = Entry("legal/2024/a.md", metadata={"label": "signed", "team": "of the source"})
    given = given_to(entry, {"year": 2020}, ["team", "year", "more"], {"label": "mine"})
    assert given == {"team": "of the source", "year": 2020, "label": "mine"}
    assert given_to(Entry("legal/a.md"), {}, ["team"], {}) == {"team": "legal"}
    with pytest.raises(BadRequest):
        given_to(Entry("a.md", metadata={"no key!": 1}), {}, [], {})
