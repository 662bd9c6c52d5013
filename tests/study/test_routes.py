"""Study over HTTP: ordered, made, answered, reviewed; no tenant sees another's."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from html import escape
from xml.etree import ElementTree

import httpx
import pytest

from tests.study.conftest import made
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.query_service import a_store, store_text
from tests.support.study_texts import BRIDGE, store_study_texts
from tests.support.wire.gemini import GeminiWire, gemini_wire

TENANT = {"tenant_id": "halden"}


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as wire:
        yield wire


@pytest.fixture(scope="module")
def client(module_database_url: str, wire: GeminiWire) -> Iterator[httpx.Client]:
    with a_store(module_database_url) as store:
        store_study_texts(store.of("halden"))
    with live(
        module_database_url, llm="gemini", embedder="gemini", gemini_api_key="wire-test-key",
        retrieval_max_distance=0.8,
    ) as client:  # fmt: skip
        client.params = client.params.merge(TENANT)
        yield client


def test_a_quiz_is_answered_kept_scored_and_reviewed(
    client: httpx.Client, module_database_url: str
) -> None:
    quiz = made(client, module_database_url, "quiz", count=5, title="Halden")
    assert quiz["title"] == "Halden" and len(quiz["items"]) == 5
    told = client.get(f"/v1/study/{quiz['id']}").text
    for hidden in ("explanation", '"key"', "truth", "original"):
        assert hidden not in told
    attempt = client.post(f"/v1/study/{quiz['id']}/attempts").json()
    address = f"/v1/study/attempts/{attempt['id']}"
    keys = {}
    for item in quiz["items"]:
        given = 0 if item["kind"] == "choice" else True
        body = {"item_id": item["id"], "answer": given}
        answered = client.post(f"{address}/answers", json=body).json()
        assert answered["right"] is (answered["key"] == given)
        assert answered["sources"][0]["quote"] in answered["explanation"]
        keys[item["id"]] = answered["key"]
    first, last = quiz["items"][0]["id"], quiz["items"][-1]["id"]
    for item_id in (first, last):
        body = {"item_id": item_id, "answer": keys[item_id]}
        assert client.post(f"{address}/answers", json=body).json()["right"] is True
    assert client.post(f"/v1/study/{quiz['id']}/attempts").json()["id"] == attempt["id"]
    kept = client.get(address).json()
    assert len(kept["review"]) == 5 and kept["finished_at"] is None
    done = client.post(f"{address}/finish").json()
    assert done["of"] == 5 and done["right"] == sum(q["right"] for q in done["review"]) >= 2
    assert client.post(f"{address}/finish").status_code == 409
    assert client.get("/v1/study/777777/attempts").status_code == 404
    listed = client.get(f"/v1/study/{quiz['id']}/attempts").json()["attempts"]
    assert [(one["right"], one["of"]) for one in listed] == [(done["right"], 5)]


def test_cards_come_again_when_they_are_due_and_a_review_is_undone(
    client: httpx.Client, module_database_url: str
) -> None:
    deck = made(client, module_database_url, "cards", count=4)
    of_deck = {"set_id": deck["id"]}
    due = client.get("/v1/study/due", params=of_deck).json()
    assert (due["due"], due["new"], len(due["cards"])) == (0, 4, 4)
    card = due["cards"][0]
    assert card["intervals"]["again"] < card["intervals"]["good"] < card["intervals"]["easy"]
    reviewed = client.post(f"/v1/study/cards/{card['id']}/review", json={"rating": "easy"}).json()
    assert datetime.fromisoformat(reviewed["due_at"]).tzinfo
    assert client.get("/v1/study/due", params=of_deck).json()["new"] == 3
    undone = client.post("/v1/study/cards/undo").json()
    assert undone == {"id": card["id"], "rating": "easy"}
    again = client.get("/v1/study/due", params=of_deck).json()
    assert again["new"] == 4 and again["cards"][0]["intervals"] == card["intervals"]
    assert client.post("/v1/study/cards/undo").status_code == 409
    wrong = client.post(f"/v1/study/cards/{card['id']}/review", json={"rating": "fine"})
    assert wrong.json() == {"error": "rating is not again, hard, good or easy"}


def test_sets_are_listed_renamed_narrowed_and_deleted(
    client: httpx.Client, module_database_url: str
) -> None:
    ships = made(client, module_database_url, "map", filters={"tags": ["ships"]})
    assert {s["title"] for node in ships["nodes"] for s in node["spans"]} == {"Halden Ferry"}
    assert [node["parent"] for node in ships["nodes"]].count(None) == 1
    address = f"/v1/study/{ships['id']}"
    assert client.patch(address, json={"title": "Ships"}).json()["title"] == "Ships"
    assert client.patch(address, json={"title": ""}).json()["title"] == "Halden Ferry"
    listed = client.get("/v1/study", params={"kind": "map"}).json()
    assert [one["id"] for one in listed["sets"]] == [ships["id"]] and listed["next"] is None
    other = {"tenant_id": "other"}
    assert client.get("/v1/study", params=other).json()["sets"] == []
    assert client.get(address, params=other).status_code == 404
    assert client.delete(address, params=other).status_code == 404
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404
    for body, reason in (
        ({"kind": "quiz", "count": 4}, "count is not a whole number from 5 to 50"),
        ({"kind": "poem"}, "kind is not quiz, cards, workshop or map"),
        ({"kind": "quiz", "filters": {"tags": ["none"]}}, "the scope has no document"),
    ):
        refused = client.post("/v1/study", json=body)
        assert refused.status_code == 400 and reason in refused.json()["error"]
    open_runs = "SELECT id FROM study_sets s WHERE NOT EXISTS (SELECT FROM runs WHERE id = run_id)"
    assert rows(module_database_url, open_runs) == []


def test_a_lesson_is_written_when_it_is_opened_and_cited_like_an_answer(
    client: httpx.Client, module_database_url: str, wire: GeminiWire
) -> None:
    workshop = made(client, module_database_url, "workshop", count=3)
    lessons = [item for item in workshop["items"] if item["kind"] == "lesson"]
    assert lessons and all(lesson["body"]["text"] is None for lesson in lessons)
    address = f"/v1/study/{workshop['id']}/lessons/{lessons[0]['id']}"
    opened_first = client.post(address).json()
    body = opened_first["body"]
    assert body["text"].endswith("[1].") and body["citations"][0]["quote"][:-1] in body["text"]
    asked = len(wire.requests)
    assert client.post(address).json() == opened_first
    assert len(wire.requests) == asked, "it is written once"
    for n, lesson in enumerate(lessons, 1):
        done = client.post(f"/v1/study/{workshop['id']}/lessons/{lesson['id']}/done").json()
        assert (done["done"], done["of"]) == (n, len(lessons))
    attempts = client.get(f"/v1/study/{workshop['id']}/attempts").json()["attempts"]
    assert [(one["right"], one["finished_at"] is None) for one in attempts] == [
        (len(lessons), False)
    ]


def test_a_map_keeps_where_its_nodes_were_put_and_is_drawn_so(
    client: httpx.Client, module_database_url: str
) -> None:
    drawn = made(client, module_database_url, "map")
    node, address = drawn["nodes"][1], f"/v1/study/{drawn['id']}"
    put = {"positions": {str(node["id"]): [40.5, -8]}, "folded": {str(node["id"]): True}}
    assert client.patch(f"{address}/positions", json=put).status_code == 204
    kept = client.get(address).json()["nodes"][1]
    assert (kept["x"], kept["y"], kept["folded"]) == (40.5, -8, True)
    svg = client.get(f"{address}/export", params={"format": "svg"})
    assert svg.headers["content-type"] == "image/svg+xml" and 'x="40.5" y="-8"' in svg.text
    assert ElementTree.fromstring(svg.text).tag.endswith("svg")
    outline = client.get(f"{address}/export", params={"format": "markdown"}).text
    assert outline.count("- ") >= len(drawn["nodes"]) and "\n  - " in outline
    client.patch(f"{address}/positions", json={"positions": None})
    assert {n["x"] for n in client.get(address).json()["nodes"]} == {None}
    for body in ({"positions": {"999999999": [1, 2]}}, {"positions": {str(node["id"]): [1]}}):
        assert client.patch(f"{address}/positions", json=body).status_code == 400


def test_a_deck_goes_to_anki_and_comes_back_with_its_spans(
    client: httpx.Client, module_database_url: str
) -> None:
    deck = made(client, module_database_url, "cards", count=4, title="Bridges & ferries")
    address = f"/v1/study/{deck['id']}/export"
    packages = [client.get(address, params={"format": "anki"}).content for _ in range(2)]
    notes = [_notes(package) for package in packages]
    assert notes[0] == notes[1] and len(notes[0]) == 4, "a second export changes no GUID"
    assert {front for _, front in notes[0]} == {
        escape(item["body"]["front"]) for item in deck["items"]
    }
    back = client.post("/v1/study/import", files={"file": ("deck.apkg", packages[0])}).json()
    assert (back["kind"], back["made"], back["status"]) == ("cards", 4, "done")
    again = client.get(f"/v1/study/{back['id']}").json()["items"]
    spans = [[(s["start"], s["end"]) for s in item["sources"]] for item in again]
    assert spans == [[(s["start"], s["end"]) for s in i["sources"]] for i in deck["items"]]
    own = b"own,=1+1 of mine\r\nWhich year did the war of the roses begin?,1934\r\n"
    csv = client.get(address, params={"format": "csv"}).content + own
    mixed = client.post("/v1/study/import", files={"file": ("mine.csv", csv)}).json()
    items = client.get(f"/v1/study/{mixed['id']}").json()["items"]
    assert [bool(item["sources"]) for item in items] == [True] * 4 + [False] * 2
    sheet = client.get(f"/v1/study/{mixed['id']}/export", params={"format": "csv"}).text
    assert "own,'=1+1 of mine," in sheet, "a cell is never a formula"
    for data in (b"PK\x03\x04broken", b"front only\r\n", b"\xff\xfe\x00"):
        refused = client.post("/v1/study/import", files={"file": ("x", data)})
        assert refused.status_code == 400, data
    cut = client.post("/v1/study/import", files={"file": ("deck.apkg", b"cut off")})
    assert cut.json()["error"] == "this is no .apkg file"
    newer = io.BytesIO(packages[0])
    with zipfile.ZipFile(newer, "a") as package:
        package.writestr("collection.anki21b", b"\x28\xb5\x2f\xfd")
    refused = client.post("/v1/study/import", files={"file": ("deck.apkg", newer.getvalue())})
    assert refused.status_code == 400 and "Support older Anki versions" in refused.json()["error"]
    wrong = client.get(address, params={"format": "svg"})
    assert wrong.status_code == 400 and "cannot be exported as svg" in wrong.text


def test_nothing_of_a_deleted_document_is_served(
    client: httpx.Client, module_database_url: str
) -> None:
    with a_store(module_database_url) as store:
        text = BRIDGE.replace("Halden", "Morvane")
        gone = store_text(store.of("halden"), "morvane.md", "Morvane Bridge", text)
    sets = [made(client, module_database_url, kind, document_ids=[gone])
            for kind in ("quiz", "cards", "workshop", "map")]  # fmt: skip
    items = [item for one in sets for item in one["items"]]
    lesson = next(item["id"] for item in items if item["kind"] == "lesson")
    workshop = f"/v1/study/{sets[2]['id']}/lessons/{lesson}"
    assert client.post(workshop).status_code == 200
    attempt = client.post(f"/v1/study/{sets[0]['id']}/attempts").json()["id"]
    assert client.delete(f"/v1/documents/{gone}").status_code == 204
    assert client.post(workshop).status_code == 404
    card = next(item["id"] for item in items if item["kind"] == "card")
    rated = client.post(f"/v1/study/cards/{card}/review", json={"rating": "good"})
    assert rated.status_code == 404
    answer = {"item_id": sets[0]["items"][0]["id"], "answer": 0}
    assert client.post(f"/v1/study/attempts/{attempt}/answers", json=answer).status_code == 404
    told = [client.get(f"/v1/study/{one['id']}").text for one in sets]
    told.append(client.get("/v1/study/due", params={"limit": 200}).text)
    told += [client.get(f"/v1/study/{one['id']}/export").text for one in sets]
    assert all('"items":[]' in each.replace(" ", "") for each in told[:4])
    assert not any("Morvane" in each for each in told)


def _notes(package: bytes) -> list[tuple[str, str]]:
    """(GUID, front) of the notes of a package, by its SQLite schema."""
    with (
        zipfile.ZipFile(io.BytesIO(package)) as unpacked,
        tempfile.NamedTemporaryFile() as collection,
    ):
        collection.write(unpacked.read("collection.anki2"))
        collection.flush()
        with closing(sqlite3.connect(collection.name)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            cards = connection.execute("SELECT count(*) FROM cards").fetchone()[0]
            found = connection.execute("SELECT guid, flds FROM notes ORDER BY id").fetchall()
    assert cards == len(found)
    return [(guid, fields.partition("\x1f")[0]) for guid, fields in found]
