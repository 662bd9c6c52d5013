"""``helix study``: what there is, what is due, files of it; making is the workers'."""

from __future__ import annotations

import json
from pathlib import Path

from tests.study.conftest import MakeSet
from tests.support.cli_runner import helix
from tests.support.fake_embedder import rows


def test_sets_are_listed_due_and_written_to_files(
    make_set: MakeSet, database_url: str, tmp_path: Path
) -> None:
    deck, _ = make_set(kind="cards", count=3, title="Bridges")
    drawn, _ = make_set(kind="map")

    def told(*arguments: str) -> str:
        settings = {"DATABASE_URL": database_url, "HELIX_LLM": "offline"}
        done = helix("study", *arguments, HELIX_EMBEDDER="offline", **settings)
        return done.stdout if done.returncode == 0 else f"{done.returncode} {done.stderr}"

    listed = told("list")
    assert "Bridges" in listed and listed.index(" map ") < listed.index(" cards ")
    due = told("due", "--limit", "2")
    assert due.startswith("0 due, 3 new\n") and due.count("\n") == 3
    for number, name, begins in (
        (deck["id"], "deck.apkg", b"PK"), (deck["id"], "deck.csv", b"\xef\xbb\xbffront,back"),
        (deck["id"], "deck.md", b"# Bridges"), (drawn["id"], "map.svg", b"<svg "),
    ):  # fmt: skip
        assert name in told("export", str(number), str(tmp_path / name))
        assert (tmp_path / name).read_bytes().startswith(begins)
    told("export", str(deck["id"]), str(tmp_path / "deck.json"))
    assert len(json.loads((tmp_path / "deck.json").read_text())["items"]) == 3
    assert told("export", "99", str(tmp_path / "x.md")).startswith("1 helix: there is no study set")
    assert told("export", "1", str(tmp_path / "x.pdf")).startswith("2 helix: x.pdf ends in none of")
    assert told("export", str(deck["id"]), str(tmp_path / "x.svg")).startswith("2 helix: a set of")
    assert told("quiz", "--difficulty", "fiendish").startswith("2 helix: --difficulty is one of")
    assert told("quiz", "--tag", "nobody").startswith("2 helix: the scope has no document")
    assert rows(database_url, "SELECT count(*)::int FROM runs") == [(0,)]
