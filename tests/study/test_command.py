"""``helix study``: what there is, what is due, files of it, quizzes and cards in the terminal."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from helix.evidence.vectors import IDENTITY
from helix.library.access import Row
from tests.study.conftest import MakeSet
from tests.support.cli_runner import helix
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.service_process import eventually


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
    nothing = "1 helix: there is no study set 99: `helix study list` lists them"
    assert told("export", "99", str(tmp_path / "x.md")).startswith(nothing)
    assert told("take", "99").startswith(nothing)
    assert told("export", "1", str(tmp_path / "x.pdf")).startswith("2 helix: x.pdf ends in none of")
    assert told("export", str(deck["id"]), str(tmp_path / "x.svg")).startswith("2 helix: a set of")
    assert told("quiz", "--difficulty", "fiendish").startswith("2 helix: --difficulty is one of")
    for count in ("0", "3", "51"):
        wrong = "2 helix: count is not a whole number from 5 to 50: a quiz has 10 items"
        assert told("quiz", "--count", count).startswith(wrong)
    assert told("quiz", "--tag", "nobody").startswith("2 helix: the scope has no document")
    assert rows(database_url, "SELECT count(*)::int FROM runs") == [(0,)]
    label = f"cards {deck['id']}: 3 items of Bridges"
    assert f"Delete {label}?" in told("rm", str(deck["id"])) and "Bridges" in told("list")
    assert told("rm", str(deck["id"]), "--yes") == f"deleted {label}\n"
    assert "Bridges" not in told("list")
    gone = f"1 helix: there is no study set {deck['id']}: "
    assert told("rm", str(deck["id"]), "--yes").startswith(gone)


def test_a_quiz_is_taken_and_cards_are_reviewed_in_the_terminal(
    make_set: MakeSet, database_url: str
) -> None:
    """With the database and with a server: the second goes on where the first was left."""
    quiz, questions = make_set(kind="quiz", count=5)
    _, cards = make_set(kind="cards", count=3)
    rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", IDENTITY)
    offline = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}
    number = str(quiz["id"])
    right = [_key_of(item) for item in questions]

    def own(*arguments: str, stdin: str) -> str:
        told = helix("study", *arguments, stdin=stdin, DATABASE_URL=database_url, **offline)
        assert told.returncode == 0, told.stderr
        return told.stdout

    begun = own("take", number, stdin=f"nonsense\n{right[0]}\nq\n")
    assert "1 of 5  " in begun and "one of " in begun and "  right\n" in begun
    assert questions[0]["sources"][0]["quote"] in begun
    assert begun.endswith(f"`helix study take {number}` goes on here\n")
    reviewed = own("review", stdin="\n4\n\nu\n\n4\n\n")
    assert reviewed.count("1 of 3  ") == 2 and "Halden" in reviewed
    with live(database_url) as client:
        server = ("--server", str(client.base_url))

        def asked(*arguments: str, stdin: str = "") -> str:
            told = helix("study", *arguments, *server, stdin=stdin)
            assert told.returncode == 0, told.stderr
            return told.stdout

        wrong = "2" if right[1] == "1" else "1" if right[1].isdigit() else "tf"[right[1] == "t"]
        ended = asked("take", number, stdin="\n".join([wrong, *right[2:]]))
        assert "2 of 5  " in ended and "1 of 5  " not in ended
        assert "  not right: " in ended and ended.endswith("\n4 of 5 right\n")
        assert asked("due").startswith("0 due, 2 new\n")
        assert "2 of 2  " in asked("review", stdin="\n3\n\n3\n")
        assert asked("review") == "no card is due\n"
        assert " quiz " in asked("list")
        told = helix("study", "take", str(cards[0]["set_id"]), *server)
        assert told.stderr == ("helix: set 2 is of kind cards: `helix study list` has quizzes\n")


def _key_of(item: Row) -> str:
    """The input that answers a question rightly."""
    body = item["body"]
    return str(body["key"] + 1) if item["kind"] == "choice" else "t" if body["truth"] else "f"


def test_a_set_is_ordered_of_a_server_followed_and_taken_along(
    texts: dict[str, int], database_url: str, tmp_path: Path
) -> None:
    rows(database_url, "UPDATE embedding_space SET identity = %s RETURNING 1", IDENTITY)

    def ends() -> bool:
        """Do a worker's part, for this server has none: end the runs."""
        update = "UPDATE runs SET status = 'done', finished_at = now() WHERE kind = 'study'"
        return bool(rows(database_url, f"{update} RETURNING id"))

    with live(database_url) as client, ThreadPoolExecutor(1) as worker:
        server = ("--server", str(client.base_url))
        ended = worker.submit(eventually, ends)
        told = helix(
            "study",
            "cards",
            "-d",
            "Halden Ferry",
            "-t",
            "ships",
            "--count",
            "3",
            "--title",
            "River",
            *server,
        )
        assert ended.result() and told.returncode == 0, told.stderr
        none = "3 were asked for, and its documents have no more that is proven"
        assert told.stdout == f"cards 1: 0 items of River; {none}\n"
        file = tmp_path / "cards.md"
        assert helix("study", "export", "1", str(file), *server).returncode == 0
        assert file.read_text().startswith("# River")
        nobody = helix("study", "quiz", "-t", "nobody", *server)
        assert nobody.stderr.startswith("helix: the scope has no document")
        kept = rows(database_url, "SELECT scope, document_ids, wanted FROM study_sets")
        deleted = helix("study", "rm", "1", "--yes", *server)
        assert deleted.stdout == "deleted cards 1: 0 items of River\n", deleted.stderr
    scope = {"document_ids": [texts["ferry"]], "filters": {"tags": ["ships"]}}
    assert kept == [(scope, [texts["ferry"]], 3)]
