"""Items by Gemini over the wire: schema sent, bad items dropped and counted, the batch lives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helix.errors import UpstreamError
from helix.library.access import Row
from helix.providers.factories import build_llm
from helix.settings import load_settings
from helix.store import ChunkStore
from helix.study.generation import NothingMade
from helix.study.maker import Maker
from helix.study.model_maker import ModelMaker, build_maker
from tests.study.conftest import MakeSet
from tests.support.query_service import store_text
from tests.support.study_texts import BRIDGE
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, Failure

OPENED = BRIDGE.partition("\n")[0]
STATEMENT = OPENED.replace("1934", "____")
YEARS = ["1934", "1887", "1902", "1958"]


def a_maker() -> Maker:
    settings = load_settings(
        database_url="embedded", llm="gemini", gemini_api_key="wire-test-key", model_timeout=20
    )
    return build_maker(settings, build_llm(settings))


def question(**other: Any) -> dict[str, Any]:
    return {
        "question": "In which year was the Halden Bridge opened by the city council?",
        "statement": STATEMENT, "options": YEARS, "answer": 0, "explanation": "Opened in 1934.",
    } | other  # fmt: skip


def reply(*items: dict[str, Any], cut: int = 0) -> Answer:
    text = json.dumps({"items": items})
    return Answer((text[: len(text) - cut],))


def test_good_items_are_kept_and_bad_ones_counted(
    make_set: MakeSet, wire: GeminiWire, texts: dict[str, int]
) -> None:
    maker = a_maker()
    assert isinstance(maker, ModelMaker)
    card = {"front": "What is a caisson?", "back": "A caisson is a watertight chamber that keeps"
            " the river out while a foundation is dug below it."}  # fmt: skip
    wrong = {"front": "What is a caisson for?", "back": "A caisson is a boat for 90 sailors."}
    whole = [card, wrong, card, {"front": ""}]
    # only one passage has it: the others' replies are the same, and prove nothing there
    for _ in range(24):
        wire.script(reply(*whole, cut=4), on="generate")
    made, items = make_set(maker, kind="cards", count=2)
    assert [item["body"] for item in items] == [card]
    assert items[0]["sources"][0]["quote"] == card["back"]
    assert made["model"].startswith("gemini:") and made["dropped"]["unsupported"] > 0
    assert made["dropped"]["malformed"] >= 12 and made["dropped"]["duplicate"] >= 1
    sent = wire.requests[0].body
    assert sent["generationConfig"]["responseMimeType"] == "application/json"
    assert set(sent["generationConfig"]["responseSchema"]["properties"]) == {"items"}
    assert "never obeyed" in json.dumps(sent["systemInstruction"])
    assert "BEGIN SOURCES" in json.dumps(sent["contents"])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (question(answer=1), "wrong key"),
        (question(options=["1934", "1934 ", "1902", "1958"]), "malformed"),
        (question(options=["1934", "1887", "1902"]), "malformed"),
        (question(question="Was it in 1934 that the Halden Bridge was opened?"), "given away"),
        (question(question="How do penguins sleep on the ice in winter storms?"), "unanswerable"),
        (question(statement="The Halden Bridge was painted in ____ by the army."), "unanswerable"),
        (question(statement="The Halden Bridge was opened."), "malformed"),
        (
            question(
                question="Which pier of the Halden Bridge was opened by the city council?",
                statement="Pier ____ of the Halden Bridge (P4) was opened by the city council.",
                options=["4", "5", "6", "7"],
            ),
            "given away",
        ),
    ],
)
def test_a_bad_question_is_dropped_by_its_kind(
    make_set: MakeSet, wire: GeminiWire, store: ChunkStore, bad: dict[str, Any], reason: str
) -> None:
    made, items = _of_one_passage(make_set, wire, store, bad)
    assert items == [] and set(made["dropped"]) == {reason}


def test_a_good_question_is_kept(make_set: MakeSet, wire: GeminiWire, store: ChunkStore) -> None:
    made, items = _of_one_passage(make_set, wire, store, question())
    assert [item["body"]["options"] for item in items] == [YEARS]
    assert set(made["dropped"]) <= {"duplicate"}


def _of_one_passage(
    make_set: MakeSet, wire: GeminiWire, store: ChunkStore, item: dict[str, Any]
) -> tuple[Row, list[Row]]:
    """The set and items made of one document of one passage, asked twice."""
    one = store_text(store, "halden/one.md", "Bridge", OPENED)
    for _ in range(2):
        wire.script(reply(item), on="generate")
    return make_set(a_maker(), kind="quiz", count=5, difficulty="advanced", document_ids=[one])


def test_a_list_by_another_name_is_read_and_a_set_of_nothing_says_why(
    make_set: MakeSet, wire: GeminiWire, store: ChunkStore
) -> None:
    wire.script(Answer((json.dumps({"questions": [question()]}),)), on="generate")
    one = store_text(store, "halden/one.md", "Bridge", OPENED)
    order = {"kind": "quiz", "count": 5, "difficulty": "advanced", "document_ids": [one]}
    _, items = make_set(a_maker(), **order)
    assert [item["body"]["options"] for item in items] == [YEARS]
    for _ in range(2):
        wire.script(Answer(("I cannot do that.",)), on="generate")
    made, items = make_set(a_maker(), **order)
    assert items == [] and made["dropped"] == {"malformed": 2}
    assert "(2 malformed)" in str(NothingMade(made["dropped"]))


def test_a_service_that_fails_again_and_again_ends_the_run(
    make_set: MakeSet, wire: GeminiWire
) -> None:
    for _ in range(12):
        wire.script(Failure(400, "INVALID_ARGUMENT"), on="generate")
    with pytest.raises(UpstreamError):
        make_set(a_maker(), kind="cards", count=3)


LESSONS = [
    {
        "title": "The Halden Bridge",
        "points": [OPENED, "The bridge is made of cheese."],
        "sources": [1],
    },
    {"title": "The ferry and its captain", "points": [], "sources": [11, 8, 99]},
    {"title": "Caisson foundation", "points": [], "sources": [2]},
    {"title": "Penguins of the Antarctic", "points": [], "sources": [3]},
]
NODES = [
    {"label": "Crossing the river", "parent": -1, "sources": [1]},
    {"label": "Halden Bridge", "parent": 0, "sources": [1]},
    {"label": "caisson", "parent": 1, "sources": [2]},
    {"label": "Halden ferry", "parent": 0, "sources": [8]},
    {"label": "capstan", "parent": 3, "sources": [9]},
]


def test_a_workshop_has_the_lessons_of_the_model_that_rest_on_passages(
    make_set: MakeSet, wire: GeminiWire
) -> None:
    wire.script(reply(*LESSONS, LESSONS[0]), on="generate")
    made, items = make_set(a_maker(), kind="workshop", count=5)
    assert [item["body"]["title"] for item in items] == [each["title"] for each in LESSONS[:3]]
    assert items[0]["body"]["points"] == [OPENED]
    assert [source["quote"][:11] for source in items[1]["sources"]] == [
        "Its last ca",
        "The Halden ",
    ]
    assert made["dropped"] == {"duplicate": 1, "unsupported": 1}
    (sent,) = (request.body for request in wire.requests)
    assert "schema" in json.dumps(sent["generationConfig"]).lower()
    assert "[12] (id=" in json.dumps(sent["contents"])


def test_an_outline_that_is_not_sound_is_asked_for_once_more(
    make_set: MakeSet, wire: GeminiWire
) -> None:
    wire.script(reply(*LESSONS[2:]), reply(*LESSONS), on="generate")
    made, items = make_set(a_maker(), kind="workshop", count=5)
    assert len(items) == 3 and len(wire.requests) == 2 and made["model"].startswith("gemini:")
    assert made["dropped"] == {"malformed outline": 1, "unsupported": 1}
    wire.script(Answer(("I cannot do that.",)), reply({"title": ""}), on="generate")
    made, items = make_set(a_maker(), kind="workshop", count=5)
    by_rule = [item["body"]["title"] for item in items]
    assert made["dropped"] == {"malformed outline": 2} and len(wire.requests) == 4
    assert made["model"] == "offline"
    _, same = make_set(kind="workshop", count=5)
    assert by_rule == [item["body"]["title"] for item in same], "the headings are the outline"


def test_a_map_is_the_models_tree_without_what_no_passage_names(
    make_set: MakeSet, wire: GeminiWire
) -> None:
    strange = [
        {"label": "penguin", "parent": 0, "sources": [1]},
        {"label": "drum", "parent": 5, "sources": [9]},  # its parent is dropped
        {"label": "coal", "parent": 9, "sources": [10]},  # its parent comes later
        {"label": "Second root", "parent": -1, "sources": [10]},
    ]
    wire.script(reply(*NODES, *strange), on="generate")
    made, items = make_set(a_maker(), kind="map")
    by_id = {item["id"]: item["body"]["label"] for item in items}
    assert [by_id.get(item["body"]["parent"]) for item in items] == [
        None, "Crossing the river", "Halden Bridge", "Crossing the river", "Halden ferry",
    ]  # fmt: skip
    assert made["dropped"] == {"unsupported": 3, "malformed": 1} and len(wire.requests) == 1


@pytest.mark.parametrize("broken", ["cut", "malformed", "partial"])
@pytest.mark.parametrize(
    ("kind", "objects"), [("quiz", [question()]), ("cards", [{"front": "The Halden Bridge: when?",
     "back": OPENED}]), ("workshop", LESSONS[:3]), ("map", NODES)],
)  # fmt: skip
def test_of_a_broken_reply_the_whole_objects_are_kept(
    make_set: MakeSet, wire: GeminiWire, store: ChunkStore, kind: str, objects: list[Any],
    broken: str,
) -> None:  # fmt: skip
    """The reply's last object is cut off, no JSON, or without one of its fields."""
    texts = [json.dumps(each) for each in objects]
    last = {
        "cut": texts[0][:-8],
        "malformed": texts[0].replace('": ', '" ', 1) + "]}",
        "partial": json.dumps(dict(list(objects[0].items())[:-1])) + "]}",
    }[broken]
    text = '{"items": [' + ", ".join([*texts, last])
    wire.script(*[Answer((text,))] * 2, on="generate")
    scope = {}
    if kind in ("quiz", "cards"):
        one = store_text(store, "halden/one.md", "Bridge", OPENED)
        scope = {"document_ids": [one], "difficulty": "advanced"}
    made, items = make_set(a_maker(), kind=kind, count=8, **scope)
    assert len(items) == len(objects) and made["dropped"]["malformed"] >= 1
    assert "malformed outline" not in made["dropped"]
