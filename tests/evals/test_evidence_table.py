"""The table of evidence: what is kept, what is counted, and the statements marked by hand."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from evals.datasets.records import Document, Question, QuestionSet
from evals.evidence import kept, prose, served, table
from evals.evidence.asked import is_kept_out
from evals.evidence.claims import Claim
from evals.evidence.kept import Kept, Row
from evals.evidence.measures import auroc_estimate

READ = ("The kettle holds 1.7 litres.", "Its lid is made of steel in Graz.")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "FOLDER", tmp_path)


def test_what_was_kept_is_there_again_but_for_the_line_that_was_cut_off(tmp_path: Path) -> None:
    first = Kept("set", folder=tmp_path)
    first.keep({"id": "a", "kind": "claim"})
    with (tmp_path / "set.jsonl").open("a") as file:
        file.write('{"id": "b", "ki')
    again = Kept("set", folder=tmp_path)
    assert ("a" in again, "b" in again) == (True, False)
    assert [row["commit"] for row in again] == [kept.commit()]
    assert not list(Kept("set", anew=True, folder=tmp_path))


def _row(kind: str, judged: str, likely: float | None, *, green: bool = False) -> Row:
    values = {"kind": kind, "judged": judged, "likely": likely, "green": green}
    return {"id": f"{kind} {judged} {likely}", "milliseconds": 200.0, **values}


ANSWERS = [
    _row("answerable", "right", 0.95, green=True),
    _row("answerable", "right", 0.7),
    _row("answerable", "wrong", 0.6),
    _row("answerable", "refused", None),
    _row("near miss", "wrong", 0.92, green=True),
    _row("near miss", "refused", None),
    _row("foreign", "refused", None),
]


def test_answers_are_counted_by_what_should_have_come_of_them() -> None:
    found = {name: value for name, value in table.of_answers(ANSWERS) if value}
    assert {name: (one.value, one.n) for name, one in found.items()} == {
        "right, of the answerable": (0.5, 4),
        "right, of the answered": (pytest.approx(2 / 3), 3),
        "wrong, of the answerable": (0.25, 4),
        "near miss refused": (0.5, 2),
        "foreign refused": (1.0, 1),
        "AUROC of likely": (0.75, 4),
        "green on both: wrong": (0.5, 2),
        "processor time of a question, ms, p50 (p95)": (200.0, 7),
    }


def test_a_smaller_risk_answers_less(tmp_path: Path) -> None:
    own = Kept("squad2", folder=tmp_path)
    for row in ANSWERS:
        own.keep(row)
    lines = list(table.curve("squad2", tmp_path))
    assert lines[0] == "| squad2 | 0.45 | 0.500 | 0.667 | 0.250 | 0.500 |"
    assert lines[-1] == "| squad2 | 0.15 | 0.000 | 0.000 | 0.000 | 1.000 |"
    assert "| squad2 | 0.2 | 0.250 | 1.000 | 0.000 | 0.500 |" in lines
    assert "| squad2 | kept out | right, of the answerable | 4 | 0.530 | 0.500 [" in "\n".join(
        table.table(["squad2"], tmp_path)
    )


def test_a_text_is_as_likely_as_its_least_likely_claim() -> None:
    rows: list[Row] = [
        {"id": f"{whole}{n}", "kind": "claim", "of": "partly" if whole == "b" else "not",
         "label": label, "whole": whole, "score": score, "proven": score >= 0.5}
        for n, (whole, label, score) in enumerate(
            [("a", 0, 0.9), ("a", 0, 0.7), ("b", 0, 0.8), ("b", 1, 0.2), ("c", 1, 0.6)]
        )
    ]  # fmt: skip
    found = {name: value.value for name, value in table.of_claims(rows) if value}
    assert found == {
        "that hold, in doubt": 0.0, "that do not, borne out": 0.5, "marked not, borne out": 1.0,
        "marked partly, borne out": 0.0, "AUROC of texts": 1.0,
    }  # fmt: skip


def test_a_higher_bar_doubts_more(tmp_path: Path) -> None:
    own = Kept("wice", folder=tmp_path)
    for label, score in ((0, 0.9), (0, 0.55), (1, 0.45), (1, 0.1)):
        own.keep({"id": str(score), "kind": "claim", "label": label, "score": score})
    lines = list(table.bars("wice", tmp_path))
    assert lines[1] == "| wice | 0.4 | 0.00 | 0.50 |"
    assert lines[3] == "| wice | 0.6 | 0.50 | 0.00 |"


def test_an_interval_of_an_auroc_holds_it() -> None:
    found = auroc_estimate([0.9, 0.8, 0.6, 0.7, 0.3, 0.2], [1, 1, 1, 0, 0, 0])
    assert found and found.low <= found.value <= found.high
    assert found.value == pytest.approx(8 / 9)
    assert auroc_estimate([0.9], [1]) is None


def test_claims_are_proved_once_and_altered_where_they_hold(tmp_path: Path) -> None:
    known = [
        Claim("set", "kettles", READ[0], READ, 0.0),
        Claim("set", "kettles", "The kettle holds 2.9 litres.", READ, 1.0),
    ]
    own = Kept("set", folder=tmp_path)
    prose.prove_missing(known, own, time.monotonic() + 600, 10)
    rows = list(own)
    claims = {row["label"]: row["proven"] for row in rows if row["kind"] == "claim"}
    assert claims == {0.0: True, 1.0: False}
    assert {row["altered"]: row["proven"] for row in rows if row["kind"] == "altered"} == {
        "digit": False
    }
    prose.prove_missing(known, own, time.monotonic() + 600, 10)
    assert len((tmp_path / "set.jsonl").read_text().splitlines()) == len(rows)


def test_articles_are_asked_only_what_nothing_was_learned_from() -> None:
    titles = [f"Article {number}" for number in range(40)]
    asked = [Question("What is it?", n, ((n, 0, 4),), ("This",)) for n in range(40)]
    asked += [Question("What is it not?", n, ()) for n in range(40)]
    own = QuestionSet("own", [Document(title, "This.\n\n") for title in titles], asked)
    other = QuestionSet("other", [], [Question(f"Who {n}?", 0, ((0, 0, 1),)) for n in range(200)])
    suite, asks = served._articles(own, other)
    kept_out = sum(map(is_kept_out, titles))
    assert kept_out
    assert Counter(one.kind for one in asks) == {
        served.ANSWERABLE: kept_out, served.NEAR_MISS: kept_out, served.FOREIGN: served._FOREIGN
    }  # fmt: skip
    assert len(list((suite.base / "own").iterdir())) == len(titles)


def test_statements_marked_by_hand_are_well_formed() -> None:
    file = json.loads(prose.STATEMENTS.read_text("utf-8"))
    assert all(len(text.split()) <= 150 for text in file["passages"])
    marks: Counter[str] = Counter()
    for answer in file["answers"]:
        assert answer["model"] in file["models"]
        assert answer["document"] in file["documents"]
        texts = [file["passages"][place] for place in answer["sources"]]
        for one in answer["statements"]:
            marks[one["mark"]] += 1
            assert one["cites"]
            assert set(one["cites"]) <= set(range(1, len(texts) + 1))
            assert bool(one["span"]) == (one["mark"] != prose.NOT)
            cited = [texts[n - 1] for n in one["cites"]]
            assert all(any(part in text for text in cited) for part in one["span"])
    assert set(marks) == {prose.BORNE_OUT, prose.PARTLY, prose.NOT}
    assert marks.total() == len(list(prose.by_hand())) == 300
