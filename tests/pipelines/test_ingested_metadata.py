"""Metadata at ingestion: flags above metadata.csv above front matter, and people above all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from helix.library.metadata import edit_metadata
from pipelines.files.scan import scan
from pipelines.readers.front_matter import metadata_of
from tests.support.fake_embedder import embedded, rows
from tests.support.ingest_command import ingest
from tests.support.wire.gemini import GeminiWire

pytestmark = pytest.mark.processes

FRONT = "---\ntitle: Plan\nyear: 2020\nowner: Lee\nplace: Bonn\n---\n# Plan\n\nWe build a bridge.\n"


def metadata(url: str) -> dict[str, dict[str, Any]]:
    return dict(rows(url, "SELECT source_uri, metadata FROM documents"))


def test_flags_stand_above_the_sheet_and_that_above_front_matter(
    folder: Path, database_url: str
) -> None:
    docs = folder / "docs"
    (docs / "deep").mkdir(parents=True)
    (docs / "plan.md").write_text(FRONT)
    (docs / "deep" / "b.txt").write_text("A second one.")
    (docs / "metadata.csv").write_text(
        "file,year,owner,by:list\nplan.md,2021,Kim,A; B\ndeep/b.txt,2022,,\ngone.txt,1,,\n"
    )
    told = ingest("docs", "--meta", "year=2024", "--meta", "id:text=7")
    assert told.exit_code == 1
    assert "docs/metadata.csv: line 4: there is no file 'gone.txt'" in told.output
    assert metadata(database_url) == {
        "docs/plan.md": {
            "year": 2024, "id": "7", "owner": "Kim", "place": "Bonn", "by": ["A", "B"],
        },
        "docs/deep/b.txt": {"year": 2024, "id": "7"},
    }  # fmt: skip


def test_what_people_changed_stays_when_a_file_changes(folder: Path, database_url: str) -> None:
    (folder / "plan.md").write_text(FRONT)
    assert ingest("plan.md", "--meta", "team=red").exit_code == 0
    with psycopg.connect(database_url) as connection:
        edit_metadata(connection, {"owner": "Park", "place": None}, "default")
    (folder / "plan.md").write_text(FRONT.replace("2020", "2025").replace("Lee", "Cho"))
    again = ingest("plan.md", "--meta", "owner=Kim")
    assert "1 replaced" in again.output
    assert metadata(database_url)["plan.md"] == {"year": 2025, "owner": "Park", "team": "red"}


def test_a_sheet_is_read_although_no_file_has_changed(folder: Path, database_url: str) -> None:
    (folder / "a.txt").write_text("Only this.")
    assert ingest("a.txt").exit_code == 0
    (folder / "metadata.csv").write_text("name;Jahr:number\na.txt;2024\n")
    assert "1 unchanged" in ingest("a.txt").output
    assert metadata(database_url) == {"a.txt": {"jahr": 2024}}


def test_keys_are_embedded_only_where_asked(
    folder: Path, database_url: str, wire: GeminiWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "plan.md").write_text(FRONT)
    assert ingest("plan.md", "--meta", "team:list=red; blue").exit_code == 0
    assert not [text for text in embedded(wire) if "red" in text]
    monkeypatch.setenv("HELIX_EMBEDDED_METADATA", "team,1st")
    assert "HELIX_EMBEDDED_METADATA is malformed: set it to keys" in ingest("plan.md").output
    monkeypatch.setenv("HELIX_EMBEDDED_METADATA", "team,owner,nobody")
    assert "1 replaced" in ingest("plan.md").output, "it was stored without"
    assert [text for text in embedded(wire) if "team: red, blue | owner: Lee" in text]
    assert "1 unchanged" in ingest("plan.md").output
    assert "1 unchanged" in ingest("plan.md", "--meta", "other=1").output
    assert "1 replaced" in ingest("plan.md", "--meta", "team=green").output
    assert [text for text in embedded(wire) if "team: green | owner: Lee" in text]


def test_a_sheet_describes_what_lies_below_it(tmp_path: Path) -> None:
    for name in ("a/x.txt", "a/b/x.txt", "a/b/y.txt", "z.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    (tmp_path / "a" / "metadata.csv").write_text("path,k,l\nx.txt,1,1\nb/x.txt,2,2\ny.txt,3,3\n")
    (tmp_path / "a" / "b" / "Metadata.CSV").write_text("Name,k\nx.txt,9\n")
    (tmp_path / "metadata.csv").write_text("city,rate\nGhent,3\n")
    found = scan(["."], tmp_path)
    assert found.problems == []
    assert {source.source_uri: source.metadata for source in found.sources} == {
        "a/x.txt": {"k": 1, "l": 1}, "a/b/x.txt": {"k": 9, "l": 2}, "a/b/y.txt": {"k": 3, "l": 3},
        "z.txt": None, "metadata.csv": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("file,a b\nx.txt,1\n", "line 1: 'a b' is no key"),
        ("file,a,A\nx.txt,1,2\n", "line 1: a key is there twice"),
        ("file,a:number\nx.txt,one\nx.txt,1\n", "line 2: metadata.a is no number"),
        ("file,a\n\nx.txt,1,2\n", "line 3: 3 cells in 2 columns"),
        ("file,a:colour\nx.txt,1\n", "line 2: metadata.a: there is no type 'colour'"),
        ('file,a\n"x\n.txt",1\n', r"line 3: there is no file 'x\n.txt'"),
    ],
)
def test_a_sheet_says_in_which_line_it_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.txt").write_text("text")
    (tmp_path / "metadata.csv").write_text(text)
    ((name, reason),) = scan(["."], tmp_path).problems
    assert (name, said in reason) == ("metadata.csv", True), reason


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_sheet_in_an_encoding_of_spreadsheets(tmp_path: Path, encoding: str) -> None:
    text = "file;author;unit\nx.txt;Jürgen Müller;Geschäftsführung und Öffentlichkeitsarbeit\n"
    (tmp_path / "x.txt").write_text("text")
    (tmp_path / "metadata.csv").write_bytes(text.encode(encoding))
    (source,) = scan(["."], tmp_path).sources
    assert source.metadata is not None and source.metadata["author"] == "Jürgen Müller"


def test_a_sheet_in_an_encoding_that_nothing_tells_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("text")
    (tmp_path / "metadata.csv").write_bytes(b"file;a\nx.txt;\xfc\n")
    found = scan(["."], tmp_path)
    assert [source.source_uri for source in found.sources] == ["x.txt"]
    assert "not UTF-8 at byte 13: save it as UTF-8" in found.problems[0][1]


def test_front_matter_is_read_as_it_is_written() -> None:
    found, warnings = metadata_of(
        'Title: T\nyear: 2024\nversion: "2.0"\ncode: 0123\ndue: 2024-05-01\ndraft: true\n'
        "none: ~\nempty:\ntags: [a, 'b', 3]\nnested: {x: 1}\nlong: >\n  two\n  lines\n"
        "mixed: [1, {x: 2}]\n"
        "my key: 1\nbad: 2024-02-30\n"
    )
    assert found == {
        "year": 2024, "version": "2.0", "code": "0123", "due": "2024-05-01", "draft": "true",
        "tags": ["a", "b", 3], "long": "two lines",
    }  # fmt: skip
    assert [warning[:30] for warning in warnings] == [
        "front matter: metadata.nested ", "front matter: metadata.mixed i",
        "front matter: 'my key' is no k", "front matter: metadata.bad is ",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "line"),
    [("a: [", 2), ("b: 1\na: \t[x", 3), ("team: legal: tax\nyear: 2024", 2), ("*x", None),
     ("a: " + "[" * 2000, None)],
)  # fmt: skip
def test_a_block_that_is_no_yaml_has_no_metadata_and_says_so(block: str, line: int | None) -> None:
    found, [warning] = metadata_of(block)
    assert found == {} and warning.startswith("front matter: it is no YAML")
    assert line is None or warning.endswith(f": see line {line}")


@pytest.mark.parametrize("block", ["- a\n- b", "", "Only words.", "&a [*a]: 1"])
def test_a_block_that_is_no_mapping_has_no_metadata(block: str) -> None:
    assert metadata_of(block)[0] == {}


def test_keys_beyond_the_most_are_told() -> None:
    found, [warning] = metadata_of("".join(f"k{n}: {n}\n" for n in range(70)))
    assert len(found) == 64 and "it has 70 keys; the first 64 are taken" in warning
